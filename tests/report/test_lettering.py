import pytest

from seqtag.report.lettering import LONGEST_LABEL, clusters, columns, legible, stacked


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("saw", "saw"),
        ("$x_1$", "$x_1$"),
        ("北京", "北京"),
        ("", '""'),
        ("New York", "New␣York"),
        ("a\tb\x00", "a\\tb\\x00"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("\u0301x", "◌\u0301x"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_nothing_in_a_label_is_invisible_or_acts_on_others(token: str, shown: str) -> None:
    assert legible(token) == shown


def test_labels_are_cut_by_the_room_they_take() -> None:
    assert legible("a" * LONGEST_LABEL) == "a" * LONGEST_LABEL
    assert legible("a" * 99) == "a" * (LONGEST_LABEL - 1) + "…"
    assert legible("京" * 99) == "京" * (LONGEST_LABEL // 2 - 1) + "…"
    # A letter and its mark are never parted.
    assert legible("e\u0301" * 99) == "e\u0301" * (LONGEST_LABEL - 1) + "…"


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert [columns(text) for text in ("ab", "北京", "e\u0301", "ｶ")] == [2, 4, 1, 1]
    assert clusters("e\u0301a👩\u200d🔬") == ["e\u0301", "a", "👩\u200d🔬"]


def test_words_of_wide_characters_and_single_ones_are_written_downwards() -> None:
    assert stacked("天安门") == "天\n安\n门"
    assert stacked("北…") == "北\n…"
    assert stacked("e\u0301") == "e\u0301"
    assert stacked("saw") is None
    assert stacked("T恤") is None
