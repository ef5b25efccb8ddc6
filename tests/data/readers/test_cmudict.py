from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import cmudict, pairs, read, write, write_gold
from seqtag.data.tokenizers import Whitespace

READ = b";;; top\nread R IY D # now\n;;; then\nread(2)  R EH D\r\nreads R IY D Z"


def test_all_pronunciations_of_a_word_are_one_row() -> None:
    first, second = read(cmudict(), READ)
    assert first["tokens"] == ["r", "e", "a", "d"]
    assert first["target"] == "R IY D"
    assert first["references"] == ["R IY D", "R EH D"]
    assert (first["line"], second["line"]) == (2, 5)
    assert "references" not in second
    assert write_gold(cmudict(), READ) == READ


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("R IY D", b"read R IY D # now\n;;; then\nread(2)  R EH D\r\n"),
        ("R EH D", b"read R IY D # now\n;;; then\nread(2)  R EH D\r\n"),
        ("R  EH D", b"read R IY D # now\n;;; then\nread(2)  R EH D\r\n"),
        ("R EY D", b"read R EY D # now\n;;; then\n"),
        (None, b"read _ # now\n;;; then\n"),
    ],
)
def test_an_accepted_prediction_changes_nothing_and_another_stands_alone(
    value: Any, expected: bytes
) -> None:
    written = write(cmudict(), READ, [value, "R IY D Z"])
    assert written.encode() == b";;; top\n" + expected + b"reads R IY D Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(2) A\n", "a(2) X Y\n"),
        ("a\n", "a X Y\n"),
        ("a # b\n", "a X Y # b\n"),
        ("a\t#b", "a\tX Y #b"),
        (" a   A  \n", " a   X Y  \n"),
        ("#a A\n", "#a X Y\n"),
    ],
)
def test_the_rest_of_a_line_stays(text: str, expected: str) -> None:
    assert write(cmudict(), text.encode(), ["X Y"]) == expected


def test_words_alone_get_their_pronunciations() -> None:
    reader = cmudict(read_target=False)
    assert pairs(reader, b"go\nha\n") == [(["g", "o"], None), (["h", "a"], None)]
    assert write(reader, b"go\nha\n", ["G OW", "HH AA"]) == "go G OW\nha HH AA\n"


@pytest.mark.parametrize("value", ["A # b", "#", "A\nB", "A\rB"])
def test_a_pronunciation_that_a_line_cannot_hold_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"f:1: the prediction .* cannot be told from the rest"):
        write(cmudict(), b"a X\n", [value])


def test_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="f:1: a dictionary has no place for probabilities"):
        write(cmudict(), b"a X\n", ["X"], [{"X": 1.0}])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": 1}, r"data\.input=1 data\.target=1: column 0 of a dictionary is the word"),
        ({"target": 2}, r"data\.input=0 data\.target=2: column 0 of a dictionary is the word"),
        ({"references": [2]}, r"data\.references=2: a dictionary has no column for it"),
        ({"further_input": [2]}, r"data\.further_input=2: a dictionary has no column for it"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cmudict(**changes)


def test_one_symbol_per_letter_is_split() -> None:
    reader = cmudict(sequence_tokenizer=None, target_tokenizer=Whitespace())
    assert pairs(reader, b"go G OW\n") == [(["g", "o"], ["G", "OW"])]
    with pytest.raises(ValueError, match="f:1: 3 targets for 2 elements: 'go G OW W'"):
        read(reader, b"go G OW W\n")
