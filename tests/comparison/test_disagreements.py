import numpy as np
import pytest

from seqtag.batch import TargetSpec
from seqtag.comparison.disagreements import show_elements, show_values
from seqtag.comparison.row_scores import advantage, score_rows
from seqtag.evaluation.numbers import MeanAbsoluteError
from seqtag.evaluation.resampling import Sample, SummedRows
from seqtag.evaluation.spans import SpanF1Strict

SPANS = SpanF1Strict(TargetSpec(labels=("O", "B-X"), scheme="IOB2"))


def spans(*rows: tuple[int, int, int]) -> Sample:
    """Correct, predicted and gold spans of each row, of one seed."""
    return [[SummedRows(metric=SPANS, statistics=np.array(rows, dtype=float))]]


FIRST = spans((1, 1, 1), (0, 0, 0), (0, 2, 0), (0, 0, 0), (0, 1, 1))
SECOND = spans((1, 2, 1), (0, 1, 0), (0, 0, 0), (0, 0, 0), (0, 0, 1))


def test_a_row_without_gold_goes_to_the_one_that_makes_nothing_up() -> None:
    first, second = score_rows(FIRST, "alike"), score_rows(SECOND, "alike")
    assert first.own == pytest.approx([1, np.nan, 0, np.nan, 0], nan_ok=True)
    ahead = advantage(first, second, higher_is_better=True)
    assert ahead[0] == pytest.approx(1 / 3)
    assert ahead[1] > 0  # the second makes a span up
    assert ahead[2] < 0  # the first does
    assert np.isnan(ahead[3])  # neither has a score
    assert ahead[4] == 0
    # by how much the first's F1 changes with the second's answer in that row: 2 / 6 to 2 / 7
    assert ahead[1] == pytest.approx(2 / 6 - 2 / 7)


def test_without_alike_columns_such_rows_are_left_out() -> None:
    first, second = score_rows(FIRST, None), score_rows(SECOND, None)
    ahead = advantage(first, second, higher_is_better=True)
    assert np.isnan(ahead[1:4]).all()


def test_a_smaller_error_is_ahead() -> None:
    metric = MeanAbsoluteError(TargetSpec(mean=(0.0,), deviation=(1.0,)))
    first, second = (
        score_rows([[SummedRows(metric=metric, statistics=np.array(rows))]], "alike")
        for rows in ([[1, 0.5], [1, 2.0]], [[1, 1.5], [1, 2.0]])
    )
    assert advantage(first, second, higher_is_better=False) == pytest.approx([1, 0])


def test_seeds_are_averaged_where_they_have_a_score() -> None:
    two = [*spans((0, 0, 0), (1, 1, 1)), *spans((0, 1, 0), (0, 1, 1))]
    assert score_rows(two, "alike").own == pytest.approx([0, 0.5])


def test_of_a_label_per_element_only_what_is_not_of_one_mind_is_shown() -> None:
    shown = show_elements(
        ["the", "can", "rusts", "x"],
        ["D", "N", "V", None],
        [["D", "V", "V", "A"], ["D", "N", "N", "B"]],
    )
    assert shown == ["can/N rusts/V", "can/V rusts/V", "can/N rusts/N"]
    assert show_elements([[0.1], [0.2]], [1.0, 2.0], [[1.0, 2.5], [1.0, 2.0]]) == [
        "2/2",
        "2/2.5",
        "2/2",
    ]


def test_of_a_target_per_row_all_is_shown_and_long_ones_are_cut() -> None:
    assert show_elements(["a", "b"], "yes", ["no", "yes"]) is None
    gold, first, second = show_values("yes", [["a", "b"], "x" * 400])
    assert (gold, first) == ("yes", "a b")
    assert len(second) == 300
    assert second.endswith("...")
