"""Sines and cosines of the position, added to the elements."""

from __future__ import annotations

import torch
from torch import Tensor

from seqtag.nn.positions.position import Position

LONGEST = 10_000.0
"""Wavelengths grow geometrically from 2 pi towards this many times 2 pi."""


def angles(positions: Tensor, width: int) -> Tensor:
    """``position / 10000^(2i / width)`` (Vaswani et al. 2017, section 3.5).

    Always in float32: in bfloat16 the integers above 256 are no longer distinct. Computed anew at
    each call, because that costs little beside the layers and a table would bound the length.

    Args:
        positions: ``[batch, n]``.
        width: how many numbers the sines and cosines will fill.

    Returns:
        ``[batch, n, ceil(width / 2)]``.
    """
    even = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32)
    return positions.float().unsqueeze(-1) * LONGEST ** (-even / width)


def encoding(positions: Tensor, width: int) -> Tensor:
    """Sine and cosine of each angle in turn, in float32.

    Args:
        positions: ``[batch, n]``.
        width: how many numbers; an odd one leaves the last cosine out.

    Returns:
        ``[batch, n, width]``.
    """
    angle = angles(positions, width)
    # [batch, n, ceil(width / 2), 2] -> [batch, n, width]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)[..., :width]


class Sinusoidal(Position):
    """Adds ``PE(pos, 2i) = sin(angle)``, ``PE(pos, 2i+1) = cos(angle)`` (Vaswani et al. 2017).

    Args:
        dim: width of the elements.
        num_heads: not used.
        head_dim: not used.
        num_layers: not used.
    """

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Elements plus the encoding of their positions; see ``Position.embed``."""
        return x + encoding(positions, x.shape[-1]).to(x.dtype)
