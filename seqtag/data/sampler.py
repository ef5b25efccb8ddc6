"""Batches of rows of similar length, as many as fit a budget of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

from seqtag.configuration import build

BUCKET_RATIO = 1.1
"""Longest to shortest row of one bucket, in the order of the rows a batch is cut from."""


@dataclass(frozen=True, kw_only=True)
class Batching:
    """How rows are put into batches.

    Args:
        max_tokens: cells in a batch, padding included; also the longest row that is taken.
        max_rows: rows in a batch.
        num_workers: processes that load batches; 0 loads in the training process.
    """

    max_tokens: int
    max_rows: int
    num_workers: int

    def __post_init__(self) -> None:
        for name, least in (("max_tokens", 1), ("max_rows", 1), ("num_workers", 0)):
            if getattr(self, name) < least:
                raise ValueError(
                    f"batching.{name} is {getattr(self, name)}; it must be at least {least}"
                )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Batching:
        """The batching of a run's config."""
        batching = build(config["batching"], kinds=(cls,), name="batching")
        assert isinstance(batching, cls)
        return batching


class BudgetSampler(Sampler[list[int]]):
    """Batches under a budget of padded cells, reshuffled each epoch from seed and epoch.

    Rows are sorted into buckets of nearly equal length, shuffled inside their bucket, packed in
    that order, and the batches shuffled. Every epoch has the same number of batches, as each
    place in the order has the same bucket whatever row stands there.

    Args:
        lengths: elements of each row.
        batching: the budget; a row that is longer than it is a batch of its own.
        seed: of the order.
        shuffle: False keeps the rows sorted by length, for scoring.
        rank: the number of this process, from 0.
        ranks: processes that share the batches; in training each gets equally many, so the
            first of an epoch's order are given twice where the division leaves a rest.
    """

    def __init__(
        self,
        lengths: Sequence[int] | NDArray[np.int64],
        *,
        batching: Batching,
        seed: int,
        shuffle: bool,
        rank: int,
        ranks: int,
    ) -> None:
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
            max_tokens=batching.max_tokens,
            max_rows=batching.max_rows,
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
