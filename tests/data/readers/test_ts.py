from __future__ import annotations

import os
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.readers.formats import COMMON, pairs, read, write_gold
from seqtag.batch import Output
from seqtag.data.readers.ts.ts import TsReader
from seqtag.data.tokenizers import Whitespace

unhurried = settings(deadline=None)
HEAD = b"# two speakers\n@problemName p\n@timeStamps false\n@classLabel true x y\n\n@data\n"
TWO = HEAD + b"1,2,3:4,5,6:x\n# between\n\n7.5:-8e1:y\n"
SERIES = [([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], "x"), ([[7.5, -80.0]], "y")]


def ts(**changes: Any) -> TsReader:
    settings = {"input": "channels", "target": "label", "missing": "?", "fill": None}
    return TsReader(**(COMMON | settings | changes))


def write(reader: TsReader, data: bytes, values: list[Any]) -> bytes:
    stream = BytesIO()
    writer = reader.writer(stream)
    for row, value in zip(read(reader, data), values, strict=True):
        writer.add(row, value if isinstance(value, Output) else Output(value))
    writer.close()
    return stream.getvalue()


def check_round_trip(reader: TsReader, data: bytes) -> None:
    targets = [row["target"] for row in read(reader, data)]
    assert write(reader, data, targets) == data
    assert write_gold(reader, data) == data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (TWO, SERIES),
        (TWO.replace(b"\n", b"\r\n"), SERIES),
        (TWO.rstrip(b"\n"), SERIES),
        (b"\xef\xbb\xbf" + TWO + b"\n#end\n", SERIES),
        (TWO.replace(b"@data", b"\t@DATA "), SERIES),
        (TWO.replace(b"@classLabel true", b"@CLASSLABEL TRUE\t"), SERIES),
        (TWO.replace(b"1,2,3:4", b" 1, 2,3 : 4").replace(b":x", b": x "), SERIES),
        (TWO.replace(b":x", b":?"), [(SERIES[0][0], None), SERIES[1]]),
        (HEAD + b"::x\n", [([], "x")]),
        (HEAD + b":y\n", [([], "y")]),
        (HEAD.replace(b"@class", b"@univariate true\n@class") + b"1,2:x\n", [([[1], [2]], "x")]),
        (b"@targetLabel true\n@data\n1,2:0.50\n3:2\n", [([[1], [2]], "0.50"), ([[3]], "2")]),
    ],
)
def test_a_line_is_a_series(data: bytes, expected: Any) -> None:
    assert pairs(ts(), data) == expected
    check_round_trip(ts(), data)


def test_lines_have_their_numbers() -> None:
    assert [row["line"] for row in read(ts(), TWO)] == [7, 10]


def test_channels_can_be_chosen() -> None:
    assert pairs(ts(input=[1]), TWO)[0][0] == [[4.0], [5.0], [6.0]]
    assert pairs(ts(input=[1, 0]), TWO)[0][0] == [[4.0, 1.0], [5.0, 2.0], [6.0, 3.0]]


def test_missing_values_can_be_filled() -> None:
    data = TWO.replace(b"2", b"?").replace(b"5,6", b"NaN,6")
    assert pairs(ts(fill=0.0), data)[0][0] == [[1.0, 4.0], [0.0, 0.0], [3.0, 6.0]]
    check_round_trip(ts(fill=0.0), data)


def test_a_label_may_hold_one_for_each_element() -> None:
    reader = ts(target_tokenizer=Whitespace())
    data = HEAD + b"1,2:x ?\n3:y\n"
    assert [target for _, target in pairs(reader, data)] == [["x", None], ["y"]]
    assert write(reader, data, [["y", "x"], ["y"]]) == HEAD + b"1,2:y x\n3:y\n"


