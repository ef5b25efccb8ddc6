"""Learnt numbers of the distance that start with a peak: attention that starts as a convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqtag.nn.positions.distance import (
    at_distance,
    checked_max_distance,
    clipped_index,
    distances,
)
from seqtag.nn.positions.position import Position

STRONGEST = 1e4
"""A score that is higher by more has all the weight anyway, and half precision ends at 65,504."""


class Peaked(Position):
    """Adds a learnt number to the scores, one per head and clipped distance.

    At first it is ``strength`` at one offset and 0 elsewhere. With much strength each head then
    looks at the element at its offset, whatever that holds, and a layer does what a convolution
    with these offsets does (Cordonnier et al. 2020, theorem 1); training may take it elsewhere.
    Layers share the numbers. Where the offset leads beyond an end of the sequence, a head looks at
    all elements.

    Args:
        dim: not used.
        num_heads: number of attention heads.
        head_dim: not used.
        num_layers: not used.
        max_distance: what is further away has the number of this distance.
        offsets: where heads look at first, -1 for the element before; heads take them in turn.
        strength: how much higher the score is there at first.

    Raises:
        ValueError: there are no offsets, or one is not nearer than
            ``max_distance``; ``max_distance`` is less than 1; ``strength`` is too large.
    """

    def __init__(
        self,
        *,
        dim: int,
        num_heads: int,
        head_dim: int,
        num_layers: int,
        max_distance: int,
        offsets: list[int],
        strength: float,
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.max_distance = checked_max_distance(max_distance)
        if not offsets:
            raise ValueError("position.offsets is empty; it must name an offset, such as [-1,0,1]")
        if not abs(strength) < STRONGEST:
            raise ValueError(f"position.strength is {strength}; it must be less than {STRONGEST}")
        for offset in offsets:
            # At the distance itself the peak would be that of all beyond as well.
            if not abs(offset) < max_distance:
                raise ValueError(
                    f"position.offsets has {offset}; with max_distance {max_distance} offsets must "
                    f"lie between {1 - max_distance} and {max_distance - 1}"
                )
        peaks = torch.tensor([offsets[head % len(offsets)] for head in range(num_heads)])
        numbers = torch.zeros(num_heads, 2 * max_distance + 1)
        numbers[torch.arange(num_heads), peaks + max_distance] = strength
        self.numbers = nn.Parameter(numbers)

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """``[batch, heads, query, key]`` or ``[1, heads, query, key]``; see ``Position.bias``."""
        distance = distances(query_positions, key_positions)
        return at_distance(self.numbers, clipped_index(distance, self.max_distance))
