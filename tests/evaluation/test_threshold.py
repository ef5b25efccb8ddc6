import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.evaluation.threshold import best_threshold


def best(chances, gold, *, missed=0, default=0.5) -> float:
    return best_threshold(
        np.array(chances, dtype=np.float32),
        np.array(gold, dtype=bool),
        missed=missed,
        default=default,
    )


def micro_f1(chances, gold, threshold: float, missed: int) -> float:
    given = np.array(chances, dtype=np.float32) > threshold
    right = (given & np.array(gold, dtype=bool)).sum()
    return 2 * right / (given.sum() + np.sum(gold) + missed)


def test_it_lies_in_the_middle_between_what_is_given_and_what_is_not() -> None:
    assert best([0.9, 0.1, 0.3, 0.2], [1, 0, 1, 0]) == pytest.approx(0.25)


def test_it_may_lie_below_all_probabilities() -> None:
    assert best([0.25, 0.125], [0, 1]) == pytest.approx(0.125 / 2)


def test_of_equals_it_is_the_one_nearest_to_the_default() -> None:
    # The first alone: 2 * 1 / (1 + 2). All four: 2 * 2 / (4 + 2).
    chances, gold = [0.8, 0.4, 0.3, 0.1], [1, 0, 0, 1]
    assert best(chances, gold, default=0.5) == pytest.approx(0.6)
    assert best(chances, gold, default=0.05) == pytest.approx(0.05)


def test_gold_labels_without_a_probability_count_as_missed() -> None:
    # One or all four: 2 / 3 and 4 / 6, the same; with four more 2 / 7 and 4 / 10.
    assert best([0.9, 0.6, 0.5, 0.4], [1, 0, 0, 1], missed=0) == pytest.approx(0.75)
    assert best([0.9, 0.6, 0.5, 0.4], [1, 0, 0, 1], missed=4) == pytest.approx(0.2)


@pytest.mark.parametrize("chances", [[], [0.3, 0.9], [0.0, 0.0]])
def test_where_nothing_can_be_found_it_is_the_default(chances) -> None:
    assert best(chances, [False] * len(chances), missed=3, default=0.5) == 0.5
    assert best([0.0, 0.0], [True, True]) == 0.5


@pytest.mark.parametrize("upper", [0.7, np.nextafter(np.float32(0.7), np.float32(1))])
def test_neighbours_in_32_bits_are_told_apart(upper: float) -> None:
    # One of the two is even, which is where the middle is rounded to.
    lower = np.nextafter(np.float32(upper), np.float32(0))
    assert micro_f1([upper, lower], [1, 0], best([upper, lower], [1, 0]), 0) == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=20),
    st.integers(0, 5),
)
@settings(max_examples=200, deadline=None)
def test_no_other_threshold_is_better(pairs, missed) -> None:
    chances, gold = [place / 8 for place, _ in pairs], [right for _, right in pairs]
    found = best(chances, gold, missed=missed)
    if not any(gold) and not missed:
        assert found == 0.5
        return
    others = [micro_f1(chances, gold, place / 16, missed) for place in range(17)]
    assert micro_f1(chances, gold, found, missed) == pytest.approx(max(others))
