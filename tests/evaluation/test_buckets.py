import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.evaluation.buckets import FREQUENCIES, Buckets


@pytest.mark.parametrize(
    ("count", "name"),
    [
        (0, "0"),
        (1, "1"),
        (2, "2-5"),
        (5, "2-5"),
        (6, "6-20"),
        (20, "6-20"),
        (21, "21-100"),
        (100, "21-100"),
        (101, "over 100"),
        (10**9, "over 100"),
    ],
)
def test_frequencies_of_words(count: int, name: str) -> None:
    assert FREQUENCIES.names[FREQUENCIES.of(np.array([count]))[0]] == name


def test_lengths_double_as_far_as_the_longest_row_asks_for() -> None:
    found = Buckets.of_lengths(41)
    assert found.names == ["1-5", "6-10", "11-20", "21-40", "41-80", "over 80"]
    assert found.of(np.array([1, 5, 6, 40, 41, 80])).tolist() == [0, 0, 1, 3, 4, 4]
    assert Buckets.of_lengths(1).names == ["1-5", "over 5"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5000), min_size=1))
def test_no_length_is_over_the_last_range_and_each_lies_in_the_one_it_is_named(
    lengths: list[int],
) -> None:
    found = Buckets.of_lengths(max(lengths))
    for length, place in zip(lengths, found.of(np.array(lengths)).tolist(), strict=True):
        low, high = map(int, found.names[place].split("-"))
        assert low <= length <= high
