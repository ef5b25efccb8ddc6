from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from seqtag.batch import TargetSpec
from seqtag.evaluation import resampling
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.randomisation import randomise
from seqtag.evaluation.resampling import SummedRows
from seqtag.evaluation.spans import SpanF1Strict

SPANS = SpanF1Strict(TargetSpec(labels=("O", "B-X"), scheme="IOB2"))
ACCURACY = Accuracy(TargetSpec(labels=("a", "b")))


def rows_of(metric, statistics) -> SummedRows:
    return SummedRows(metric=metric, statistics=np.asarray(statistics, dtype=float))


def right(*values: float) -> SummedRows:
    """Rows of one label, right or wrong."""
    return rows_of(ACCURACY, np.c_[values, np.ones(len(values))])


def p_of(first: SummedRows, second: SummedRows, shuffles: int = 4000) -> float:
    return randomise({"a": [[first]], "b": [[second]]}, [("a", "b")], shuffles=shuffles)["a", "b"]


def test_three_rows_by_enumeration() -> None:
    # correct, predicted and gold spans
    first = np.array([[2, 2, 2], [1, 1, 1], [0, 2, 3]])
    second = np.array([[0, 3, 2], [0, 1, 1], [1, 1, 3]])

    def difference(swaps) -> float:
        swapped = np.array(swaps, dtype=bool)[:, None]
        sides = np.where(swapped, second, first), np.where(swapped, first, second)
        f1 = [2 * s[:, 0].sum() / (s[:, 1].sum() + s[:, 2].sum()) for s in sides]
        return abs(f1[0] - f1[1])

    all_swaps = [difference(swaps) for swaps in product([0, 1], repeat=3)]
    exact = np.mean([d >= all_swaps[0] - 1e-12 for d in all_swaps])
    assert 0 < exact < 1
    assert p_of(rows_of(SPANS, first), rows_of(SPANS, second), 20000) == pytest.approx(
        exact, abs=0.012
    )


def test_the_difference_of_a_mean_is_tested_as_scipy_does() -> None:
    rng = np.random.default_rng(2)
    ease = rng.random(12)
    first, second = (rng.binomial(9, ease), rng.binomial(9, ease * 0.8))
    theirs = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
    )  # all 4,096 swaps
    sides = [rows_of(ACCURACY, np.c_[side, np.full(12, 9)]) for side in (first, second)]
    assert p_of(*sides, 20000) == pytest.approx(theirs.pvalue, abs=0.012)


def test_right_and_wrong_give_the_exact_test_of_mcnemar() -> None:
    first = right(*[1] * 8, 0, *[1] * 20)
    second = right(*[0] * 8, 1, *[1] * 20)
    exact = stats.binomtest(1, 9).pvalue  # 0.039: of 9 rows on which they differ, 8 to 1
    assert p_of(first, second, 20000) == pytest.approx(exact, abs=0.005)


def test_the_order_of_the_two_and_of_the_rows_are_no_matter() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, 2, size=(2, 60))
    order = rng.permutation(60)
    p = p_of(right(*table[0]), right(*table[1]))
    assert p_of(right(*table[1]), right(*table[0])) == p
    assert p_of(right(*table[0][order]), right(*table[1][order])) == pytest.approx(p, abs=0.03)


def test_the_same_rows_give_the_same_p() -> None:
    sides = right(1, 1, 0, 1, 1), right(0, 1, 0, 0, 0)
    assert p_of(*sides) == p_of(*sides)


def test_the_company_and_the_memory_change_no_p(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    sides = {
        name: [[right(*rng.integers(0, 2, size=31))] for _ in range(1 + (name in "cd"))]
        for name in "abcd"
    }
    pairs = list(combinations("abcd", 2))
    together = randomise(sides, pairs, shuffles=900)
    assert list(together) == pairs
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 31 * 7)
    for pair in pairs:
        alone = randomise({name: sides[name] for name in pair}, [pair], shuffles=900)
        assert alone[pair] == together[pair]


def test_models_that_are_alike_have_a_p_of_one_and_none_has_one_of_zero() -> None:
    assert p_of(right(1, 0, 1), right(1, 0, 1)) == 1
    assert p_of(right(1, 0, 1), right(0, 1, 1)) == 1  # other rows, the same score
    assert p_of(right(*[1] * 60), right(*[0] * 60), 999) == 1 / 1000
    assert p_of(right(1), right(0)) == 1  # one row can only swap the sign


