from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import labelled, pairs, read, write, write_gold
from seqtag.data.tokenizers import Characters, Whitespace


def test_a_line_is_split_at_its_first_blank_and_comes_back() -> None:
    data = "\ufeff3 a  b \r\n1\tc\u00a0d\r\n\r\nx   e".encode()
    assert pairs(labelled(), data) == [
        (["a", "b"], "3"),
        (["c\u00a0d"], "1"),
        ([], None),
        (["e"], "x"),
    ]
    assert write_gold(labelled(), data) == data
    assert [row["line"] for row in read(labelled(), data)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("3 a  b \r\n", "4", "4 a  b \r\n"),
        ("3\ta b", "4", "4\ta b"),
        ("3 a\n", None, "_ a\n"),
        (" a\n", "4", "4 a\n"),
        ("3\n", "4", "4\n"),
        ("\n", "4", "\n"),
        ("2.50 a\n", 2.25, "2.25 a\n"),
    ],
)
def test_a_label_is_replaced_and_nothing_else(text: str, value: Any, expected: str) -> None:
    assert write(labelled(), text.encode(), [value]) == expected


def test_the_rest_of_the_line_can_be_the_target() -> None:
    reader = labelled(
        input=0, target=1, input_tokenizer=Characters(), target_tokenizer=Whitespace()
    )
    data = b"go G OW\nha HH AA\n"
    assert pairs(reader, data) == [(["g", "o"], ["G", "OW"]), (["h", "a"], ["HH", "AA"])]
    assert write_gold(reader, data) == data
    assert write(reader, data, [["X", "Y"], ["HH", "AA"]]) == "go X Y\nha HH AA\n"
    assert write(labelled(input=0, target=1), b"go\n", ["x y"]) == "go x y\n"


@pytest.mark.parametrize("label", ["a b", "a\tb", "a\nb"])
def test_a_label_with_a_blank_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match=r"f:1: the prediction .* cannot be told from the rest"):
        write(labelled(), b"3 a\n", [label])


def test_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="f:1: such a line has no place for probabilities"):
        write(labelled(), b"3 a\n", ["3"], [{"3": 1.0}])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": 2}, r"data\.input=2 data\.target=0: a line has the columns 0"),
        ({"input": 0}, r"data\.input=0 data\.target=0: a line has the columns 0"),
        ({"input": [0]}, r"data\.input=\[0\] data\.target=0: a line has"),
        ({"target": [0]}, r"data\.input=1 data\.target=\[0\]: a line has"),
        ({"input": "text"}, r"data\.input=text data\.target=0: a line has"),
        ({"features": [2]}, r"data\.features=2: these lines have no column for it; take data=tsv"),
        (
            {"references": [2], "sequence_tokenizer": Whitespace()},
            r"data\.references=2: these lines have no column for it",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        labelled(**changes)
