from __future__ import annotations

from io import BytesIO
from typing import Any, cast

import pyarrow as pa
import pytest
from datasets import ClassLabel, Dataset, Features, List, Value
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from data.readers.formats import COMMON, pairs, read
from seqtag.batch import Output
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.table import TableReader
from seqtag.data.tokenizers import Characters, Whitespace

KINDS = ["parquet", "file", "stream"]
unhurried = settings(deadline=None)


def table(**changes: Any) -> TableReader:
    return TableReader(**(COMMON | {"input": "text", "target": "label"} | changes))


def encode(content: pa.Table, kind: str, rows: int = 2) -> bytes:
    """The bytes of a table, so many rows a batch or group."""
    stream = BytesIO()
    if kind == "parquet":
        parquet.write_table(content, stream, row_group_size=rows)
    else:
        open_file = ipc.new_file if kind == "file" else ipc.new_stream
        with open_file(stream, content.schema) as file:
            file.write_table(content, max_chunksize=rows)
    return stream.getvalue()


def decode(data: bytes, kind: str) -> pa.Table:
    if kind == "parquet":
        return parquet.read_table(BytesIO(data))
    return (ipc.open_file if kind == "file" else ipc.open_stream)(BytesIO(data)).read_all()


def write(reader: Reader, data: bytes, outputs: list[Output]) -> bytes:
    stream = BytesIO()
    writer = reader.writer(stream)
    for row, output in zip(read(reader, data), outputs, strict=True):
        writer.add(row, output)
    writer.close()
    return stream.getvalue()


def fault(reader: Reader, data: bytes) -> str:
    """Why a file cannot be read; "" where it can."""
    try:
        read(reader, data)
    except ValueError as error:
        return str(error)
    return ""


def write_gold(reader: Reader, data: bytes) -> bytes:
    return write(reader, data, [Output(row["target"]) for row in read(reader, data)])


def predicted(content: pa.Table, values: list[Any], kind: str = "parquet", **changes: Any) -> Any:
    """The table that has these predictions."""
    reader = table(read_target=False, **changes)
    outputs = [value if isinstance(value, Output) else Output(value) for value in values]
    return decode(write(reader, encode(content, kind), outputs), kind)


def one(text: Any, label: Any) -> pa.Table:
    return pa.table({"text": text, "label": label})


VECTORS = [[[1.0, 2.5], [3.0, 4.0]], [[0.0, -1.0]], []]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        (["a b", "c", ""], ["x", None, "_"], [(["a", "b"], "x"), (["c"], None), ([], None)]),
        (pa.array(["a"], pa.large_string()), [1], [(["a"], 1)]),
        (pa.array(["a", "a"]).dictionary_encode(), [1.5, None], [(["a"], 1.5), (["a"], None)]),
        ([["a b", ""]], [["x", "_"]], [(["a b", ""], ["x", None])]),
        ([["a"]], pa.array(["x"]).dictionary_encode(), [(["a"], "x")]),
        ([["a"]], [[[1.0, 2.0]]], [(["a"], [[1.0, 2.0]])]),
        (["a", "b"], [True, False], [(["a"], "true"), (["b"], "false")]),
        (pa.array(["a"]), pa.array([7], pa.uint8()), [(["a"], 7)]),
        (VECTORS, [1, 2, 3], [(VECTORS[0], 1), (VECTORS[1], 2), ([], 3)]),
        (
            pa.array(VECTORS, pa.list_(pa.list_(pa.float32(), 2))),
            [1, 2, 3],
            [(VECTORS[0], 1), (VECTORS[1], 2), ([], 3)],
        ),
        (pa.array(VECTORS[:1], pa.list_(pa.list_(pa.float64()), 2)), [1], [(VECTORS[0], 1)]),
        ([[[1, 2], [3, 4]]], [1], [([[1.0, 2.0], [3.0, 4.0]], 1)]),
    ],
)
def test_each_row_of_a_table_is_a_row(kind: str, text: Any, label: Any, expected: Any) -> None:
    content = one(text, label)
    data = encode(content, kind)
    assert pairs(table(), data) == expected
    assert [row["line"] for row in read(table(), data)] == list(range(1, len(expected) + 1))
    assert decode(write_gold(table(), data), kind).equals(decode(data, kind), check_metadata=True)


