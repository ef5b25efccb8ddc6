"""Whether two scores differ by more than chance, of the rows and of the seeds.

The two are kept apart: rows ask whether these models would differ on other rows, seeds whether
other seeds would give other models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.resampling import SEED, Sample, SummedRows, blocks, score_sums, sum_each

LEVEL = 0.05
"""A smaller p is told apart from chance."""

RANDOMISATION, BOOTSTRAP = "approximate randomisation", "paired bootstrap"
"""What the tests over rows are called."""

ROUNDING = 1e-9
"""Two differences are alike that differ by less than this share of the scores."""


def pool_folds(sample: Sample, columns: object) -> list[SummedRows] | None:
    """The rows of each fold with the mean of their statistics over seeds.

    Args:
        sample: of a contender.
        columns: what the statistics are counts of; None where that differs between seeds.

    Returns:
        None where there is no such mean: that, or the score is no function of a sum.
    """
    pooled = []
    for seeds in zip(*sample, strict=True):
        rows = [rows for rows in seeds if isinstance(rows, SummedRows)]
        if columns is None or len(rows) < len(seeds):
            return None
        total = sum((other.statistics for other in rows[1:]), start=rows[0].statistics)
        pooled.append(SummedRows(metric=rows[0].metric, statistics=total / len(rows)))
    return pooled


def randomise(
    contenders: Mapping[str, Sequence[SummedRows]],
    pairs: Iterable[tuple[str, str]],
    *,
    shuffles: int,
    seed: int = SEED,
) -> dict[tuple[str, str], float]:
    """How often chance makes two contenders differ as much, by approximate randomisation.

    Of every row the two may swap what they said, all seeds of it together; were they alike, the
    difference after random swaps would be as large as the one that is there (Noreen 1989; Yeh
    2000). Two-sided, and with the arrangement that is there counted among the shuffled ones, so
    that p is never 0. A shuffled difference that is not defined counts as one as large.

    Args:
        contenders: of each, the rows pooled over its seeds, of each fold; statistics of a pair
            mean the same, column by column.
        pairs: which two are compared; each is asked for its score of every fold, and these are
            averaged.
        shuffles: how many.
        seed: of the draws.

    Returns:
        Of each pair, p; NaN where the difference itself is not defined.
    """
    places = {name: place for place, name in enumerate(contenders)}
    against: dict[str, list[str]] = {}
    for one, other in pairs:
        against.setdefault(one, []).append(other)
    if not against:
        return {}
    by_fold = list(zip(*contenders.values(), strict=True))
    rows = [len(fold[0]) for fold in by_fold]
    totals = [np.stack(sum_each(np.ones((1, len(fold[0]))), fold)) for fold in by_fold]
    metrics = {name: [fold.metric for fold in folds] for name, folds in contenders.items()}
    observed: dict[str, NDArray[np.float64]] = {}
    tolerance: dict[str, NDArray[np.float64]] = {}
    for one, others in against.items():
        first, second = places[one], [places[other] for other in others]
        mine = _mean(metrics[one], [total[[first]] for total in totals])
        theirs = _mean(metrics[one], [total[second] for total in totals])
        observed[one] = np.abs(mine - theirs)
        tolerance[one] = ROUNDING * np.maximum(np.abs(mine), np.abs(theirs))
    larger = {one: np.zeros(len(others), dtype=np.int64) for one, others in against.items()}
    generator = np.random.default_rng(seed)
    wide = sum(total.shape[0] * total.shape[2] for total in totals)
    for size in blocks(max(sum(rows), wide), shuffles):
        # +1 leaves a row as it is, -1 swaps it. A pair's sums then follow from those of each
        # contender, so that no pair has to go through the rows by itself.
        signs = [2.0 * generator.integers(2, size=(size, fold)) - 1 for fold in rows]
        signed = [np.stack(sum_each(s, fold)) for s, fold in zip(signs, by_fold, strict=True)]
        for one, others in against.items():
            first, second = places[one], [places[other] for other in others]
            ahead, behind = [], []
            for total, here in zip(totals, signed, strict=True):
                both = (total[first] + total[second]) / 2  # [others, 1, statistics]
                swing = (here[first] - here[second]) / 2  # [others, size, statistics]
                ahead.append(both + swing)
                behind.append(both - swing)
            gap = np.abs(_mean(metrics[one], ahead) - _mean(metrics[one], behind))
            smaller = gap < observed[one] - tolerance[one]  # [others, size]
            larger[one] += size - smaller.sum(axis=1)
    return {
        (one, other): (1 + int(count)) / (1 + shuffles) if seen == seen else float("nan")
        for one, others in against.items()
        for other, count, seen in zip(others, larger[one], observed[one][:, 0], strict=True)
    }


def _mean(metrics: Sequence[Metric], sums: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The score of sums ``[contenders, selections, size]`` of each fold, averaged over folds."""
    found = [
        score_sums(metric, total.reshape(-1, total.shape[-1])).reshape(total.shape[:-1])
        for metric, total in zip(metrics, sums, strict=True)
    ]
    mean: NDArray[np.float64] = np.mean(found, axis=0)
    return mean


