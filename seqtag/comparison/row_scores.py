"""What each row by itself says of a contender, and of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.evaluation.randomisation import ROUNDING
from seqtag.evaluation.resampling import Sample, SummedRows, dense, score_sums


@dataclass(kw_only=True)
class RowScores:
    """The rows of all folds of one contender, one behind the other.

    Attributes:
        own: score of each row by itself, mean over the seeds that have one; NaN where none has.
        pooled: of each fold, the rows with their statistics averaged over seeds; None where they
            cannot be, the score being no function of a sum or that of each seed another one.
        columns: what the statistics are counts of.
    """

    own: NDArray[np.float64]
    pooled: list[SummedRows] | None
    columns: Any


def score_rows(sample: Sample, columns: Any) -> RowScores:
    """The rows of a contender, each by itself.

    Args:
        sample: the rows.
        columns: what their statistics are counts of; None where that differs between seeds.
    """
    own = np.stack([np.concatenate([rows.row_scores() for rows in folds]) for folds in sample])
    defined = ~np.isnan(own)
    total, seeds = np.where(defined, own, 0).sum(axis=0), defined.sum(axis=0)
    mean = np.divide(total, seeds, out=np.full(len(total), np.nan), where=seeds > 0)
    return RowScores(own=mean, pooled=_pool_folds(sample, columns), columns=columns)


def _pool_folds(sample: Sample, columns: Any) -> list[SummedRows] | None:
    """The rows of each fold with the mean of their statistics over seeds; None without such."""
    pooled = []
    for seeds in zip(*sample, strict=True):
        rows = [rows for rows in seeds if isinstance(rows, SummedRows)]
        if columns is None or len(rows) < len(seeds):
            return None
        total = sum((other.statistics for other in rows[1:]), start=rows[0].statistics)
        pooled.append(SummedRows(metric=rows[0].metric, statistics=total / len(rows)))
    return pooled


def advantage(
    first: RowScores, second: RowScores, *, higher_is_better: bool
) -> NDArray[np.float64]:
    """By how much the first is ahead on each row, ``[rows]``; NaN where neither has a score.

    Where only one of two has a score of the row (F1 of a row without gold spans is undefined for
    the one that finds none, and 0 for the other), it is by how much the score of the whole split
    changes if the first does that row as the second does.

    Args:
        first: one contender.
        second: the other.
        higher_is_better: of the measure.
    """
    ahead = first.own - second.own
    lone = np.isnan(first.own) != np.isnan(second.own)
    alike = first.columns == second.columns
    if lone.any() and alike and first.pooled is not None and second.pooled is not None:
        effect = [
            _swap_effects(one, other, here)
            for one, other, here in zip(
                first.pooled, second.pooled, _cut(lone, first.pooled), strict=True
            )
        ]
        ahead = np.where(lone, np.concatenate(effect), ahead)
    sign = 1.0 if higher_is_better else -1.0
    largest = max(
        (float(np.nanmax(np.abs(s.own))) for s in (first, second) if not np.isnan(s.own).all()),
        default=0.0,
    )
    return np.where(np.abs(ahead) <= ROUNDING * largest, 0.0, sign * ahead)


def _cut(values: NDArray[Any], folds: Sequence[SummedRows]) -> list[NDArray[Any]]:
    return np.split(values, np.cumsum([len(fold) for fold in folds])[:-1])


def _swap_effects(
    one: SummedRows, other: SummedRows, here: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What each of some rows adds to the score of all, done by the one rather than the other."""
    effects = np.zeros(len(one))
    places = np.flatnonzero(here)
    total = np.ones((1, len(one))) @ one.statistics
    change = dense(other.statistics[places]) - dense(one.statistics[places])
    effects[places] = score_sums(one.metric, total)[0] - score_sums(one.metric, total + change)
    return effects
