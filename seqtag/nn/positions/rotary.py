"""Queries and keys turned by an angle that grows with the position."""

from __future__ import annotations

import torch
from torch import Tensor

from seqtag.nn.positions.position import Position
from seqtag.nn.positions.sinusoidal import angles


def _rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """``x [batch, heads, n, head_dim]`` turned; cosine and sine ``[batch, 1, n, head_dim / 2]``."""
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
    return turned.to(x.dtype)


class Rotary(Position):
    """Rotary position embedding (Su et al. 2021, RoFormer, equation 34).

    The score of a query and a key then depends on their distance, not on where they stand.
    Component ``i`` is paired with ``i + head_dim / 2`` where the paper pairs neighbours: the same
    up to the order of the components, and faster.

    Args:
        dim: not used.
        num_heads: not used.
        head_dim: width of a query and of a key, even.
        num_layers: not used.

    Raises:
        ValueError: ``head_dim`` is odd.
    """

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        if head_dim % 2:
            raise ValueError(
                f"rotary positions need an even head_dim, not {head_dim} "
                f"(dim {dim}, num_heads {num_heads})"
            )

    def rotate(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys, each turned by its own position; see ``Position.rotate``."""
        angle = angles(query_positions, query.shape[-1]).unsqueeze(1)
        cosine, sine = angle.cos(), angle.sin()
        query = _rotated(query, cosine, sine)
        if key_positions is not query_positions:
            angle = angles(key_positions, key.shape[-1]).unsqueeze(1)
            cosine, sine = angle.cos(), angle.sin()
        return query, _rotated(key, cosine, sine)
