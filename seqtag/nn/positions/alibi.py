"""Scores that fall with the distance."""

from __future__ import annotations

import torch
from torch import Tensor

from seqtag.nn.positions.distance import distances
from seqtag.nn.positions.position import Position


class Alibi(Position):
    """Subtracts ``slope * |distance|`` from the scores (Press et al. 2022, section 3).

    Each head has its slope, fixed. For a power of two of heads they are ``2^(-8/heads)``,
    ``2^(-16/heads)``, ... down to ``2^-8``. For another number they are those of the next smaller
    power of two, and then every other one of twice that power, from its first on (the authors'
    published code). The paper looks back only; here what comes behind is as far as what comes
    before, and so left and right are the same to it.

    Args:
        dim: not used.
        num_heads: number of attention heads.
        head_dim: not used.
        num_layers: not used.
    """

    steps: Tensor

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        power = 1 << (num_heads.bit_length() - 1)
        self.step = -4 / power
        whole = range(2, 2 * power + 1, 2)
        between = range(1, 2 * (num_heads - power), 2)
        # Whole numbers, which a change of the module's precision leaves as they are.
        self.register_buffer("steps", torch.tensor([*whole, *between]), persistent=False)

    def slopes(self) -> Tensor:
        """The slope of each head ``[heads]``, in single precision."""
        return torch.exp2(self.steps.float() * self.step)

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """``[batch, heads, query, key]`` or ``[1, heads, query, key]``; see ``Position.bias``."""
        distance = distances(query_positions, key_positions).abs().unsqueeze(1)
        return -self.slopes()[:, None, None] * distance
