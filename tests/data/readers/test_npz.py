from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from data.readers.formats import COMMON, pairs, read
from seqtag.batch import Output
from seqtag.data.readers.npz.npz import NpzReader
from seqtag.data.tokenizers import Whitespace

X = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
ROWS = X.astype(float).tolist()
FLAT = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
unhurried = settings(deadline=None)


def npz(**changes: Any) -> NpzReader:
    return NpzReader(**(COMMON | {"input": "X", "target": "y", "lengths": None} | changes))


def ragged(**changes: Any) -> NpzReader:
    return npz(lengths="lengths", **changes)


def encode(**arrays: Any) -> bytes:
    stream = BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def decode(data: bytes) -> dict[str, NDArray[Any]]:
    with np.load(BytesIO(data)) as arrays:
        return dict(arrays)


def write(reader: NpzReader, data: bytes, outputs: list[Any]) -> dict[str, NDArray[Any]]:
    stream = BytesIO()
    writer = reader.writer(stream)
    for row, output in zip(read(reader, data), outputs, strict=True):
        writer.add(row, output if isinstance(output, Output) else Output(output))
    writer.close()
    return decode(stream.getvalue())


def gold(reader: NpzReader, data: bytes) -> dict[str, NDArray[Any]]:
    return write(reader, data, [row["target"] for row in read(reader, data)])


def same(left: dict[str, NDArray[Any]], right: dict[str, NDArray[Any]]) -> bool:
    return left.keys() == right.keys() and all(
        left[key].dtype == right[key].dtype and np.array_equal(left[key], right[key])
        for key in left
    )


@pytest.mark.parametrize(
    ("y", "targets"),
    [
        (["a", "_", ""], ["a", None, None]),
        ([1, 2, 3], [1, 2, 3]),
        ([0.5, 1.5, -2.0], [0.5, 1.5, -2.0]),
    ],
)
def test_a_row_of_the_array_is_a_row(y: Any, targets: Any) -> None:
    data = encode(X=X, y=np.array(y), more=np.eye(2))
    assert pairs(npz(), data) == list(zip(ROWS, targets, strict=True))
    assert [row["line"] for row in read(npz(), data)] == [1, 2, 3]
    assert same(gold(npz(), data), decode(data))


def test_arrays_by_column_are_read() -> None:
    data = encode(X=np.asfortranarray(X), y=np.array([1, 2, 3]))
    assert pairs(npz(), data) == list(zip(ROWS, [1, 2, 3], strict=True))


def test_rows_of_unequal_length_follow_one_another_or_are_padded() -> None:
    lengths, y = np.array([2, 0, 1]), np.array([7, 8, 9])
    padded = np.zeros((3, 4, 2))
    padded[0, :2], padded[2, :1] = FLAT[:2], FLAT[2:]
    expected = [([[1.0, 2.0], [3.0, 4.0]], 7), ([], 8), ([[5.0, 6.0]], 9)]
    for x in (FLAT, padded):
        data = encode(X=x, y=y, lengths=lengths)
        assert pairs(ragged(), data) == expected
        assert same(gold(ragged(), data), decode(data))


def test_targets_and_other_arrays_may_be_of_each_element() -> None:
    lengths = np.array([2, 1])
    reader = ragged(
        target_tokenizer=Whitespace(), features=["f", "g"], numeric_features=["n"], mask="m"
    )
    flat = {
        "X": FLAT,
        "y": np.array(["a", "b", "c"]),
        "f": np.array(["p", "q", "r"]),
        "m": np.array([True, False, True]),
    }
    rows = {"g": np.array(["s", "t"]), "n": np.array([1, 2]), "lengths": lengths}
    place = np.arange(3) < lengths[:, None]
    padded = {}
    for key, values in flat.items():
        padded[key] = np.zeros((2, 3, *values.shape[1:]), values.dtype)
        padded[key][place] = values
    for arrays in (flat, padded):
        data = encode(**arrays, **rows)
        first, second = read(reader, data)
        assert (first["target"], second["target"]) == (["a", None], ["c"])
        assert first["features"] == {"f": ["p", "q"], "g": ["s", "s"], "n": [1.0, 1.0]}
        assert second["features"] == {"f": ["r"], "g": ["t"], "n": [2.0]}
        assert same(gold(reader, data), decode(data))
        written = write(reader, data, [["x", "yy"], ["z"]])["y"]
        taken = written[place] if written.ndim == 2 else written
        assert taken.tolist() == ["x", "yy", "z"]


def test_single_elements_are_rows_and_elements_at_once() -> None:
    data = encode(X=FLAT, y=np.array(["a", "b", "c"]), lengths=np.ones(3, int))
    assert pairs(ragged(), data)[1] == ([[3.0, 4.0]], "b")
    assert pairs(ragged(target_tokenizer=Whitespace()), data)[1] == ([[3.0, 4.0]], ["b"])


OBJECTS = np.array([[[1.0]], [[1.0, 2.0]], [[1.0]]], dtype=object)


