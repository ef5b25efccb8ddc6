from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import pairs, raw, read, write
from seqtag.data.tokenizers import Smiles, Whitespace


def test_each_line_is_a_sequence_and_an_empty_one_an_empty_row() -> None:
    data = "\ufeffa b\r\n\n \t\n#c\td\u00a0e\nlast".encode()
    assert pairs(raw(), data) == [
        (["a", "b"], None),
        ([], None),
        ([], None),
        (["#c", "d\u00a0e"], None),
        (["last"], None),
    ]


def test_the_tokenizer_decides_what_an_element_is() -> None:
    assert pairs(raw(input_tokenizer=Smiles()), b"CCl \n") == [(["C", "Cl"], None)]


@pytest.mark.parametrize(
    ("value", "chances", "line"),
    [
        ("x", None, "x"),
        ("very good", None, "very good"),
        (0.123456789, None, "0.1234568"),
        ([0.5, 2.0], None, "0.5 2"),
        (["X", "Y"], None, "X Y"),
        ([[0.5, 1.0], [2.0, 3.0]], None, "0.5,1 2,3"),
        (None, None, ""),
        ([], None, ""),
        (None, [], ""),
        ("x", {"x": 0.75, "y": 0.25}, "x\t0.75"),
        (["X", "Y"], [{"X": 1.0}, {"Y": 0.5}], "X Y\t1 0.5"),
    ],
)
def test_a_prediction_is_a_line(value: Any, chances: Any, line: str) -> None:
    assert write(raw(), b"a b\r\n", [value], [chances]) == line + "\n"


def test_every_line_has_its_answer() -> None:
    written = write(raw(), "\ufeffa b\n\nc".encode(), [["X", "Y"], [], ["Z"]])
    assert written == "X Y\n\nZ\n"


@pytest.mark.parametrize("value", [["a b", "c"], "a\nb", ["a\r"]])
def test_a_label_that_a_line_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"f:1: the prediction .* write it as jsonl"):
        write(raw(), b"a b\n", [value])


def test_there_are_no_targets_to_read() -> None:
    with pytest.raises(ValueError, match=r"data\.target=1: raw lines hold no targets"):
        raw(target=1)
    assert pairs(raw(target=1, read_target=False), b"a\n") == [(["a"], None)]


def test_skipped_lines_are_told_to_the_first_row_and_get_no_answer() -> None:
    data = b"# top\na\nb\n"
    assert [row["leading"] for row in read(raw(skip_lines=1), data)] == ["# top\n", ""]
    assert write(raw(skip_lines=1), data, ["x", "y"]) == "x\ny\n"


def test_further_inputs_follow_after_tabs() -> None:
    reader = raw(further_input=[2, 3])
    data = b"go on\tV;PST\tx\n\n"
    assert pairs(reader, data) == [(["go", "on", "+V", "+PST", "+x"], None), ([], None)]
    assert write(reader, data, ["went on", None]) == "went on\n\n"
    with pytest.raises(ValueError, match=r"f:1: 2 columns between tabs, where the input and"):
        read(reader, b"go\tV\n")


def test_lines_hold_no_features() -> None:
    with pytest.raises(ValueError, match=r"data\.features=1: raw lines have no column for it"):
        raw(features=[1])
    # What concerns targets does not concern lines that have none.
    assert pairs(raw(mask=3, target_tokenizer=Whitespace()), b"a\n") == [(["a"], None)]
