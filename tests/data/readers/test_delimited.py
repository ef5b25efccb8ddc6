from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import csv, pairs, read, tsv, write, write_gold
from seqtag.data.tokenizers import Characters, Smiles, Whitespace


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("a b\t1\nc\t0\n", [(["a", "b"], "1"), (["c"], "0")]),
        ("a b\t1\nc\t0", [(["a", "b"], "1"), (["c"], "0")]),
        ("a b\t1\r\nc\t0\r\n", [(["a", "b"], "1"), (["c"], "0")]),
        ("\ufeffa\t1\n", [(["a"], "1")]),
        (' a  b \t 1 \n"c\t"0\n', [(["a", "b"], "1"), (['"c'], '"0')]),
        ("#a\t1\n-DOCSTART-\t0\n", [(["#a"], "1"), (["-DOCSTART-"], "0")]),
        ("a\t\nb\t_\nc\t \n", [(["a"], None), (["b"], None), (["c"], None)]),
        ("\t1\n", [([], "1")]),
        ("\t\n", [([], None)]),
        ("a\t1\n\nb\t0\n\n", [(["a"], "1"), ([], None), (["b"], "0"), ([], None)]),
        ("\na\t1\n", [([], None), (["a"], "1")]),
        ("a\u00a0b\u0085c\t1\u2028\n", [(["a\u00a0b\u0085c"], "1\u2028")]),
    ],
)
def test_each_line_is_a_sequence(text: str, rows: list[Any]) -> None:
    assert pairs(tsv(), text.encode()) == rows
    assert write_gold(tsv(), text.encode()) == text.encode()