def test_rounding_does_not_count_for_a_difference() -> None:
    rng = np.random.default_rng(6)
    whole = rng.integers(0, 4, size=(2, 40))
    whole_sides = [rows_of(ACCURACY, np.c_[side, np.full(40, 3)]) for side in whole]
    thirds = [rows_of(ACCURACY, np.c_[side / 3, np.full(40, 1)]) for side in whole]
    tenths = [rows_of(ACCURACY, np.c_[side / 10, np.full(40, 0.3)]) for side in whole]
    assert p_of(*thirds) == p_of(*tenths) == p_of(*whole_sides) < 1


def test_seeds_of_a_row_are_swapped_together() -> None:
    first, second = right(1, 1, 1, 0, 1, 1, 1), right(0, 0, 1, 1, 0, 1, 0)
    sides = {"thrice": [[first]] * 3, "other": [[second]] * 3, "once": [[first]], "o": [[second]]}
    pairs = [("thrice", "other"), ("once", "o"), ("thrice", "once")]
    found = randomise(sides, pairs, shuffles=2000)
    # Three copies are no more evidence than one.
    assert found["thrice", "other"] == found["once", "o"] < 1
    assert found["thrice", "once"] == 1


def test_what_is_tested_is_the_mean_of_the_seeds_scores() -> None:
    # Errors of 1, 1 and 7 beside 3, 3 and 3: on average no other, of all together 4.1 and 3.
    errors = RootMeanSquaredError(TargetSpec(mean=(0.0,), deviation=(1.0,)))

    def seeds(*sizes: float) -> list[list[SummedRows]]:
        return [[rows_of(errors, np.tile([1, size**2], (30, 1)))] for size in sizes]

    sides = {"uneven": seeds(1, 1, 7), "even": seeds(3, 3, 3), "worse": seeds(4, 4, 4)}
    found = randomise(sides, list(combinations(sides, 2)), shuffles=500)
    assert found["uneven", "even"] == 1
    assert found["even", "worse"] == found["uneven", "worse"] == 1 / 501


@pytest.mark.parametrize("beside", [2, 1])
def test_seeds_by_enumeration(beside: int) -> None:
    rng = np.random.default_rng(5)
    errors = RootMeanSquaredError(TargetSpec(mean=(0.0,), deviation=(1.0,)))
    # One seed is far worse: with the squares of both seeds put together p would be another.
    first = rng.chisquare(1, size=(2, 5)) * [[1], [20]]
    second = 6 * rng.chisquare(1, size=(beside, 5))

    def difference(swaps) -> float:
        swapped = np.array(swaps, dtype=bool)
        sides = np.where(swapped, second, first), np.where(swapped, first, second)
        one, other = (np.sqrt(side.mean(axis=1)).mean() for side in sides)
        return abs(one - other)

    all_swaps = [difference(swaps) for swaps in product([0, 1], repeat=5)]
    means = [np.sqrt(side.mean(axis=1)).mean() for side in (first, second)]
    assert all_swaps[0] == pytest.approx(abs(means[0] - means[1]))
    exact = np.mean([d >= all_swaps[0] - 1e-12 for d in all_swaps])
    sides = {
        name: [[rows_of(errors, np.c_[np.ones(5), seed])] for seed in side]
        for name, side in (("a", first), ("b", second))
    }
    assert 0 < exact < 1
    for pair in (("a", "b"), ("b", "a")):
        assert randomise(sides, [pair], shuffles=20000)[pair] == pytest.approx(exact, abs=0.012)


def test_folds_are_scored_each_by_itself() -> None:
    # 2 of 2 and 0 of 6 are 0.5 on average, as much as 1 of 2 and 3 of 6: no difference.
    first = [right(1, 1), right(*[0] * 6)]
    second = [right(1, 0), right(1, 1, 1, 0, 0, 0)]
    found = randomise({"a": [first], "b": [second]}, [("a", "b")], shuffles=500)
    assert found["a", "b"] == 1


def test_without_a_score_there_is_no_p() -> None:
    nothing = rows_of(ACCURACY, np.zeros((3, 2)))
    assert np.isnan(p_of(nothing, right(1, 1, 0)))
    assert randomise({}, [], shuffles=10) == {}


def test_shuffles_without_a_score_count_as_large_ones() -> None:
    # Macro F1 is undefined without gold; with the second row swapped the first side has none.
    f1 = MacroF1(TargetSpec(labels=("a",)))
    first = rows_of(f1, [[0, 0, 0], [1, 1, 1]])
    second = rows_of(f1, [[0, 1, 1], [0, 0, 0]])
    assert p_of(first, second) == 1
