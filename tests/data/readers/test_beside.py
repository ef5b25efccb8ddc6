"""Predictions beside the targets that a file has: taken away again, the file is as it was."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.batch import Output, length
from seqtag.data.readers.beside import fresh_names
from seqtag.data.readers.npz.npz import NpzReader
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.table import TableReader
from seqtag.data.tokenizers import Whitespace

from .formats import COMMON, cmudict, conll, conllu, csv, jsonl, labelled, parallel, read, tsv, word


def beside(reader: Reader, data: bytes, values: list[Any]) -> tuple[str, bytes]:
    """Where predictions stand, and the file with one for each row."""
    found = reader.beside(reader.read(io.BytesIO(data), "f"))
    assert found is not None
    stream = io.BytesIO()
    writer = found.writer(stream)
    source = io.BytesIO(data)
    rows = list(reader.read(source, "f"))
    for row, value in zip(rows, values, strict=True):
        writer.add(row, Output(value))
    writer.close()
    return found.place, stream.getvalue()


TAGS = {"target_tokenizer": Whitespace()}
SETS = {"label_tokenizer": Whitespace()}
NEW = {"sequence_tokenizer": Whitespace()}

ONE_EACH = b"# text\n" + (word(1, "a") + "2-3\tbc" + "\t_" * 8 + "\n").encode()
ONE_EACH += (word(2, "b", misc="SpaceAfter=No") + word(3, "c") + "\n" + word(1, "d")).encode()

TEXTS: list[tuple[Reader, bytes, list[Any], bytes]] = [
    (conllu(), ONE_EACH, [["P", "Q|x", "R\\"], ["S"]], b""),
    (conll(), b"a X\nb  Y \n\n-DOCSTART- x\n\nc X\r\n", [["P", "Q"], ["R"]], rb" [PQR]$"),
    (conll(), b"a\tX\nb\t\n", [["P", "Q"]], rb"\t[PQ]$"),
    (conll(target=[1, 2]), b"a 1 2\nb 3 _\n", [[[0.5, 1.0], [2.0, 3.0]]], rb" [0-9.]+ [0-9.]+$"),
    (conll(target=1, mask=2, **TAGS), b"a X 1\nb Y 0\n", [["P", "Q"]], rb" [PQ]$"),
    (tsv(), b"a b\tX\n\nc\t\nd\tX\r\n", ["P", None, "Q", "R"], rb"(?<=.)\t[PQR]$"),
    (tsv(**TAGS), b"a b\tX Y\n\t\n", [["P", "Q"], []], rb"\t(P Q)?$"),
    (tsv(header=True, target=1), b"x\ty\na\tX\nb\tY", ["P", "Q"], rb"\t(predicted|P|Q)$"),
    (csv(**NEW), b'text,label\n"a, b",X Y\nc,"X\nY"\n', ["P, Q", "R"], rb',(predicted|"P, Q"|R)$'),
    (csv(**SETS), b"text,label\na,X\n\nb,\n", [["P", "Q"], [], []], rb"(?<=.),(predicted|P Q|_)$"),
    (
        csv(target=["u", "v"]),
        b"u,text,v\n1,a,2\n3,b,4\n",
        [[0.5, 1.5], [2.5, 3.5]],
        rb",(predicted_u,predicted_v|0.5,1.5|2.5,3.5)$",
    ),
    (
        jsonl(**TAGS),
        b'{"text": ["a", "b"], "label": ["X", "Y"]}\n{ "text":[], "label":[] }\n',
        [["P", "Q"], []],
        rb', "predicted": (\["P", "Q"\]|\[\])(?= ?\}$)',
    ),
]
"""Reader, file, predictions, and what each line has besides."""


@pytest.mark.parametrize(("reader", "data", "values", "added"), TEXTS)
def test_without_what_was_added_the_file_is_as_it_was(
    reader: Reader, data: bytes, values: list[Any], added: bytes
) -> None:
    _, written = beside(reader, data, values)
    assert written != data
    if added:
        pattern = re.compile(added.replace(b"$", rb"(?=\r?$)"), re.MULTILINE)
        assert pattern.sub(b"", written) == data
    else:
        taken_out = re.sub(rb"\|Predicted=[^\n]*", b"", written)
        assert re.sub(rb"Predicted=[^\n]*", b"_", taken_out) == data


@pytest.mark.parametrize(("reader", "data", "values", "added"), TEXTS)
def test_gold_is_read_from_the_written_file_as_before(
    reader: Reader, data: bytes, values: list[Any], added: bytes
) -> None:
    _, written = beside(reader, data, values)
    if reader.target == -1:  # the last column is another one now
        reader = conll(target=1)
    before, after = read(reader, data), read(reader, written)
    assert [row["target"] for row in after] == [row["target"] for row in before]
    assert [row["tokens"] for row in after] == [row["tokens"] for row in before]


@pytest.mark.parametrize(
    ("reader", "data", "values", "column"),
    [
        (conll(), b"a X\nb Y\n\nc X\n", [["P", "Q"], ["R"]], -1),
        (csv(**TAGS), b"text,label\na b,X Y\n", [["P", "Q"]], "predicted"),
        (jsonl(**SETS), b'{"text": "a", "label": ["X"]}\n', [["P", "Q"]], "predicted"),
        (jsonl(**NEW), b'{"text": "a", "label": "X Y"}\n', ["P Q"], "predicted"),
        (tsv(), b"a\tX\nb\tY\n", ["P", "Q"], 2),
    ],
)
def test_predictions_are_read_back(
    reader: Reader, data: bytes, values: list[Any], column: int | str
) -> None:
    _, written = beside(reader, data, values)
    settings: dict[str, Any] = {name: getattr(reader, name) for name in COMMON}
    make: Callable[..., Reader] = {"ConllReader": conll, "JsonlReader": jsonl}.get(
        type(reader).__name__, tsv if isinstance(column, int) else csv
    )
    again = make(**{**settings, "target": column})
    assert [row["target"] for row in read(again, written)] == values


def test_the_attribute_of_conllu_is_behind_the_others() -> None:
    place, written = beside(conllu(), ONE_EACH, [["P", "Q|x", "R\\"], ["S"]])
    assert place == "Predicted= in MISC"
    lines = written.decode().splitlines()
    assert [line.split("\t")[-1] for line in lines if line[:1].isdigit()] == [
        "Predicted=P",
        "_",
        "SpaceAfter=No|Predicted=Q\\px",
        "Predicted=R\\\\",
        "Predicted=S",
    ]


@pytest.mark.parametrize(
    ("reader", "data", "place"),
    [
        (conllu(), word(1, "a", misc="X=1|Predicted=N").encode(), "Predicted_2= in MISC"),
        (tsv(), b"a\tX\n", "a further last column"),
        (csv(), b"text,label,predicted\na,X,old\n", "the column predicted_2"),
        (jsonl(), b'{"text": "a", "label": "X", "predicted": 1}\n', "the key predicted_2"),
        (
            jsonl(),
            b'{"text": "a", "label": "X"}\n{"text": "b", "label": "Y", "predict\\u0065d": 1}\n',
            "the key predicted_2",
        ),
    ],
)
def test_a_name_that_the_file_has_is_not_taken(reader: Reader, data: bytes, place: str) -> None:
    values: list[Any] = [["P"] if isinstance(reader, type(conllu())) else "P"]
    count = len(read(reader, data))
    found, written = beside(reader, data, values * count)
    assert found == place
    assert b"old" in written or b"old" not in data


def test_names_of_several_targets() -> None:
    assert fresh_names(["u", "v"], ["predicted_v"]) == ["predicted_u", "predicted_v_2"]
    assert fresh_names("u", []) == fresh_names(None, []) == ["predicted"]


@pytest.mark.parametrize("reader", [labelled(), cmudict(), parallel()])
def test_formats_that_have_no_room(reader: Reader) -> None:
    assert reader.beside([]) is None


def test_a_table_gets_a_column_and_keeps_the_others() -> None:
    table = pa.table({"text": ["a b", "", "c"], "label": ["X", "X", None], "n": [1, 2, 3]})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    reader = TableReader(**(COMMON | {"input": "text", "target": "label"}))
    place, written = beside(reader, stream.getvalue(), ["P", None, "Q"])
    assert place == "the column predicted"
    found = pyarrow.parquet.read_table(io.BytesIO(written))
    assert found.select(table.column_names).equals(table)
    assert found["predicted"].to_pylist() == ["P", None, "Q"]


def test_an_archive_gets_an_array_and_keeps_the_others() -> None:
    stream = io.BytesIO()
    arrays = {"x": np.ones((2, 3, 1)), "y": np.array(["X", "Y"]), "predicted": np.zeros(2)}
    np.savez(stream, **arrays)
    reader = NpzReader(**(COMMON | {"input": "x", "target": "y", "lengths": None}))
    place, written = beside(reader, stream.getvalue(), ["P", "Q"])
    assert place == "the array predicted_2"
    with np.load(io.BytesIO(written)) as found:
        assert found["predicted_2"].tolist() == ["P", "Q"]
        for name, values in arrays.items():
            assert (found[name] == values).all()


cells = st.text(st.characters(exclude_characters="\r\n\t", exclude_categories=["Cs"]), max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1), st.data())
def test_any_cells(rows: list[tuple[str, str]], data: Any) -> None:
    text = "".join(f"{text}\t{label}\n" for text, label in rows).encode()
    reader = tsv()
    count = [length(row) for row in read(reader, text)]
    values = [data.draw(cells.filter(str.strip)) if n else None for n in count]
    _, written = beside(reader, text, values)
    lines = written.decode().split("\n")[:-1]
    assert ["\t".join(line.split("\t")[:2]) for line in lines] == [
        f"{text}\t{label}" for text, label in rows
    ]
    for line, value in zip(lines, values, strict=True):
        if value is not None:
            assert line.split("\t")[2] == value


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(cells, cells, max_size=3), min_size=1))
def test_any_objects(rows: list[dict[str, str]]) -> None:
    objects = [{**row, "text": "a", "label": "X"} for row in rows]
    text = "".join(json.dumps(row) + "\n" for row in objects).encode()
    place, written = beside(jsonl(max_line_bytes=10_000), text, ["P"] * len(rows))
    key = place.removeprefix("the key ")
    found = [json.loads(line) for line in written.decode().split("\n")[:-1]]
    assert [row.pop(key) for row in found] == ["P"] * len(rows)
    assert found == objects