HEADER = "id,text,label\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,a b,x\n", [(["a", "b"], "x")]),
        ("1,a b,x\r\n2,c,y\r\n", [(["a", "b"], "x"), (["c"], "y")]),
        ('1,"a, b",x\n', [(["a,", "b"], "x")]),
        ('1,"a ""b""",x\n', [(["a", '"b"'], "x")]),
        ('1,5" pipe,x\n', [(["5\"", "pipe"], "x")]),
        ('1,"a\nb\r\n\nc",x\n2,d,y\n', [(["a", "b", "c"], "x"), (["d"], "y")]),
        ('1,"a\u2028b\u0085",x\n', [(["a\u2028b\u0085"], "x")]),
        ('1,a\u2028b c\u0085,"x"\n', [(["a\u2028b", "c\u0085"], "x")]),
        ('1,"a","x\ny"', [(["a"], "x\ny")]),
        ('"1","a",""\n', [(["a"], None)]),
        ("1,,x\n", [([], "x")]),
        ("1,a,x\n\n2,b,y\n", [(["a"], "x"), ([], None), (["b"], "y")]),
    ],
)  # fmt: skip
def test_csv_cells_may_be_quoted(text: str, rows: list[Any]) -> None:
    data = (HEADER + text).encode()
    assert pairs(csv(), data) == rows
    assert write_gold(csv(), data) == data


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (tsv(), "a\t1\nb\n", "f:2: 1 column where line 1 has 2: 'b'"),
        (tsv(), "a\t1\nb\t0\t\n", "f:2: 3 columns where line 1 has 2: 'b\\t0\\t'"),
        (
            tsv(target=2),
            "a\t1\n",
            "f:1: data.target=2: no such column besides the input's, the line has 2 columns: "
            "'a\\t1'",
        ),
        (
            csv(),
            "id,txt,label\n",
            "f:1: data.input=text: no such column, the header has 'id, txt, label': "
            "'id,txt,label'",
        ),
        (
            csv(target="Label"),
            HEADER,
            "f:1: data.target=Label: no such column besides the input's, the header has "
            "'id, text, label': 'id,text,label'",
        ),
        (csv(), "text,text,label\n", "f:1: the header has 'text' 2 times: 'text,text,label'"),
        (csv(), "\n", "f:1: data.input=text: no such column, the header has '': ''"),
        (csv(), HEADER + "1,a b\n", "f:2: 2 columns where line 1 has 3: '1,a b'"),
        (csv(), HEADER + '1,"a\nb",x\n2,c\n', "f:4: 2 columns where line 1 has 3: '2,c'"),
        (
            csv(),
            HEADER + '1,"a"b,x\n',
            "f:2: not valid CSV (',' expected after '\"'): '1,\"a\"b,x'",
        ),
        (
            csv(),
            HEADER + '1,"a,x\n2,b,y\n',
            "f:2: not valid CSV (unexpected end of data): '1,\"a,x'",
        ),
        (
            csv(),
            HEADER + '1,"a,x\n' + "2,b,y\n" * 50,
            "f:2: a record longer than data.max_line_bytes=200; is a quote left open?: "
            "'1,\"a,x'",
        ),
        (
            tsv(target_tokenizer=Whitespace()),
            "a b\tX Y\na b c\tX Y\n",
            "f:2: 2 targets for 3 elements: 'a b c\\tX Y'",
        ),
        (tsv(input=[0]), "1 x\t1\n", "f:1: 'x' is not a finite number: '1 x\\t1'"),
        (
            tsv(input=[0, 1], target=2),
            "1 2\t1\tx\n",
            "f:1: input columns of [1, 2] numbers; they must be as long: '1 2\\t1\\tx'",
        ),
    ],
)  # fmt: skip
def test_a_bad_line_is_an_error(reader: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        read(reader, text.encode())
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": "text"}, "column 'text' is a name, and data.reader.header is false"),
        ({"target": [1, "label"]}, "column 'label' is a name, and data.reader.header is false"),
        ({"separator": "tabs"}, "data.reader.separator='tabs': give one character"),
        ({"separator": '"'}, "give one character other than a quote"),
        ({"features": ["pos"]}, "column 'pos' is a name, and data.reader.header is false"),
        ({"separator": ""}, "give one character other than a quote"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tsv(**changes)


def test_a_long_cell_is_no_error_below_the_limit_on_lines() -> None:
    data = HEADER.encode() + b'1,"' + b"w " * 100_000 + b'",x\n'
    [row] = read(csv(max_line_bytes=1_000_000), data)
    assert len(row["tokens"]) == 100_000


def test_line_numbers_stay_right_after_a_record_of_several_lines() -> None:
    data = b'# skipped\nid,text,label\n1,"a\n\nb",x\n2,c,y\n'
    first, second = read(csv(skip_lines=1), data)
    assert (first["line"], second["line"]) == (3, 6)
    assert first["leading"] == "# skipped\nid,text,label\n"
    assert write_gold(csv(skip_lines=1), data) == data


def test_blanks_around_a_molecule_are_no_atoms_and_stay_in_the_file() -> None:
    data = b"smiles,y\nCCO ,1.5\n Cl ,2\n"
    reader = csv(input="smiles", target="y", input_tokenizer=Smiles())
    assert pairs(reader, data) == [(["C", "C", "O"], "1.5"), (["Cl"], "2")]
    assert write(reader, data, [0.25, 2.0]) == "smiles,y\nCCO ,0.25\n Cl ,2\n"


def test_a_target_per_element_is_split_and_joined() -> None:
    data = b"GMK\tCE_\nA\t_\n\t\n"
    reader = tsv(input_tokenizer=Characters(), target_tokenizer=Characters())
    assert pairs(reader, data) == [(["G", "M", "K"], ["C", "E", None]), (["A"], None), ([], None)]
    assert write_gold(reader, data) == data
    assert write(reader, data, [["H", "H", "C"], ["E"], []]) == "GMK\tHHC\nA\tE\n\t\n"


def test_several_targets_are_several_columns() -> None:
    data = b"x,y,text,z\n1,2,a b,3\n"
    assert pairs(csv(target=["x", "z"]), data) == [(["a", "b"], ["1", "3"])]
    assert write(csv(target=["x", "z"]), data, [[0.5, 3.0]]) == "x,y,text,z\n0.5,2,a b,3\n"


def test_several_targets_per_element_are_split_column_by_column() -> None:
    data = b"a b\t1 2\t3 4\nc\t5\t\n"
    reader = tsv(target=[1, 2], target_tokenizer=Whitespace())
    assert pairs(reader, data) == [(["a", "b"], [["1", "3"], ["2", "4"]]), (["c"], [["5", None]])]
    assert write_gold(reader, data) == data
    written = write(reader, data, [[[0.5, 1.0], [1.5, 2.0]], [[2.5, 3.0]]])
    assert written == "a b\t0.5 1.5\t1 2\nc\t2.5\t3\n"


def test_several_inputs_are_numbers_per_element() -> None:
    data = b"1 2 3\t4 5 6\tx\n\t\ty\n"
    reader = tsv(input=[0, 1], target=2)
    assert pairs(reader, data) == [([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], "x"), ([], "y")]


def test_a_file_without_the_target_gets_a_column_for_it() -> None:
    reader = csv(read_target=False)
    data = b"id,text\r\n1,a b\r\n\r\n2,c"
    assert pairs(reader, data) == [(["a", "b"], None), ([], None), (["c"], None)]
    written = write(reader, data, ["x,y", None, 'z"'])
    assert written == 'id,text,label\r\n1,a b,"x,y"\r\n\r\n2,c,"z"""'
    assert pairs(csv(), written.encode()) == [(["a", "b"], "x,y"), ([], None), (["c"], 'z"')]


@pytest.mark.parametrize(
    ("reader", "text", "values", "expected"),
    [
        (tsv(read_target=False), "a\nb", ["x", "y"], "a\tx\nb\ty"),
        (tsv(read_target=False, target=-1), "a\n", ["x"], "a\tx\n"),
        (tsv(read_target=False, target=5), "a\tb\n", ["x"], "a\tb\tx\n"),
        (tsv(target=None), "a\tb\n", ["x"], "a\tb\tx\n"),
        (tsv(target=None), "a\n\nb\n", ["x", None, "y"], "a\tx\n\nb\ty\n"),
        (tsv(read_target=False), "a\tjunk\nb\t\n", ["x", "y"],
         "a\tx\nb\ty\n"),
        (csv(target=None), "text\na\n", ["x"], "text,prediction\na,x\n"),
        (csv(target=None), "text,prediction\na,old\n", ["x"], "text,prediction\na,x\n"),
        (csv(target=9, read_target=False), "text\na\n", ["x"], "text,prediction\na,x\n"),
        (csv(target=["y", "z"], read_target=False), "text,z\na,0\n", [[1.0, 2.5]],
         "text,z,y\na,2.5,1\n"),
        (tsv(read_target=False, target_tokenizer=Whitespace()), "a b\tX\n", [["P", "Q"]],
         "a b\tP Q\n"),
    ],
)  # fmt: skip
def test_predictions_replace_the_target_or_follow_the_last_column(
    reader: Any, text: str, values: list[Any], expected: str
) -> None:
    assert write(reader, text.encode(), values) == expected


def test_the_probability_of_the_choice_follows() -> None:
    data = b"text,label\na b,x\n,x\n"
    chances = [{"x": 0.2, "y": 0.8}, []]
    written = write(csv(), data, ["y", None], chances)
    assert written == "text,label,probability\na b,y,0.8\n,,\n"
    assert write(csv(), written.encode(), ["y", None], chances) == written


def test_probabilities_per_element_have_blanks_between() -> None:
    reader = tsv(target_tokenizer=Characters())
    written = write(reader, b"a b\tXY\n", [["X", "X"]], [[{"X": 0.75}, {"X": 0.5}]])
    assert written == "a b\tXX\t0.75 0.5\n"


def test_a_prediction_per_element_needs_a_tokenizer() -> None:
    with pytest.raises(ValueError, match=r"data\.target_tokenizer is null; set data/target_token"):
        write(tsv(), b"a b\tx\n", [["P", "Q"]])


def test_labels_that_do_not_split_back_are_refused() -> None:
    reader = tsv(target_tokenizer=Characters(), read_target=False)
    with pytest.raises(ValueError, match="'B-XO' does not split back into 2 elements"):
        write(reader, b"a b\tXY\n", [["B-X", "O"]])


def test_a_label_that_a_column_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'x\\ty' cannot be written into one column"):
        write(tsv(), b"a\t1\n", ["x\ty"])


def test_masked_targets_are_missing_and_come_back() -> None:
    reader = tsv(mask=2, input_tokenizer=Characters(), target_tokenizer=Characters())
    data = b"MKV\tHEC\t101\nMK\tHE\t0 0\nM\t\t1\n"
    assert pairs(reader, data) == [
        (["M", "K", "V"], ["H", None, "C"]),
        (["M", "K"], [None, None]),
        (["M"], None),
    ]
    assert write_gold(reader, data) == data
    written = write(reader, data, [["E", None, "E"], ["C", "C"], ["H"]])
    assert written == "MKV\tEEE\t101\nMK\tCC\t0 0\nM\tH\t1\n"


def test_a_mask_is_of_no_concern_without_targets() -> None:
    reader = tsv(mask=2, target_tokenizer=Whitespace(), read_target=False)
    assert pairs(reader, b"a b\n") == [(["a", "b"], None)]
    assert write(reader, b"a b\n", [["X", "Y"]]) == "a b\tX Y\n"


def test_references_are_told_with_the_target_first() -> None:
    reader = csv(references=["r1", "r2"], sequence_tokenizer=Whitespace())
    data = b"text,label,r1,r2\na,x,z,y\nb,x,,\nc,x,x,x\n"
    rows = read(reader, data)
    assert [row.get("references") for row in rows] == [["x", "z", "y"], None, None]
    assert write_gold(reader, data) == data
    assert write(reader, data, ["z", "x", "x"]).splitlines()[1] == "a,z,z,y"


def test_tags_follow_the_letters_of_a_word() -> None:
    reader = tsv(
        target=1, input_tokenizer=Characters(), sequence_tokenizer=Characters(), further_input=[2]
    )
    data = b"go\twent\tV;PST\r\n\n"
    assert pairs(reader, data) == [(["g", "o", "+V", "+PST"], "went"), ([], None)]
    assert write_gold(reader, data) == data


def test_features_are_of_each_element_or_of_the_sequence() -> None:
    data = b"a b\tX Y\tN V\t1 _\n"
    columns = {"features": [2], "numeric_features": [3]}
    [row] = read(tsv(target_tokenizer=Whitespace(), **columns), data)
    assert row["features"] == {"2": ["N", "V"], "3": [1.0, None]}
    [row] = read(tsv(features=[2]), data)
    assert row["features"] == {"2": ["N V", "N V"]}