@pytest.mark.parametrize(
    ("arrays", "changes", "message"),
    [
        ({"X": X}, {}, "f: data.target=y: no such array, there are 'X'"),
        ({"y": X}, {}, "f: data.input=X: no such array, there are 'y'"),
        ({"X": X[0], "y": 1}, {}, "f: data.input=X has the shape (2, 2); give [rows, elements"),
        ({"X": np.array(5.0), "y": 1}, {}, "f: data.input=X has the shape (); give"),
        ({"X": X[:, :0], "y": [1, 2, 3]}, {}, "f: data.input=X has the shape (3, 0, 2), so"),
        ({"X": np.array(["a"]), "y": [1]}, {}, "f: data.input=X holds <U1; only vectors"),
        ({"X": X.astype(complex), "y": [1]}, {}, "f: data.input=X holds complex128; only"),
        ({"X": OBJECTS, "y": [1] * 3}, {}, "f: the array X holds Python objects, which are not"),
        ({"X": X, "y": np.array([None] * 3)}, {}, "f: the array y holds Python objects"),
        ({"X": X, "y": np.array([b"a"] * 3)}, {}, "f: data.target=y holds |S1; save numbers, or"),
        ({"X": X, "y": [1, 2]}, {}, "f: data.target=y has the shape (2,) where one value per row"),
        ({"X": X, "y": np.ones((3, 2))}, {}, "f: data.target=y has the shape (3, 2) where one"),
        ({"X": X, "y": [1] * 3, "lengths": [2] * 3}, {}, "f: the array lengths is not used; say"),
        ({"X": X, "y": [1] * 3}, {"lengths": "n"}, "f: data.reader.lengths=n: no such array"),
        ({"X": X, "n": [1.0] * 3}, {"lengths": "n"}, "f: data.reader.lengths=n: whole numbers"),
        ({"X": X, "n": [1, 1, -1]}, {"lengths": "n"}, "f: data.reader.lengths=n holds -1"),
        ({"X": X, "n": [1, 1, 3]}, {"lengths": "n"}, "f: data.input=X has the shape (3, 2, 2), "),
        ({"X": X, "n": [1, 1]}, {"lengths": "n"}, "f: data.input=X has the shape (3, 2, 2), and"),
        ({"X": FLAT, "n": [1, 1]}, {"lengths": "n"}, "f: data.input=X has the shape (3, 2), and"),
        ({"X": X, "y": [1, np.nan, 2]}, {}, "f:2: NaN where a number is expected"),
        ({"X": X, "y": [1, 2, np.inf]}, {}, "f:3: an infinite number"),
        ({"X": np.where(X == 7, np.nan, X), "y": [1] * 3}, {}, "f:2: element 2: NaN where a"),
    ],
)
def test_arrays_that_cannot_be_read_are_an_error(
    arrays: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    data = encode(**{key: np.asarray(value) for key, value in arrays.items()})
    with pytest.raises(ValueError, match="f:") as error:
        read(npz(**changes), data)
    assert str(error.value).startswith(message)


def test_columns_are_arrays() -> None:
    with pytest.raises(ValueError, match=r"data.input=0: it must be the name"):
        npz(input=0)


@pytest.mark.parametrize(
    ("y", "values", "written", "kind"),
    [
        (np.array(["a", "b", "c"]), ["long", None, "c"], ["long", "b", "c"], "<U4"),
        (np.array(["long", "b", "c"]), ["a", "b", "c"], ["a", "b", "c"], "<U4"),
        (np.array([1, 2, 3], np.int16), ["3", "2", None], [3, 2, 3], "int16"),
        (np.array([1, 2, 3]), ["3", "x", None], ["3", "x", "_"], "<U1"),
        (np.array([1, 2, 3]), [0.5, 1.5, None], [0.5, 1.5, np.nan], "float64"),
        (np.array([1, 2, 3], np.float32), [0.5, None, 1.5], [0.5, 2.0, 1.5], "float32"),
        (None, ["x", "yy", None], ["x", "yy", "_"], "<U2"),
        (None, [1.5, 2.5, None], [1.5, 2.5, np.nan], "float64"),
    ],
)
def test_predictions_have_the_targets_type_where_that_can_be(
    y: Any, values: Any, written: Any, kind: str
) -> None:
    data = encode(X=X) if y is None else encode(X=X, y=y)
    found = write(npz(read_target=False), data, values)
    assert found["y"].dtype == kind
    np.testing.assert_array_equal(found["y"], written)
    np.testing.assert_array_equal(found["X"], X)


def test_without_a_target_there_is_a_new_array() -> None:
    found = write(npz(target=None), encode(X=X, y=np.ones(3)), ["a", "b", "c"])
    assert found["prediction"].tolist() == ["a", "b", "c"]
    assert found["y"].tolist() == [1, 1, 1]


def test_several_targets_are_several_arrays() -> None:
    reader = npz(target=["y", "z"])
    data = encode(X=X, y=np.array([1.0, 2.0, 3.0]), z=np.array([4.0, 5.0, 6.0]))
    assert [target for _, target in pairs(reader, data)] == [[1, 4], [2, 5], [3, 6]]
    assert same(gold(reader, data), decode(data))
    assert write(reader, data, [[0, 1], [2, 3], [4, 5]])["z"].tolist() == [1, 3, 5]


def test_probabilities_have_arrays() -> None:
    shares = [{"a": 0.25, "b": 0.75}, {"a": 0.5, "b": 0.5}]
    outputs = [Output("b", shares[0]), Output("a", shares[1]), Output(None, {})]
    found = write(npz(read_target=False), encode(X=X), outputs)
    assert found["probability_labels"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(
        found["probabilities"], [[0.25, 0.75], [0.5, 0.5], [np.nan, np.nan]]
    )
    reader = ragged(read_target=False, target_tokenizer=Whitespace())
    data = encode(X=FLAT[:2], lengths=np.array([0, 2]))
    found = write(reader, data, [Output([], []), Output(["b", "a"], shares)])
    assert found["probabilities"].tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert found["y"].tolist() == ["b", "a"]
    sequences = [Output("p q", {"p q": 0.5}), Output("r", {"r": 0.25}), Output(None, {})]
    found = write(npz(read_target=False), encode(X=X), sequences)
    np.testing.assert_array_equal(found["probabilities"], [0.5, 0.25, np.nan])


def test_predictions_that_an_array_cannot_hold_are_an_error() -> None:
    with pytest.raises(ValueError, match="f:1: an array holds one value per row, not") as error:
        write(npz(read_target=False), encode(X=X), [["a", "b"]] * 3)
    assert "write it as jsonl" in str(error.value)


def test_an_archive_is_written_whole() -> None:
    reader = npz(read_target=False)
    rows = read(reader, encode(X=X))
    writer = reader.writer(BytesIO())
    with pytest.raises(ValueError, match="f:2: an archive is written whole"):
        writer.add(rows[1], Output("a"))


def test_a_stream_that_cannot_go_back_is_read_and_written() -> None:
    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: Any) -> int:
            raise OSError("not seekable")

    reader, stream = npz(), BytesIO()
    rows = list(reader.read(cast(Any, Pipe(encode(X=X, y=np.array([1, 2, 3])))), "stdin"))
    writer = reader.writer(stream)
    for row in rows:
        writer.add(row, Output("7"))
    writer.close()
    assert decode(stream.getvalue())["y"].tolist() == [7, 7, 7]


class Faults:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, message: str) -> None:
        self.errors.append(message)

    def warning(self, message: str) -> None:
        raise AssertionError(message)


