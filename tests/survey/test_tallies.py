import numpy as np
import pyarrow
import pytest

from seqtag.survey.tallies import (
    LabelTally,
    NumberTally,
    TokenTally,
    is_garbled,
    measure_lengths,
)


def test_lengths_are_counted_in_bins_that_double() -> None:
    found = measure_lengths(np.array([1, 2, 3, 3, 4, 9]), "f:{}".format)
    assert found.histogram == [[1, 1, 1], [2, 3, 3], [4, 7, 1], [8, 15, 1]]
    assert (found.longest, found.longest_place) == (9, "f:5")
    assert found.mean == pytest.approx(22 / 6)
    assert found.quantiles == {"50%": 3, "90%": 9, "99%": 9}


def test_a_bin_that_no_row_is_in_is_kept_between_others() -> None:
    assert measure_lengths(np.array([4, 16]), str).histogram == [[4, 7, 1], [8, 15, 0], [16, 31, 1]]


def test_types_are_counted_over_blocks() -> None:
    tally = TokenTally()
    tally.add(pyarrow.array([["a", "b"], ["a"]]))
    tally.add(pyarrow.array([["c d", "a"], ["\ufeffx"]]))
    found = tally.facts({"a", "b"}.__contains__, list)
    assert (found.types, found.unknown_types) == (4, 2)
    assert (found.with_blanks, found.marked) == (1, 1)


def test_types_are_looked_up_as_the_model_sees_them() -> None:
    tally = TokenTally()
    tally.add(pyarrow.array([["A", "b"]]))
    assert tally.facts({"a"}.__contains__, lambda types: [t.lower() for t in types]) == (
        tally.facts({"A"}.__contains__, list)
    )


@pytest.mark.parametrize("text", ["cafÃ©", "itâ€™s", "Ã¼ber"])
def test_text_that_was_read_as_another_encoding_is_told(text: str) -> None:
    assert is_garbled(text)


@pytest.mark.parametrize("text", ["café", "it’s", "Ã", "Âge", "日本", "São", "naïve", "plain", "ﬁ"])
def test_other_text_is_not(text: str) -> None:
    assert not is_garbled(text)


def test_labels_know_where_they_stand_first() -> None:
    tally = LabelTally()
    tally.add(pyarrow.array([["X", None], [], ["Y", "X"]]))
    tally.add(pyarrow.array([["X", "Z ", "Y"]]))
    found = tally.facts({}, "{}.{}".format)
    assert found.counts == {"X": 3, "Y": 2, "Z ": 1}
    assert found.once == found.odd == {"Z ": "3.1"}
    assert tally._first == {"X": (0, 0), "Y": (2, 0), "Z ": (3, 1)}


def test_labels_of_rows_are_counted_too() -> None:
    tally = LabelTally()
    tally.add(pyarrow.array(["X", None, "Y", "X"]))
    found = tally.facts({}, "{}.{}".format)
    assert found.counts == {"X": 2, "Y": 1}
    assert found.once == {"Y": "2.0"}


def test_numbers_are_measured_over_blocks() -> None:
    tally = NumberTally(1)
    tally.add_targets(pyarrow.array([[1.0], [None]]))
    tally.add_targets(pyarrow.array([[3.0], [5.0]]))
    (found,) = tally.facts()
    assert (found.count, found.minimum, found.maximum, found.mean) == (3, 1.0, 5.0, 3.0)
    assert found.deviation == pytest.approx((8 / 3) ** 0.5)


def test_numbers_of_elements_are_taken_by_column() -> None:
    tally = NumberTally(2)
    tally.add_targets(pyarrow.array([[[1.0, 10.0], [None]], [[2.0, 10.0]]]))
    first, second = tally.facts()
    assert (first.count, first.mean) == (2, 1.5)
    assert (second.mean, second.deviation) == (10.0, 0.0)


def test_a_number_that_is_missing_everywhere_is_left_out() -> None:
    tally = NumberTally(1)
    tally.add_targets(pyarrow.array([[None], [None]], pyarrow.list_(pyarrow.float64())))
    assert tally.facts() == []
