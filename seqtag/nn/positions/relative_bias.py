"""A learnt number for each head and range of distances."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

from seqtag.nn.positions.distance import at_distance, distances
from seqtag.nn.positions.position import Position


class RelativeBias(Position):
    """Adds a learnt number to the scores, one per head and bucket of distances.

    Raffel et al. 2020 (T5), section 2.1, and the published code for the buckets: one half of them
    for what comes before (and the place itself), the other for what comes behind. Of each half the
    first half hold one distance each, the rest ranges that grow geometrically up to
    ``max_distance``, and the last bucket all beyond. Layers share the numbers, as in the paper.
    No bucket stays empty but one, as in the published code: nothing lies behind at distance 0.
    Where nothing looks ahead, as in a decoder, the half for what comes behind is never used.

    Args:
        dim: not used.
        num_heads: number of attention heads.
        head_dim: not used.
        num_layers: not used.
        num_buckets: number of buckets, a multiple of 4.
        max_distance: from where on all distances are the same.

    Raises:
        ValueError: ``num_buckets`` is no multiple of 4, or ``max_distance`` leaves a bucket empty.
    """

    starts: Tensor

    def __init__(
        self,
        *,
        dim: int,
        num_heads: int,
        head_dim: int,
        num_layers: int,
        num_buckets: int,
        max_distance: int,
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        if num_buckets < 4 or num_buckets % 4:
            raise ValueError(
                f"position.num_buckets is {num_buckets}; it must be a multiple of 4: half for each "
                "direction, and half of these for ranges"
            )
        side = num_buckets // 2
        if not _all_filled(side, max_distance):
            larger = itertools.count(max(max_distance, side))
            enough = next(other for other in larger if _all_filled(side, other))
            raise ValueError(
                f"position.max_distance is {max_distance}; with num_buckets {num_buckets} that "
                f"leaves buckets empty; give a larger one, such as {enough}, or fewer buckets"
            )
        self.numbers = nn.Parameter(torch.empty(num_heads, num_buckets))
        nn.init.normal_(self.numbers, std=0.1)
        starts = torch.tensor(_starts(side, max_distance))
        self.register_buffer("starts", starts, persistent=False)

    def buckets(self, distance: Tensor) -> Tensor:
        """The bucket of each distance, in the shape of ``distance``."""
        bucket = torch.bucketize(distance.abs(), self.starts, right=True)
        return bucket + (distance > 0) * (self.numbers.shape[1] // 2)

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """``[batch, heads, query, key]`` or ``[1, heads, query, key]``; see ``Position.bias``."""
        return at_distance(self.numbers, self.buckets(distances(query_positions, key_positions)))


def _starts(buckets: int, max_distance: int) -> list[int]:
    """The first distance of each bucket but the first, of one direction.

    In whole numbers: a logarithm in single precision may fall on either side of a bound.
    """
    single = buckets // 2
    growth = max_distance / single
    ranges = (single * growth ** (i / (buckets - single)) for i in range(buckets - single))
    return [*range(1, single), *(math.ceil(start - 1e-6) for start in ranges)]


def _all_filled(buckets: int, max_distance: int) -> bool:
    """Whether each bucket of one direction has a distance: no two start at the same one."""
    if max_distance < buckets:
        return False
    return all(
        start < following for start, following in itertools.pairwise(_starts(buckets, max_distance))
    )
