import numpy as np
import pytest
from scipy import stats

from seqtag.batch import TargetSpec
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.randomisation import randomise
from seqtag.evaluation.resampling import SummedRows, bootstrap, interval
from seqtag.evaluation.significance import bootstrap_test, constant_test, holm, seeds_test


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([float("nan"), 0.01, 0.2]) == pytest.approx([np.nan, 0.02, 0.2], nan_ok=True)


def test_the_paired_bootstrap_tells_apart_what_randomisation_does() -> None:
    accuracy = Accuracy(TargetSpec(labels=("a", "b")))
    rng = np.random.default_rng(9)
    ease = rng.random(200)
    first, second = (
        SummedRows(metric=accuracy, statistics=np.c_[rng.random(200) < share * ease, np.ones(200)])
        for share in (1, 0.85)
    )
    draws = bootstrap([[[first]], [[second]]], resamples=4000)
    p = bootstrap_test(first.score() - second.score(), draws[0] - draws[1])
    both = {"a": [[first]], "b": [[second]]}
    assert p == pytest.approx(randomise(both, [("a", "b")], shuffles=4000)["a", "b"], abs=0.02)
    assert bootstrap_test(0.0, draws[0] - draws[0]) == 1
    assert bootstrap_test(0.5, np.full(99, 0.5)) == 1 / 100
    assert bootstrap_test(0.5, np.full(99, np.nan)) == 1
    assert np.isnan(bootstrap_test(float("nan"), np.zeros(5)))


def test_resamples_without_a_score_are_left_out_of_interval_and_test_alike() -> None:
    draws = np.r_[np.linspace(0.4, 0.6, 99), np.full(60, np.nan)]
    assert bootstrap_test(0.5, draws) == 1 / 100
    assert interval(draws)[0] > 0.4


def test_welch_over_seeds() -> None:
    first, second = [0.90, 0.92, 0.91], [0.85, 0.89]
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert seeds_test(first, second) == pytest.approx(expected)
    assert seeds_test(first, [0.9]) is None
    assert seeds_test(first, [0.9, float("nan")]) is None
    assert seeds_test([0.5, 0.5], [0.5, 0.5]) == 1
    assert seeds_test([0.5, 0.5], [0.6, 0.6]) is None  # no seed changes anything
    assert seeds_test([0.5, 0.5, 0.5], [0.6, 0.7]) == pytest.approx(
        stats.ttest_1samp([0.6, 0.7], 0.5).pvalue
    )


def test_a_constant_against_seeds() -> None:
    expected = stats.ttest_1samp([0.90, 0.92, 0.91], 0.5).pvalue
    assert constant_test([0.90, 0.92, 0.91], 0.5) == pytest.approx(expected)
    assert constant_test([0.9], 0.5) is None
    assert constant_test([0.9, 0.9], 0.5) is None
    assert constant_test([0.5, 0.5], 0.5) == 1
