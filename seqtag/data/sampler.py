"""Batches of rows of similar length, as many as fit a budget of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

BUCKET_RATIO = 1.1
"""Longest to shortest row of one bucket: at most this share of a batch is padding within it."""


class BudgetSampler(Sampler[list[int]]):
    """Batches under a budget of padded cells, reshuffled each epoch from seed and epoch.

    Rows are sorted into buckets of nearly equal length, shuffled inside their bucket, packed in
    that order, and the batches shuffled. Every epoch has the same number of batches, as each
    place in the order has the same bucket whatever row stands there.

    Args:
        lengths: elements of each row.
        max_tokens: cells in a batch, padding included; a longer row is a batch of its own.
        max_rows: rows in a batch.
        seed: of the order.
        shuffle: False keeps the rows sorted by length, for scoring.
        rank: the number of this process, from 0.
        ranks: processes that share the batches; in training each gets equally many, so the last
            ones are given twice where the division leaves a rest.
    """

    def __init__(
        self,
        lengths: Sequence[int] | NDArray[np.int64],
        *,
        max_tokens: int,
        max_rows: int,
        seed: int,
        shuffle: bool,
        rank: int,
        ranks: int,
    ) -> None:
        for name, value in (("max_tokens", max_tokens), ("max_rows", max_rows)):
            if value < 1:
                raise ValueError(f"batching.{name} is {value}; it must be at least 1")
        self.seed, self.shuffle, self.rank, self.ranks = seed, shuffle, rank, ranks
        self.epoch = 0
        rows_by_length = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
        sorted_lengths = np.asarray(lengths, dtype=np.int64)[rows_by_length]
        self._buckets = _cut_into_buckets(rows_by_length, sorted_lengths)
        longest = [
            int(sorted_lengths[end - 1]) for end in np.cumsum([len(b) for b in self._buckets])
        ]
        self._cuts = _pack(
            np.repeat(longest, [len(bucket) for bucket in self._buckets]),
            max_tokens=max_tokens,
            max_rows=max_rows,
        )

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch; Lightning calls this."""
        self.epoch = epoch

    def __len__(self) -> int:
        batches = len(self._cuts) - 1
        if self.shuffle:
            return -(-batches // self.ranks)
        return len(range(self.rank, batches, self.ranks))

    def __iter__(self) -> Iterator[list[int]]:
        if not self.shuffle:
            rows = np.concatenate(self._buckets)
            batches = list(range(self.rank, len(self._cuts) - 1, self.ranks))
        else:
            random = np.random.default_rng((self.seed, self.epoch))
            rows = np.concatenate([random.permutation(bucket) for bucket in self._buckets])
            order = random.permutation(len(self._cuts) - 1)
            # Every rank draws the same order and takes its own share of it.
            share = np.resize(order, len(self) * self.ranks)[self.rank :: self.ranks]
            batches = share.tolist()
        for batch in batches:
            yield rows[self._cuts[batch] : self._cuts[batch + 1]].tolist()


def _cut_into_buckets(
    rows: NDArray[np.int64], lengths: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Sorted rows in runs whose longest is at most ``BUCKET_RATIO`` times (or 1 over) the least."""
    buckets, start = [], 0
    while start < len(rows):
        limit = max(lengths[start] + 1, int(lengths[start] * BUCKET_RATIO))
        end = int(np.searchsorted(lengths, limit, side="right"))
        buckets.append(rows[start:end])
        start = end
    return buckets


def _pack(padded: NDArray[np.int64], *, max_tokens: int, max_rows: int) -> list[int]:
    """Where batches begin and end, if the row at each place is ``padded`` cells long."""
    cuts = [0]
    for place, cells in enumerate(padded.tolist()):
        rows = place - cuts[-1] + 1
        # Lengths rise along the order, so this row is the longest of the batch.
        if rows > 1 and (rows > max_rows or rows * cells > max_tokens):
            cuts.append(place)
    cuts.append(len(padded))
    return cuts
