"""Models that are alike, simulated: how often the tests say that they differ.

``scripts/measure_tests.py`` measures more kinds of scores, and with more pairs.
"""

import numpy as np
import pytest
from scipy.stats import binom

from seqtag.batch import TargetSpec
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.randomisation import randomise
from seqtag.evaluation.resampling import SummedRows, bootstrap, interval
from seqtag.evaluation.significance import LEVEL, bootstrap_test

PAIRS, FEW, ROWS, EASE, TOKENS = 300, 60, 120, 0.8, 12
UNLIKELY = 0.001

ACCURACY = Accuracy(TargetSpec(labels=("a", "b")))
ERRORS = RootMeanSquaredError(TargetSpec(mean=(0.0,), deviation=(1.0,)))


def tokens(rng, seeds, lost):
    """Some sentences are easier than others, for all models alike."""
    ease = rng.beta(8, 2, size=(PAIRS, 1, 1, ROWS))  # mean EASE
    keep = np.array([1, 1 - lost])[:, None, None]
    return ACCURACY, rng.binomial(TOKENS, ease * keep, (PAIRS, 2, seeds, ROWS)), TOKENS


def errors(rng, seeds, lost):
    """Every third seed is worse than the others."""
    size = np.where(np.arange(seeds) % 3, 1, 4)[:, None] * np.array([1, 1 + lost])[:, None, None]
    return ERRORS, (size * rng.normal(size=(PAIRS, 2, seeds, ROWS))) ** 2, 1


def samples_of(drawn):
    metric, sums, count = drawn
    return {
        (pair, side): [
            [SummedRows(metric=metric, statistics=np.c_[own, np.full(ROWS, count)][:, order])]
            for own in sums[pair, side]
        ]
        for pair in range(PAIRS)
        for side in (0, 1)
        for order in [[0, 1] if metric is ACCURACY else [1, 0]]
    }


def told(samples, pairs):
    """Which of the first pairs the randomisation tells apart."""
    both = [((pair, 0), (pair, 1)) for pair in range(pairs)]
    shown = {name: samples[name] for two in both for name in two}
    found = randomise(shown, both, shuffles=199)
    return np.array([p <= LEVEL for p in found.values()])


def bounds(share):
    return binom.ppf([UNLIKELY / 2, 1 - UNLIKELY / 2], PAIRS, share)


@pytest.mark.parametrize(
    ("draw", "seeds", "lost"), [(tokens, 1, 0.05), (tokens, 3, 0.05), (errors, 3, 0.2)]
)
def test_the_level_of_the_randomisation_is_what_it_says(draw, seeds, lost):
    rng = np.random.default_rng([7, seeds])
    low, high = bounds(LEVEL)
    alarms = told(samples_of(draw(rng, seeds, 0.0)), PAIRS)
    assert low <= alarms.sum() <= high
    assert told(samples_of(draw(rng, seeds, lost)), FEW).mean() > 0.4  # and it tells others apart


@pytest.mark.parametrize("seeds", [1, 3])
def test_intervals_hold_the_truth_and_the_bootstrap_keeps_its_level(seeds):
    rng = np.random.default_rng([9, seeds])
    samples = samples_of(tokens(rng, seeds, 0.0))
    draws = bootstrap(list(samples.values()), resamples=250)
    low, high = bounds(1 - LEVEL)
    firsts, seconds = draws[::2], draws[1::2]
    held = [one[0] <= EASE <= one[1] for one in map(interval, firsts)]
    assert low <= sum(held) <= high
    held = [one[0] <= 0 <= one[1] for one in map(interval, firsts - seconds)]
    assert low <= sum(held) <= high
    scores = [np.mean([rows.score() for (rows,) in sample]) for sample in samples.values()]
    gaps = np.subtract(scores[::2], scores[1::2])
    alarms = [bootstrap_test(*one) <= LEVEL for one in zip(gaps, firsts - seconds, strict=True)]
    low, high = bounds(LEVEL)
    assert low <= sum(alarms) <= high
