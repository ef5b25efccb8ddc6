import math

import pytest

from seqtag.claims.claim import Interval, interval, intervals


def test_an_interval_is_that_of_students_t() -> None:
    found = interval([1, 2, 3])
    assert found.mean == 2
    # With two degrees of freedom t is 4.3027; the deviation is 1, its error 1 / sqrt(3).
    assert found.half_width == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert (found.low, found.high) == (2 - found.half_width, 2 + found.half_width)


def test_one_seed_has_no_interval() -> None:
    found = interval([5.0])
    assert math.isnan(found.half_width)
    assert (found.low, found.high, found.spell()) == (5, 5, "5.000")


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (0.5, 0.25, "0.500 ± 0.250"),
        (0.0, 0.0, "0.000 ± 0.000"),
        (1234.5, 10.0, "1234 ± 10.000"),
        (2e-9, 1e-9, "2e-09 ± 1e-09"),
        (3e8, 1e8, "3e+08 ± 1e+08"),
    ],
)
def test_numbers_are_spelled_to_be_read(mean: float, half_width: float, text: str) -> None:
    assert Interval(mean, half_width).spell() == text


def test_rows_with_the_same_keys_are_repetitions() -> None:
    rows = [
        {"kind": "a", "n": 1, "right": 1.0, "seed": 1},
        {"kind": "b", "n": 1, "right": None, "seed": 1},
        {"kind": "a", "n": 1, "right": 3.0, "seed": 2},
        {"kind": "a", "n": 2, "right": 7.0, "seed": 1},
    ]
    found = intervals(rows, ("kind", "n"), "right")
    assert {key: value.mean for key, value in found.items()} == {("a", 1): 2, ("a", 2): 7}