def test_a_file_without_series_or_bytes_has_no_rows() -> None:
    assert read(ts(), b"") == []
    assert read(ts(), HEAD) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1,2:x\n", "f:1: a series before the line @data: '1,2:x'"),
        (b"# a\n@classLabel true x\n", "f: no line @data; a .ts file has its series there"),
        (b"@timestamps true\n@data\n", "f:2: @timestamps true: series with a time for each"),
        (b"@classLabel true\n@data\n", "f:2: @classLabel true: the names of the labels must"),
        (b"@classLabel yes\n@data\n", "f:2: @classlabel 'yes': it must be true or false"),
        (b"@dimensions no\n@data\n", "f:2: @dimensions 'no': it must be a number of channels"),
        (b"@classLabel false\n@data\n1,2\n", "f:2: the file has no labels (neither @classLabel"),
        (HEAD + b"1,2:3:x\n", "f:7: channel 1 has 1 values and channel 0 has 2; all channels"),
        (HEAD + b"1:2:x\n1:x\n", "f:8: 1 channels where the first series has 2: '1:x'"),
        (HEAD[:-6] + b"@dimensions 3\n@data\n1:2:x\n", "f:8: 2 channels where @dimensions says 3"),
        (HEAD + b"1,2\n", "f:7: one part where channels and a label are expected"),
        (HEAD + b"1:z\n", "f:7: the label 'z' is none of those of @classLabel: '1:z'"),
        (HEAD + b"1,?:x\n", "f:7: channel 0 has a missing value (?); data.reader.fill=0.0 puts"),
        (HEAD + b"1:nan:x\n", "f:7: channel 1 has a missing value (nan); data.reader.fill=0.0"),
        (HEAD + b"1,:x\n", "f:7: channel 0: '' is not a finite number"),
        (HEAD + b"1,inf:x\n", "f:7: channel 0: 'inf' is not a finite number"),
        (HEAD + b"1,1e999:x\n", "f:7: channel 0: '1e999' is not a finite number"),
        (HEAD + b"(0,1),(1,2):x\n", "f:7: values with timestamps, (time,value), are not read"),
    ],
)
def test_what_is_no_series_is_an_error(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        read(ts(), data)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": "x"}, r"data.input=x: give channels, for all of them, or a list of their"),
        ({"input": ["x"]}, r"data.input=\['x'\]: give channels"),
        ({"input": [-1]}, r"data.input=\[-1\]: give channels"),
        ({"target": "x"}, r"data.target=x: a .ts file has label, or null for none"),
        ({"features": ["x"]}, r"data.features=\['x'\]: a .ts file has channels and a label only"),
    ],
)
def test_columns_are_channels_and_a_label(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ts(**changes)


def test_a_channel_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"f:7: data.input=\[2\]: the series has 2 channels"):
        read(ts(input=[2]), TWO)


class Notes:
    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, message: str) -> None:
        self.errors.append(message)

    def warning(self, message: str) -> None:
        self.warnings.append(message)


def test_every_bad_line_is_told_and_the_others_are_read() -> None:
    reader, notes = ts(), Notes()
    head = HEAD.replace(b"@class", b"@equalLength true\n@class")
    with reader.reporting(notes):
        rows = read(reader, head + b"1,:x\n1,2:x\n1:z\n3:y\n")
    assert [row["line"] for row in rows] == [9, 11]
    assert [message[:5] for message in notes.errors] == ["f:8: ", "f:10:"]
    assert notes.warnings == [
        "f:11: @equalLength true, and a series of 1 values where the first has 2"
    ]
    assert rows[0]["leading"] == head.decode()


def test_predictions_replace_labels_and_nothing_else() -> None:
    assert write(ts(read_target=False), TWO, ["y", "y"]) == TWO.replace(b":x", b":y")
    assert write(ts(), TWO, [None, "y"]) == TWO.replace(b":x", b":?")


def test_the_header_names_labels_that_are_new() -> None:
    changed = TWO.replace(b"true x y", b"true x y a b").replace(b":x", b":b").replace(b":y", b":a")
    assert write(ts(), TWO, ["b", "a"]) == changed
    with pytest.raises(ValueError, match="f:7: the header has no @classLabel 'b'"):
        ts().write(read(ts(), TWO)[0], Output("b"))


