from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import conll, pairs, read, write, write_gold
from seqtag.data.tokenizers import Whitespace

AB = [(["a", "b"], ["X", "Y"])]
TWO = [(["a"], ["X"]), (["b"], ["Y"])]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("\n \n\t\n", []),
        ("a\tX\nb\tY\n\n", AB),
        ("a\tX\nb\tY", AB),
        ("a\tX\r\nb\tY\r\n", AB),
        ("\ufeffa\tX\nb\tY\n", AB),
        ("a X\nb Y\n", AB),
        ("a   X \n b Y\n", AB),
        ("a n X\nb n Y\n", AB),
        ("a \t X\nb\tY \n", AB),
        ("a\tX\n\nb\tY\n", TWO),
        ("a\tX\n\t\nb\tY\n", TWO),
        ("a\tX\n \t \r\nb\tY\n", TWO),
        ("\n\na\tX\n\n\n\nb\tY\n\n\n", TWO),
        ("#tag\tX\n#\tY\n", [(["#tag", "#"], ["X", "Y"])]),
        ("# a = b\tX\n", [(["# a = b"], ["X"])]),
        ("\u00a0\tX\n", [(["\u00a0"], ["X"])]),
        ("10\u00a0000 X\n", [(["10\u00a0000"], ["X"])]),
        ("a\u0085b\tX\nc\u2028d\tY\n", [(["a\u0085b", "c\u2028d"], ["X", "Y"])]),
        ("\u200d X\n\x0c Y\n", [(["\u200d", "\x0c"], ["X", "Y"])]),
        ("Dubbz\ufeff\tX\n", [(["Dubbz\ufeff"], ["X"])]),
        ("\"\tX\n'\tY\n", [(['"', "'"], ["X", "Y"])]),
        ("a\t\nb\tY\n", [(["a", "b"], [None, "Y"])]),
        ("a\t_\n_\tY\n", [(["a", "_"], [None, "Y"])]),
        ("New York\tX\n", [(["New York"], ["X"])]),
        ("-DOCSTART- -X- -X- O\n\na n p X\nb n p Y\n", AB),
        ("-DOCSTART- -X- O O\n\na X\nb Y\n", AB),
        ("-DOCSTART-\tO\na\tX\nb\tY\n", AB),
        ("-DOCSTART-\n\na X\nb Y\n", AB),
        ("a X\n-DOCSTART- O\nb Y\n", TWO),
        ("a X\n\n-DOCSTART- O\n\nb Y\n\n-DOCSTART- O\n\n", TWO),
        ("-DOCSTART-x X\n", [(["-DOCSTART-x"], ["X"])]),
        ("x -DOCSTART-\n", [(["x"], ["-DOCSTART-"])]),
    ],
)
def test_sentences_are_read(text: str, rows: list[Any]) -> None:
    assert pairs(conll(), text.encode()) == rows
    if rows:
        assert write_gold(conll(), text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (
            "a\n",
            {},
            "f:1: data.target=-1: no such column besides the input's, the line has 1 column: 'a'",
        ),
        (
            "a X\n",
            {"target": 3},
            "f:1: data.target=3: no such column besides the input's, the line has 2 columns: 'a X'",
        ),
        ("a X\n", {"input": 2}, "f:1: data.input=2: no such column, the line has 2 columns: 'a X'"),
        (
            "a X\n",
            {"target": 0},
            "f:1: data.target=0: no such column besides the input's, the line has 2 columns: 'a X'",
        ),
        ("a\tX\n\nb\n", {}, "f:3: 1 column where line 1 has 2: 'b'"),
        ("a\tX\nb\tY\t\n", {}, "f:2: 3 columns where line 1 has 2: 'b\\tY\\t'"),
        ("a X\nb n Y\n", {}, "f:2: 3 columns where line 1 has 2: 'b n Y'"),
        ("a\tX\nb Y\n", {}, "f:2: 1 column where line 1 has 2: 'b Y'"),
        (
            "a X\nb c\tY\n",
            {},
            "f:2: a tab in a line whose columns are separated by blanks: 'b c\\tY'",
        ),
        ("a\tX\n\tY\n", {}, "f:2: the input's column, 0, is empty: '\\tY'"),
        ("1 2 X\n1 x X\n", {"input": [0, 1]}, "f:2: 'x' is not a finite number: '1 x X'"),
        ("nan 2 X\n", {"input": [0, 1]}, "f:1: 'nan' is not a finite number: 'nan 2 X'"),
        ("1_0 2 X\n", {"input": [0, 1]}, "f:1: '1_0' is not a finite number: '1_0 2 X'"),
    ],
)
def test_a_bad_line_is_an_error(text: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        read(conll(**changes), text.encode())
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"input": 1, "target": 0}, [(["n"], ["a"])]),
        ({"input": -3, "target": 1}, [(["a"], ["n"])]),
        ({"target": [1, 2]}, [(["a"], [["n", "X"]])]),
        ({"target": [2]}, [(["a"], ["X"])]),
        ({"target": None}, [(["a"], None)]),
        ({"read_target": False, "target": 7}, [(["a"], None)]),
    ],
)
def test_columns_are_counted_from_either_end(changes: dict[str, Any], rows: list[Any]) -> None:
    assert pairs(conll(**changes), b"a n X\n") == rows


def test_several_input_columns_are_the_numbers_of_a_vector() -> None:
    data = b"1.5\t-2e3\tX\n0\t4\tY\n\n1\t1\tX\n"
    assert pairs(conll(input=[0, 1]), data) == [
        ([[1.5, -2000.0], [0.0, 4.0]], ["X", "Y"]),
        ([[1.0, 1.0]], ["X"]),
    ]
    assert write_gold(conll(input=[0, 1]), data) == data