def bootstrap_test(difference: float, draws: NDArray[np.float64]) -> float:
    """How often chance makes two contenders differ as much, by the paired bootstrap.

    The resampled differences lie around the one that is there; moved to lie around none, they say
    how large one by chance is (Efron and Tibshirani 1993, chapter 16). Two-sided, never 0; a
    resample without a score counts as one as large.

    Args:
        difference: of the two scores.
        draws: of their scores on resampled rows, ``[resamples]``.

    Returns:
        p; NaN where the difference is not defined.
    """
    if difference != difference:
        return float("nan")
    scale = np.abs(draws[~np.isnan(draws)]).max(initial=abs(difference))
    smaller = np.abs(draws - difference) < abs(difference) - ROUNDING * scale
    return float((1 + len(draws) - smaller.sum()) / (1 + len(draws)))


def holm(values: Sequence[float]) -> list[float]:
    """Values of p corrected for how many there are (Holm 1979); NaN stays, and does not count."""
    given = np.asarray(values, dtype=np.float64)
    order = np.flatnonzero(~np.isnan(given))
    order = order[np.argsort(given[order], kind="stable")]
    corrected = np.full(len(given), np.nan)
    steps = given[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(value) for value in corrected]


def seeds_test(first: Sequence[float], second: Sequence[float]) -> float | None:
    """How often the choice of seeds makes two means differ as much (Welch 1947).

    Args:
        first: the score of each seed.
        second: the same of the other contender.

    Returns:
        p; 1 where all seeds of both score the same. None where it says nothing: a side has less
        than two seeds, a score is not defined, or the sides differ and no seed of either does.
    """
    if min(len(first), len(second)) < 2:
        return None
    # A side whose seeds are all alike is a constant; scipy says so less exactly, and warns.
    for seeds, other in ((first, second), (second, first)):
        if _alike([*other]):
            return constant_test(seeds, other[0])
    from scipy.stats import ttest_ind

    p = float(ttest_ind(first, second, equal_var=False).pvalue)
    return None if p != p else p


def constant_test(seeds: Sequence[float], constant: float) -> float | None:
    """How often the choice of seeds moves a mean as far from what has no seeds (Student 1908).

    Args:
        seeds: the score of each seed.
        constant: the score of what nothing random is in.

    Returns:
        p, or None, as for ``seeds_test``.
    """
    if len(seeds) < 2:
        return None
    if _alike([*seeds, constant]):
        return 1.0
    if _alike(seeds):
        return None
    from scipy.stats import ttest_1samp

    p = float(ttest_1samp(seeds, constant).pvalue)
    return None if p != p else p


def _alike(scores: Sequence[float]) -> bool:
    """Whether scores are the same but for rounding; not where one is NaN."""
    return bool(np.ptp(scores) <= ROUNDING * np.abs(scores).max())
