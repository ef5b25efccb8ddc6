"""The bootstrap over rows: what a score would be on other rows of the same kind.

Every resample draws as many rows as there are, with replacement (Efron 1979). It draws the same
rows for everything that is scored on them, so that differences are those of pairs; what is drawn
follows from the number of rows alone, so that the same rows give the same numbers again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.evaluation.metrics import Metric, RankMetric

CONFIDENCE = 0.95
"""Of the intervals."""

SEED = 1979
"""Of what is drawn, unless a simulation says otherwise."""
_BLOCK_CELLS = 2**22
"""Numbers of the weights that are held at a time: 32 MB."""
_BLOCK = 256
"""Resamples at a time, at most."""
SCORING, _RANKING = 40, 200
"""What a number that is scored costs, and one that is put in order, in numbers that are summed."""
_NARROW = 16
"""Statistics of a row, up to which those of several models are summed together."""


class Rows(ABC):
    """The rows of a split as one measure found one model on them."""

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def scores(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """The score of several selections of the rows, ``[selections]``.

        Args:
            weights: how often each row is in, ``[selections, rows]`` in float64.
        """

    @property
    @abstractmethod
    def cost(self) -> int:
        """Of a selection, in numbers that are summed: some 0.05 ns each."""

    @abstractmethod
    def row_scores(self) -> NDArray[np.float64]:
        """The score of each row by itself, ``[rows]``; NaN where it has none."""

    def score(self) -> float:
        """The score of all rows, each once."""
        return float(self.scores(np.ones((1, len(self))))[0])


class SummedRows(Rows):
    """Rows whose score is a function of a sum over them.

    Args:
        metric: the metric.
        statistics: of each row, ``[rows, size]`` in float64, or a scipy matrix of that shape in
            compressed sparse rows.
    """

    def __init__(self, *, metric: Metric, statistics: Any) -> None:
        self.metric = metric
        self.statistics = statistics

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self.statistics.shape[0])

    def scores(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """See the base class."""
        return score_sums(self.metric, weights @ self.statistics)

    @property
    def cost(self) -> int:
        """See the base class."""
        if isinstance(self.statistics, np.ndarray):
            return self.statistics.size + SCORING * self.metric.size
        return SCORING * (int(self.statistics.nnz) + self.metric.size)

    def row_scores(self) -> NDArray[np.float64]:
        """See the base class."""
        found = [
            score_sums(self.metric, dense(self.statistics[begin : begin + _BLOCK]))
            for begin in range(0, len(self), _BLOCK)
        ]
        return np.concatenate([np.empty(0), *found])


class RankedRows(Rows):
    """Rows whose score needs all that each of them gives, such as one of their order.

    Args:
        metric: the measure.
        cells: of each row, ``[cells, width]`` in float64.
    """

    def __init__(self, *, metric: RankMetric, cells: Sequence[NDArray[np.float64]]) -> None:
        self._metric = metric
        self._counts = np.array([len(row) for row in cells], dtype=np.int64)
        self._cells = torch.from_numpy(np.concatenate([np.empty((0, metric.width)), *cells]))

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._counts)

    def scores(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """See the base class."""
        times = torch.from_numpy(np.repeat(weights, self._counts, axis=1))
        found: NDArray[np.float64] = self._metric.scores(self._cells, times).numpy()
        return found

    @property
    def cost(self) -> int:
        """See the base class."""
        return _RANKING * self._cells.numel()

    def row_scores(self) -> NDArray[np.float64]:
        """NaN everywhere: one row has no order."""
        return np.full(len(self), np.nan)


Sample = Sequence[Sequence[Rows]]
"""The rows of a contender: of each seed, of each fold."""


def score_sums(metric: Metric, totals: NDArray[Any]) -> NDArray[np.float64]:
    """The score of each of several sums, ``[sums]``, from ``[sums, size]``."""
    scores: NDArray[np.float64] = metric.scores(torch.from_numpy(totals)).numpy()
    return scores


def dense(statistics: Any) -> NDArray[np.float64]:
    """A matrix as numpy has it, sparse or not."""
    made: NDArray[np.float64] = (
        statistics if isinstance(statistics, np.ndarray) else statistics.toarray()
    )
    return made


def sum_each(weights: NDArray[Any], several: Sequence[SummedRows]) -> list[NDArray[np.float64]]:
    """The weighted sums of several models' rows, of each ``[selections, size]``.

    Few columns at a time keep a processor waiting for memory, so that narrow statistics are put
    side by side and summed in one product.
    """
    tables = [rows.statistics for rows in several]
    narrow = [isinstance(table, np.ndarray) and table.shape[1] <= _NARROW for table in tables]
    beside = [table for table, is_narrow in zip(tables, narrow, strict=True) if is_narrow]
    cuts = np.cumsum([table.shape[1] for table in beside])[:-1]
    cut = iter(np.split(weights @ np.hstack(beside), cuts, axis=1) if beside else ())
    return [
        next(cut) if is_narrow else weights @ table
        for table, is_narrow in zip(tables, narrow, strict=True)
    ]


def score_each(several: Sequence[Rows], weights: NDArray[Any]) -> NDArray[np.float64]:
    """The scores of several models on selections of the same rows, ``[models, selections]``."""
    sums = iter(sum_each(weights, [rows for rows in several if isinstance(rows, SummedRows)]))
    return np.stack(
        [
            score_sums(rows.metric, next(sums))
            if isinstance(rows, SummedRows)
            else rows.scores(weights)
            for rows in several
        ]
    )


def blocks(cells: int, count: int) -> Iterator[int]:
    """Sizes that add up to ``count``, each as many resamples as fit into memory.

    Args:
        cells: numbers that a resample asks for.
        count: of the resamples.
    """
    size = max(1, min(_BLOCK, _BLOCK_CELLS // max(1, cells)))
    yield from (min(size, count - begin) for begin in range(0, count, size))


def draw_rows(generator: np.random.Generator, resamples: int, rows: int) -> NDArray[np.float64]:
    """How often each of so many resamples has each row, ``[resamples, rows]``."""
    picked = generator.integers(rows, size=(resamples, rows))
    picked += rows * np.arange(resamples)[:, None]
    counts = np.bincount(picked.ravel(), minlength=resamples * rows)
    return counts.reshape(resamples, rows).astype(np.float64)


def bootstrap(
    samples: Sequence[Sample], *, resamples: int, seed: int = SEED
) -> NDArray[np.float64]:
    """The score of every contender on resampled rows, ``[samples, resamples]``.

    Where there are folds, the rows are drawn within each.

    Args:
        samples: of the contenders, all on the same rows in the same order.
        resamples: how many.
        seed: of the draws.
    """
    seeds = [folds for sample in samples for folds in sample]
    begins = np.cumsum([0, *(len(sample) for sample in samples)])[:-1]
    counts = np.array([len(sample) for sample in samples])
    by_fold = list(zip(*seeds, strict=True))
    rows = [len(fold[0]) for fold in by_fold]
    generator = np.random.default_rng(seed)
    found = []
    wide = sum(
        other.statistics.shape[1]
        for fold in by_fold
        for other in fold
        if isinstance(other, SummedRows)
    )
    for size in blocks(max(sum(rows), wide), resamples):
        scores = [score_each(fold, draw_rows(generator, size, len(fold[0]))) for fold in by_fold]
        of_seeds = np.mean(scores, axis=0)  # [seeds of all, size]
        found.append(np.add.reduceat(of_seeds, begins, axis=0) / counts[:, None])
    return np.concatenate(found, axis=1)


def interval(draws: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 per cent of resampled scores, or of their differences (percentile interval).

    Resamples without a score, such as those without any span, are left out; of none at all the
    ends are NaN.
    """
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return float("nan"), float("nan")
    beyond = (1 - CONFIDENCE) / 2
    low, high = np.quantile(defined, [beyond, 1 - beyond])
    return float(low), float(high)
