from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from data.readers.formats import conll, csv, jsonl, raw, tsv
from seqtag.data.readers.files import open_stream
from seqtag.data.readers.lines import Line, read_lines
from seqtag.data.readers.reader import Reader


def refuse(error: ValueError) -> None:
    raise error


def lines_of(
    data: bytes, *, encoding: str = "utf-8", max_line_bytes: int = 20, skip_lines: int = 0
) -> tuple[str, list[Line]]:
    leading, lines = read_lines(
        BytesIO(data),
        "f",
        encoding=encoding,
        max_line_bytes=max_line_bytes,
        skip_lines=skip_lines,
        fault=refuse,
    )
    return leading, list(lines)


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\n\n\nb", ["a", "", "", "b"]),
        (b"a\x0cb\x0bc\x1cd\n", ["a\x0cb\x0bc\x1cd"]),
        ("a\u0085b\u2028c\u2029d\n".encode(), ["a\u0085b\u2028c\u2029d"]),
        ("\ufeffa\nb\n".encode(), ["a", "b"]),
        ("\ufeff".encode(), []),
        ("\ufeff\n".encode(), [""]),
        ("a\n\ufeffb\n".encode(), ["a", "\ufeffb"]),
        (b"nul\x00\n", ["nul\x00"]),
    ],
)
def test_lines_end_at_line_feeds_only(data: bytes, texts: list[str]) -> None:
    leading, lines = lines_of(data)
    assert [line.text for line in lines] == texts
    assert [line.number for line in lines] == list(range(1, len(texts) + 1))
    assert (leading + "".join(line.raw for line in lines)).encode() == data


def test_skipped_lines_are_kept_as_leading_text_and_still_counted() -> None:
    leading, lines = lines_of("\ufeff# a\r\n# b\nx\n".encode(), skip_lines=2)
    assert leading == "\ufeff# a\r\n# b\n"
    assert lines == [Line(3, "x", "x\n")]


def test_more_lines_may_be_skipped_than_there_are() -> None:
    assert lines_of(b"a\n", skip_lines=5) == ("a\n", [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"ok\ncaf\xe9\n",
            "f:2: byte 4 is not utf-8; convert the file or set data.encoding: b'caf\\xe9\\n'",
        ),
        (
            b"\xff\xfea\x00\n\x00",
            "f:1: byte 1 is not utf-8; convert the file or set data.encoding: "
            "b'\\xff\\xfea\\x00\\n'",
        ),
        (
            b"half \xe2\x82",
            "f:1: byte 6 is not utf-8; convert the file or set data.encoding: b'half \\xe2\\x82'",
        ),
        (
            b"a\n" + b"x" * 21,
            "f:2: the line is longer than data.max_line_bytes=20: b'xxxxxxxxxxxxxxxxxxxxx'",
        ),
        (
            b"a\tO\rb\tO\r\n",
            "f:1: a carriage return inside the line; convert the file's line ends to \\n: "
            "'a\\tO\\rb\\tO'",
        ),
    ],
)
def test_a_line_that_is_not_text_is_an_error(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        lines_of(data)
    assert str(error.value) == message


def test_a_line_of_the_limit_itself_is_read() -> None:
    assert lines_of(b"x" * 19 + b"\n")[1][0].text == "x" * 19


def test_a_line_over_the_limit_is_never_read_whole() -> None:
    stream = BytesIO(b"x" * 1_000_000)
    with pytest.raises(ValueError, match="max_line_bytes"):
        list(raw(max_line_bytes=100).read(stream, "f"))
    assert stream.tell() == 101


def test_a_message_shows_the_start_of_a_long_line_only() -> None:
    with pytest.raises(ValueError, match="longer") as error:
        lines_of(b"y" * 500, max_line_bytes=400)
    assert str(error.value).endswith(": b'" + "y" * 70 + "'...")


def test_a_message_shows_the_byte_that_does_not_decode_far_into_a_line() -> None:
    with pytest.raises(ValueError, match="byte 301 is not utf-8") as error:
        lines_of(b"y" * 300 + b"\xff" + b"z" * 90, max_line_bytes=400)
    assert "y\\xffz" in str(error.value)


def test_other_encodings_are_read() -> None:
    assert lines_of("é\n".encode("latin-1"), encoding="latin-1")[1][0].text == "é"
    assert lines_of("語\n".encode("shift_jis"), encoding="shift_jis")[1][0].text == "語"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "utf-7", "cp037", "utf-8-sig"])
def test_an_encoding_whose_lines_cannot_be_cut_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match=f"data.encoding={encoding}: only encodings that spell"):
        raw(encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf8x", "rot13"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match=f"data.encoding={encoding}: no such text encoding"):
        raw(encoding=encoding)


def test_limits_that_would_read_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"data\.max_line_bytes=0: it must be 1 or more"):
        raw(max_line_bytes=0)
    with pytest.raises(ValueError, match=r"data\.skip_lines=-1: it must be 0 or more"):
        raw(skip_lines=-1)


def test_a_file_is_opened_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a b,c=d.txt"
    path.write_bytes(b"a\r\n")
    with open_stream(str(path)) as stream:
        assert stream.read() == b"a\r\n"


def test_a_file_that_cannot_be_opened_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.tsv: no such file \(a relative path starts"):
        open_stream("nowhere.tsv")
    with pytest.raises(ValueError, match=r": this is a folder; name a file in it"):
        open_stream(str(tmp_path))
    with pytest.raises(ValueError, match=r"cannot be opened \(File name too long\)"):
        open_stream("x" * 5000)

    def refuse(*_: object) -> None:
        raise PermissionError

    # A test run as root may read everything, so the refusal is staged.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValueError, match=r"secret\.tsv: no permission to read this file"):
        open_stream("secret.tsv")


@pytest.mark.parametrize(
    ("reader", "line"),
    [
        (raw(), b"a b\n"),
        (tsv(), b"a b\tx\n"),
        (csv(header=False, input=0, target=1), b'"a b",x\n'),
        (jsonl(), b'{"text": "a b", "label": "x"}\n'),
    ],
)
def test_a_row_is_given_before_the_next_line_is_asked_for(reader: Reader, line: bytes) -> None:
    stream = BytesIO(line * 3)
    rows = reader.read(stream, "f")
    for number in (1, 2):
        assert next(rows)["tokens"] == ["a", "b"]
        assert stream.tell() == number * len(line)


def test_a_sentence_is_given_when_the_next_one_begins() -> None:
    stream = BytesIO(b"a X\n\n\nb Y\n\nc Z\n")
    rows = conll().read(stream, "f")
    assert next(rows)["tokens"] == ["a"]
    assert stream.tell() == len(b"a X\n\n\nb Y\n")
