import pytest

from seqtag.data.shares import share


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "0%"),
        (0, 3, "0%"),
        (1, 3, "33.3%"),
        (3, 3, "100%"),
        (1, 10**4, "under 0.1%"),
        (10**4 - 1, 10**4, "over 99.9%"),
    ],
)
def test_a_part_is_never_called_nothing_or_all_where_it_is_not(
    part: int, whole: int, text: str
) -> None:
    assert share(part, whole) == text