def test_a_file_without_labels_gets_them() -> None:
    for head in (b"@classLabel false\r\n", b""):
        data = head + b"@data\n1,2:3,4\n5:6\n"
        reader = ts(read_target=False)
        assert pairs(reader, data)[0] == ([[1.0, 3.0], [2.0, 4.0]], None)
        end = b"\r\n" if head else b"\n"
        labelled = b"@classLabel true a b" + end
        series = b"1,2:3,4:b\n5:6:a\n"
        assert write(reader, data, ["b", "a"]) == labelled + b"@data\n" + series
    written = write(ts(read_target=False), b"@data\n1\n2\n", [0.5, 1.25])
    assert written == b"@targetLabel true\n@data\n1:0.5\n2:1.25\n"
    assert pairs(ts(), written) == [([[1.0]], "0.5"), ([[2.0]], "1.25")]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (Output("a:b"), "f:7: 'a:b' cannot be a label of a .ts file"),
        (Output("a\nb"), r"f:7: @classLabel cannot name 'a\\nb', for its blanks"),
        (Output("a b"), "f:7: @classLabel cannot name 'a b', for its blanks"),
        (Output("\u20ac"), "f:7: '€' cannot be written in data.encoding=latin-1"),
        (Output("x", {"x": 1.0}), "f:7: a .ts file has no place for probabilities; write it as"),
    ],
)
def test_predictions_that_the_format_cannot_hold_are_an_error(output: Output, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write(ts(encoding="latin-1"), HEAD + b"1:x\n", [output])


PIECES = [
    *(
        b"@data\n",
        b"@data\n",
        b"@classLabel true x y\n",
        b"@targetLabel true\n",
        b"@dimensions 2\n",
    ),
    *(b"\n", b"\r\n", b"\r", b":", b":", b",", b"1", b"2.5", b"x", b"y", b"?", b"NaN", b"#", b"@"),
    *(b" ", b"\t", b"1,2:x\n", b"1:2:y\n", b"(0,1)", b"\xff", b"\xef\xbb\xbf", b"\x00", b"inf"),
]
FILES = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=40)


def outcome(reader: TsReader, data: bytes) -> str:
    try:
        read(reader, data)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("reader", [ts(), ts(fill=1.0, read_target=False), ts(input=[0])])
@unhurried
@given(data=FILES | FILES.map(lambda file: HEAD + file))
def test_any_bytes_are_rows_that_give_the_file_back_or_a_value_error(
    reader: TsReader, data: bytes
) -> None:
    message = outcome(reader, data)
    assert message.startswith("f:") or not message
    assert "\n" not in message
    if not message and reader.read_target and read(reader, data):
        check_round_trip(reader, data)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
LABELS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1).filter(
    lambda text: ":" not in text and text != "?"
)


@unhurried
@given(
    rows=st.lists(
        st.tuples(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4), LABELS),
        min_size=1,
        max_size=5,
    )
)
def test_predictions_are_read_back(rows: list[tuple[list[tuple[float, float]], str]]) -> None:
    lines = [
        ":".join(",".join(map(repr, channel)) for channel in zip(*series, strict=True))
        for series, _ in rows
    ]
    data = ("@data\n" + "\n".join(lines)).encode()
    reader = ts(read_target=False, max_line_bytes=10_000)
    written = write(reader, data, [label for _, label in rows])
    expected = [([list(map(float, vector)) for vector in series], label) for series, label in rows]
    assert pairs(ts(max_line_bytes=10_000), written) == expected


@pytest.mark.skipif("SEQTAG_BENCHMARK_DATA" not in os.environ, reason="needs the data sets")
def test_japanese_vowels() -> None:
    folder = Path(os.environ["SEQTAG_BENCHMARK_DATA"], "speech_japanese_vowels")
    reader = ts(max_line_bytes=100_000)
    counts = {"TRAIN": (270, 7, 26), "TEST": (370, 7, 29)}
    for split, expected in counts.items():
        data = (folder / f"JapaneseVowels_{split}.ts").read_bytes()
        rows = read(reader, data)
        lengths = [len(row["vectors"]) for row in rows]
        assert (len(rows), min(lengths), max(lengths)) == expected
        assert {len(vector) for row in rows for vector in row["vectors"]} == {12}
        labels = Counter(row["target"] for row in rows)
        if split == "TRAIN":
            assert labels == dict.fromkeys("123456789", 30)
        else:
            assert labels == dict(
                zip("123456789", (31, 35, 88, 44, 29, 24, 40, 50, 29), strict=True)
            )
        check_round_trip(reader, data)
