"""Whether two scores differ by more than chance, of the rows and of the seeds.

The two are kept apart: rows ask whether these models would differ on other rows, seeds whether
other seeds would give other models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.evaluation.randomisation import ROUNDING

LEVEL = 0.05
"""A smaller p is told apart from chance."""

RANDOMISATION, BOOTSTRAP = "approximate randomisation", "paired bootstrap"
"""What the tests over rows are called."""


def bootstrap_test(difference: float, draws: NDArray[np.float64]) -> float:
    """How often chance makes two contenders differ as much, by the paired bootstrap.

    The resampled differences lie around the one that is there; moved to lie around none, they say
    how large one by chance is (Efron and Tibshirani 1993, chapter 16). Two-sided, and never 0.
    Resamples without a score are left out, as of the interval of the same draws.

    Args:
        difference: of the two scores.
        draws: of their scores on resampled rows, ``[resamples]``.

    Returns:
        p; NaN where the difference is not defined.
    """
    if difference != difference:
        return float("nan")
    defined = draws[~np.isnan(draws)]
    scale = np.abs(defined).max(initial=abs(difference))
    smaller = np.abs(defined - difference) < abs(difference) - ROUNDING * scale
    return float((1 + len(defined) - smaller.sum()) / (1 + len(defined)))


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