def test_string_views_are_strings() -> None:
    content = one(pa.array(["a b"], pa.string_view()), pa.array(["x"], pa.string_view()))
    assert pairs(table(), encode(content, "stream")) == [(["a", "b"], "x")]


@pytest.mark.parametrize(
    ("text", "label", "message"),
    [
        (["a", None], ["x", "x"], "f:2: data.input=text is null; give a string"),
        ([1, 2], ["x", "x"], "f:1: data.input=text is a number; give a string"),
        ([[1.0], []], ["x", "x"], "f:1: element 1 is a number; give a string"),
        ([[[1.0]], [[float("nan")]]], ["x", "x"], "f:2: element 1: NaN where a number"),
        ([[[1.0]], [[float("inf")]]], ["x", "x"], "f:2: element 1: an infinite number"),
        ([[[1.0]], [[None]]], ["x", "x"], "f:2: element 1: null where a number is expected"),
        ([[[1.0]], [None]], ["x", "x"], "f:2: element 1 is null where the file has vectors"),
        ([[[1.0]], [[1.0], [1.0, 2.0]]], ["x", "x"], "f:2: element 2 has 2 numbers where"),
        (["a", "b"], [1.0, float("nan")], "f:2: NaN where a number is expected"),
        (["a", "b"], [1.0, float("-inf")], "f:2: an infinite number"),
        (["a", "b c"], [["x"], ["x"]], "f:2: 1 targets for 2 elements"),
        (["a"], pa.array([10**15], pa.timestamp("us")), "f:1: a datetime where a number is"),
        ([b"a"], ["x"], "f:1: data.input=text is a bytes; give a string"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_row_is_an_error(kind: str, text: Any, label: Any, message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        read(table(), encode(one(text, label), kind))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": "x"}, "f: data.input=x: no such column, the table has 'text, label'"),
        ({"target": "x"}, "f: data.target=x: no such column"),
        ({"features": ["x"]}, "f: data.features=x: no such column"),
    ],
)
def test_a_column_that_is_not_there_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(table(**changes), encode(one(["a"], ["x"]), "file"))


def test_a_column_that_is_there_twice_is_an_error() -> None:
    content = pa.Table.from_arrays(
        [pa.array(["a"])] * 2 + [pa.array([1])], ["text", "text", "label"]
    )
    with pytest.raises(ValueError, match=r"f: data.input=text: the column is there more than once"):
        read(table(), encode(content, "stream"))


@pytest.mark.parametrize(
    "changes", [{"input": 0}, {"target": [0]}, {"mask": 1, "target_tokenizer": Whitespace()}]
)
def test_columns_have_names(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it must be the name of a column"):
        table(**changes)


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_labels_stand_in_the_metadata_of_datasets(kind: str) -> None:
    features = Features(
        {
            "text": List(Value("string")),
            "label": ClassLabel(names=["neg", "pos"]),
            "tags": List(ClassLabel(names=["O", "B"])),
        }
    )
    content = {"text": [["a", "b"], ["c"]], "label": [1, -1], "tags": [[0, 1], [1]]}
    made = Dataset.from_dict(content, features=features)
    schema = features.arrow_schema
    whole = made.data.table.cast(schema)
    data = encode(whole, kind)
    assert [target for _, target in pairs(table(), data)] == ["pos", None]
    assert [target for _, target in pairs(table(target="tags"), data)] == [["O", "B"], ["B"]]
    assert decode(write_gold(table(), data), kind).equals(decode(data, kind), check_metadata=True)
    changed = predicted(whole, ["neg", "pos"], kind)
    assert changed.column("label").to_pylist() == [0, 1]
    assert changed.schema.equals(decode(data, kind).schema, check_metadata=True)
    # A label that the table does not know makes it a column of strings.
    assert predicted(whole, ["new", "pos"], kind).column("label").to_pylist() == ["new", "pos"]
    with pytest.raises(ValueError, match="f:1: the column label holds 2, and its labels are 2"):
        read(table(), encode(whole.set_column(1, schema.field(1), pa.array([2, 0])), kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("label", "values", "kept", "written"),
    [
        (["x", "y"], ["y", None], True, ["y", None]),
        ([1, 2], ["3", "4"], True, [3, 4]),
        ([1, 2], ["3", "x"], False, ["3", "x"]),
        ([1, 2], [0.5, 1.5], False, [0.5, 1.5]),
        ([True, False], ["false", "true"], True, [False, True]),
        (pa.array([1, 2], pa.float32()), [0.5, 1.5], True, [0.5, 1.5]),
        ([1.0, 2.0], ["1.5", "x"], False, ["1.5", "x"]),
        ([["x"], ["y"]], [["z"], ["w"]], True, [["z"], ["w"]]),
        (["x", "y"], [["z"], ["w"]], True, ["z", "w"]),
        (["x", None], [["z"], ["w"]], True, ["z", "w"]),
        ([[1.0], [2.0]], ["x", "y"], False, ["x", "y"]),
        (pa.array(["x", "y"]).dictionary_encode(), ["y", "z"], False, ["y", "z"]),
        ([1, 2], [None, None], True, [None, None]),
    ],
)
def test_predictions_have_the_targets_type_where_that_can_be(
    kind: str, label: Any, values: list[Any], kept: bool, written: list[Any]
) -> None:
    content = pa.table({"text": ["a", "b"], "label": label, "more": [1, 2]})
    per_element = Whitespace() if isinstance(values[0], list) else None
    changed = predicted(content, values, kind, target_tokenizer=per_element)
    assert changed.column_names == ["text", "label", "more"]
    assert changed.column("label").to_pylist() == written
    assert (changed.schema.field("label").type == content.schema.field("label").type) == kept
    assert changed.drop(["label"]).equals(content.drop(["label"]))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_target_there_is_a_new_column(kind: str) -> None:
    content = pa.table({"text": ["a b", "c", ""]})
    values = [["x", "y"], ["z"], []]
    expected: list[Any]
    for values, expected in (
        ([["x", "y"], ["z"], []], [["x", "y"], ["z"], []]),
        ([1.5, 2, None], [1.5, 2.0, None]),
        ([[1.5], [2.0], None], [[1.5], [2.0], None]),
        ([None, None, None], [None, None, None]),
    ):
        changed = predicted(content, values, kind, target=None)
        assert changed.column_names == ["text", "prediction"]
        assert changed.column("prediction").to_pylist() == expected


def test_probabilities_have_a_column() -> None:
    content = one(["a b", ""], [["x", "y"], []])
    shares = {"x": 0.25, "y": 0.75}
    entries = [{"label": "x", "probability": 0.25}, {"label": "y", "probability": 0.75}]
    changed = predicted(content, [Output("y", shares), Output(None, None)])
    assert changed.column("probabilities").to_pylist() == [entries, None]
    changed = predicted(
        changed,
        [Output(["y", "x"], [shares, shares]), Output([], [])],
        target_tokenizer=Whitespace(),
    )
    assert changed.column_names == ["text", "label", "probabilities"]
    assert changed.column("probabilities").to_pylist() == [[entries, entries], []]
    # Without new ones, another model's are kept as any other column.
    assert predicted(changed, [["x", "y"], []], target_tokenizer=Whitespace()).column(
        "probabilities"
    ).to_pylist() == [
        [entries, entries],
        [],
    ]


def test_predictions_that_the_settled_type_cannot_hold_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seqtag.data.readers.tables.writer.WRITTEN_ROWS", 1)
    with pytest.raises(ValueError, match="column label of type int64 cannot hold one of") as error:
        predicted(one(["a", "b", "c"], [1, 2, 3]), ["1", "2", "x"], "file")
    assert "data.target=null" in str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_many_batches_keep_their_order(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqtag.data.readers.tables.writer.WRITTEN_ROWS", 3)
    monkeypatch.setattr("seqtag.data.readers.tables.rows.ROWS", 2)
    parts = [pa.array([f"o{n}", "p"]).dictionary_encode() for n in range(0, 8, 2)]
    more = pa.chunked_array(parts if kind != "file" else [parts[0]] * 4)
    content = pa.table({"text": [f"w{n}" for n in range(8)], "label": ["x"] * 8, "more": more})
    values = [str(n) for n in range(8)]
    changed = predicted(content, values, kind)
    assert changed.column("text").to_pylist() == content.column("text").to_pylist()
    assert changed.column("label").to_pylist() == values
    assert changed.column("more").to_pylist() == content.column("more").to_pylist()


def test_rows_that_no_prediction_was_given_for_are_left_out() -> None:
    reader, stream = table(read_target=False), BytesIO()
    writer = reader.writer(stream)
    rows = read(reader, encode(one(["a", "b", "c"], ["x", "y", "z"]), "parquet", rows=3))
    for row in rows[::2]:
        writer.add(row, Output("p"))
    writer.close()
    assert decode(stream.getvalue(), "parquet").to_pylist() == [
        {"text": "a", "label": "p"},
        {"text": "c", "label": "p"},
    ]


def test_a_stream_that_cannot_go_back_is_read() -> None:
    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: Any) -> int:
            raise OSError("not seekable")

    data = encode(one(["a"], ["x"]), "parquet")
    (row,) = table().read(cast(Any, Pipe(data)), "stdin")
    assert row["tokens"] == ["a"]


def test_a_file_without_bytes_has_no_rows() -> None:
    assert read(table(), b"") == []
    assert write(table(), b"", []) == b""


class Faults:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, message: str) -> None:
        self.errors.append(message)

    def warning(self, message: str) -> None:
        raise AssertionError(message)


@pytest.mark.parametrize("kind", KINDS)
def test_every_bad_row_is_told_and_the_others_are_read(kind: str) -> None:
    reader, faults = table(), Faults()
    data = encode(one(["a", None, "b", None, "c"], ["x"] * 5), kind)
    with reader.reporting(faults):
        assert [row["line"] for row in read(reader, data)] == [1, 3, 5]
    assert [message[:4] for message in faults.errors] == ["f:2:", "f:4:"]


def test_text_that_is_not_unicode_is_an_error() -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    data = encode(one(broken, ["x"]), "stream")
    with pytest.raises(ValueError, match=r"f: rows 1 to 1: damaged .*UTF8"):
        read(table(), data)


@pytest.mark.parametrize("kind", KINDS)
def test_other_columns_are_read(kind: str) -> None:
    content = pa.table(
        {
            "text": [["a", "b"]],
            "label": [["x", "y"]],
            "case": [["N", "A"]],
            "length": [[1, None]],
            "mask": [[True, False]],
        }
    )
    reader = table(
        features=["case"],
        numeric_features=["length"],
        mask="mask",
        target_tokenizer=Whitespace(),
    )
    (row,) = read(reader, encode(content, kind))
    assert row["features"] == {"case": ["N", "A"], "length": [1.0, None]}
    assert row["target"] == ["x", None]


def test_references_may_be_a_list() -> None:
    content = pa.table({"text": ["a"], "label": ["x"], "more": [["y", "z"]]})
    reader = table(references=["more"], sequence_tokenizer=Characters())
    (row,) = read(reader, encode(content, "parquet"))
    assert row["references"] == ["x", "y", "z"]


SAMPLES = [encode(one(["a b", "c"] * 3, ["x", "y"] * 3), kind) for kind in KINDS]


@unhurried
@given(data=st.data())
def test_any_bytes_are_rows_or_a_value_error(data: st.DataObject) -> None:
    """Garbage, and tables in which some bytes are others or the end is missing."""
    content = bytearray(data.draw(st.binary(max_size=40) | st.sampled_from(SAMPLES)))
    for _ in range(data.draw(st.integers(0, 4)) if content else 0):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.none() | st.integers(0, len(content)))
    message = fault(table(), bytes(content[:end]))
    assert message.startswith("f:") or not message
    assert "\n" not in message


@pytest.mark.parametrize("kind", KINDS)
@unhurried
@given(
    rows=st.lists(
        st.tuples(st.lists(st.text(), min_size=1), st.text(min_size=1)), min_size=1, max_size=5
    )
)
def test_predictions_are_read_back(kind: str, rows: list[tuple[list[str], str]]) -> None:
    content = pa.table({"text": [tokens for tokens, _ in rows]})
    changed = predicted(content, [label for _, label in rows], kind, target=None)
    again = pairs(table(target="prediction", missing=""), encode(changed, kind))
    stripped = [label.strip(" \t\r\n") or None for _, label in rows]
    assert [tokens for tokens, _ in again] == [tokens for tokens, _ in rows]
    assert [target for _, target in again] == stripped