def test_every_bad_row_is_told_and_the_others_are_read() -> None:
    reader, faults = npz(), Faults()
    data = encode(X=np.where(X == 5, np.nan, X), y=np.array([np.nan, 1, 2]))
    with reader.reporting(faults):
        assert [row["line"] for row in read(reader, data)] == [3]
    assert [message[:4] for message in faults.errors] == ["f:1:", "f:2:"]


def fault(reader: NpzReader, data: bytes) -> str:
    """Why a file cannot be read; "" where it can."""
    try:
        read(reader, data)
    except ValueError as error:
        return str(error)
    return ""


def test_a_wrong_shape_in_a_damaged_file_does_not_fill_the_memory() -> None:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        head = BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 5, 2)}
        )
        file.writestr("X.npy", head.getvalue())
    message = fault(npz(target=None), stream.getvalue())
    assert message == "f: the array X is damaged (its size is not that of its shape)"


SAMPLES = [
    encode(X=X, y=np.array(["a", "b", "c"])),
    encode(X=FLAT, y=np.array([1, 2]), lengths=np.array([1, 2])),
]


@unhurried
@given(data=st.data())
def test_any_bytes_are_rows_or_a_value_error(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.binary(max_size=40) | st.sampled_from(SAMPLES)))
    for _ in range(data.draw(st.integers(0, 4)) if content else 0):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.none() | st.integers(0, len(content)))
    for reader in (npz(), ragged()):
        message = fault(reader, bytes(content[:end]))
        assert message.startswith("f:") or not message
        assert "\n" not in message


LABELS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
    lambda text: text == text.strip(" \t\r\n") and text != "_"
)


@unhurried
@given(rows=st.lists(st.tuples(st.integers(0, 3), LABELS), min_size=1, max_size=5))
def test_predictions_are_read_back(rows: list[tuple[int, str]]) -> None:
    lengths = np.array([length for length, _ in rows])
    data = encode(X=np.arange(2.0 * lengths.sum()).reshape(-1, 2), lengths=lengths)
    written = write(ragged(read_target=False), data, [label for _, label in rows])
    again = pairs(ragged(), encode(**written))
    assert [(len(vectors), label) for vectors, label in again] == rows