@pytest.mark.parametrize(
    ("separator", "text", "tokens"),
    [("tab", "a b\tX\nc\tY\n", ["a b", "c"]), ("blank", "a  X\nc Y\n", ["a", "c"])],
)
def test_the_separator_can_be_named(separator: str, text: str, tokens: list[str]) -> None:
    [row] = read(conll(separator=separator), text.encode())
    assert row["tokens"] == tokens


def test_lines_at_the_top_can_be_skipped() -> None:
    data = b"# word mean\nThe\t456.9\n"
    [row] = read(conll(skip_lines=1), data)
    assert (row["tokens"], row["target"], row["line"]) == (["The"], ["456.9"], 2)
    assert row["leading"] == "# word mean\n"
    assert write_gold(conll(skip_lines=1), data) == data


def test_rows_know_the_line_of_every_element() -> None:
    first, second = read(conll(), b"-DOCSTART- O\n\na X\nb Y\n\n\nc X\n\n")
    assert (first["line"], first["element_lines"]) == (3, [3, 4])
    assert (second["line"], second["element_lines"]) == (7, [7])
    assert (first["leading"], first["raw"]) == ("-DOCSTART- O\n\n", "a X\nb Y\n\n\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"separator": ","}, "data.reader.separator=,: give one of tab, blank, or null"),
        ({"input": "word"}, "data.input=word: columns of this format are numbers"),
        ({"target": [1, "label"]}, "data.target=label: columns of this format are numbers"),
        ({"features": ["pos"]}, "data.features=pos: columns of this format are numbers"),
        ({"mask": "m", "target_tokenizer": Whitespace()}, "data.mask=m: columns of this format"),
        ({"further_input": [2]}, "data.further_input=2: these files have no column for it"),
        (
            {"references": [2], "sequence_tokenizer": Whitespace()},
            "data.references=2: these files have no column for it; take data=tsv",
        ),
        ({"input": []}, r"data.input=\[\]: the list names no column"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conll(**changes)


@pytest.mark.parametrize(
    ("text", "changes", "values", "expected"),
    [
        ("a\tX\tn\r\nb\tY\tn\r\n", {"target": 1}, ["P", "Q"], "a\tP\tn\r\nb\tQ\tn\r\n"),
        ("a   X  n\nb Y n\n", {"target": 1}, ["P", "Q"], "a   P  n\nb Q n\n"),
        ("a\tn\nb\tn", {"target": 2}, ["P", "Q"], "a\tn\tP\nb\tn\tQ"),
        ("a n\nb n\n\n", {"target": None}, ["P", "Q"], "a n P\nb n Q\n\n"),
        ("a\nb\n", {"target": -1}, ["P", "Q"], "a P\nb Q\n"),
        ("a\tX\nb\tY\n", {}, [0.123456789, 1e-9], "a\t0.1234568\nb\t1e-09\n"),
        ("a\t1\t2\nb\t3\t4\n", {"target": [1, 2]}, [[0.5, 2.0], [3.0, 4.0]],
         "a\t0.5\t2\nb\t3\t4\n"),
        ("a\nb\n", {"target": [1, 2]}, [[0.5, 2.0], [3.0, 4.0]], "a 0.5 2\nb 3 4\n"),
        ("a\tX\n-DOCSTART-\n\n", {}, ["P"], "a\tP\n-DOCSTART-\n\n"),
    ],
)  # fmt: skip
def test_predictions_replace_the_target_or_follow_the_last_column(
    text: str, changes: dict[str, Any], values: list[Any], expected: str
) -> None:
    assert write(conll(read_target=False, **changes), text.encode(), [values]) == expected


def test_probabilities_follow_in_a_column_of_their_own() -> None:
    chances = [[{"X": 0.25, "P": 0.75}, {"X": 0.98, "P": 0.02}]]
    assert write(conll(), b"a\tX\nb\tY\n", [["P", "X"]], chances) == "a\tP\t0.75\nb\tX\t0.98\n"


@pytest.mark.parametrize(
    ("data", "label"), [(b"a X\n", "P Q"), (b"a\tX\n", "P\tQ"), (b"a\tX\n", "P\nQ"), (b"a X\n", "")]
)
def test_a_label_that_a_column_cannot_hold_is_refused(data: bytes, label: str) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        write(conll(), data, [[label]])


def test_a_prediction_for_the_whole_sequence_is_refused() -> None:
    with pytest.raises(ValueError, match="f:1: this format holds one prediction per element, 2"):
        write(conll(), b"a X\nb Y\n", ["positive"])


def test_masked_targets_are_missing_and_come_back() -> None:
    reader = conll(target=1, mask=-1, target_tokenizer=Whitespace())
    data = b"a X 1\nb Y 0\nc _ 0\n"
    assert pairs(reader, data) == [(["a", "b", "c"], ["X", None, None])]
    assert write_gold(reader, data) == data
    assert write(reader, data, [["P", None, "Q"]]) == "a P 1\nb Y 0\nc Q 0\n"
    without = conll(target=1, mask=2, read_target=False, target_tokenizer=Whitespace())
    assert pairs(without, b"a\n") == [(["a"], None)]


def test_features_are_read_in_prediction_too() -> None:
    reader = conll(target=3, features=[1], numeric_features=[2], read_target=False)
    [row] = read(reader, b"a N 1\nb V -2.5\n")
    assert row["features"] == {"1": ["N", "V"], "2": [1.0, -2.5]}
