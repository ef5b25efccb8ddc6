from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.data.windows import LongRows, Window, cut


def config(**data: Any) -> dict[str, Any]:
    return {
        "data": {"too_long": None, "max_length": None} | data,
        "batching": {"max_tokens": 100},
    }


def test_a_row_that_fits_is_one_window() -> None:
    assert cut(8, 8) == [Window(0, 8, 0, 8)]


def test_borders_lie_in_the_middle_of_what_windows_share() -> None:
    # Windows of 8 that share 2: from 0, 6 and, at the end of the row, 9.
    assert cut(17, 8) == [
        Window(0, 8, 0, 7),
        Window(6, 14, 7, 11),
        Window(9, 17, 11, 17),
    ]


@given(length=st.integers(0, 300), limit=st.integers(1, 40))
def test_every_element_counts_once_and_is_read_where_it_counts(length: int, limit: int) -> None:
    windows = cut(length, limit)
    counted = [n for window in windows for n in range(window.first, window.last)]
    assert counted == list(range(length))
    for window in windows:
        assert 0 <= window.start <= window.first <= window.last <= window.stop <= length
        assert window.stop - window.start <= limit
    if length > limit:
        assert all(window.stop - window.start == limit for window in windows)


@given(length=st.integers(50, 400), limit=st.integers(8, 40))
def test_what_counts_has_context_unless_the_row_ends(length: int, limit: int) -> None:
    margin = limit // 4 // 2
    for window in cut(length, limit):
        assert window.start == 0 or window.first - window.start >= margin
        assert window.stop == length or window.stop - window.last >= margin


class TestPolicies:
    @pytest.mark.parametrize("per_element", [True, False])
    def test_windows_are_the_default_where_every_element_has_a_target(
        self, per_element: bool
    ) -> None:
        rows = LongRows.from_config(config(max_length=10), per_element=per_element)
        assert (rows.splits, rows.refuses) == (per_element, not per_element)
        assert (rows.limit, rows.budget) == (10, 100)
        assert (rows.refusal(11) is None) == per_element
        assert rows.refusal(10) is None

    def test_the_budget_of_a_batch_is_the_limit_unless_another_is_set(self) -> None:
        assert LongRows.from_config(config(), per_element=True).limit == 100

    def test_the_beginning_alone_can_be_learnt(self) -> None:
        rows = LongRows.from_config(config(max_length=10, too_long="truncate"), per_element=True)
        assert rows.training_windows(25) == [Window(0, 10, 0, 10)]
        assert rows.training_windows(9) == [Window(0, 9, 0, 9)]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"too_long": "cut"}, "data.too_long=cut: it is one of error, split, truncate"),
            ({"too_long": "split"}, "data.too_long=split: only tasks with a target for every"),
            ({"max_length": 0}, "data.max_length=0: .* from 1 to batching.max_tokens=100"),
            ({"max_length": 101}, "data.max_length=101: "),
            ({"max_length": True}, "data.max_length=True: "),
            ({"max_length": 2.5}, "data.max_length=2.5: "),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, settings: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LongRows.from_config(config(**settings), per_element=False)
