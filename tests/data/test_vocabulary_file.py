import gzip
from pathlib import Path

import pytest

from seqtag.data.normalization import Normalization
from seqtag.data.vocabulary_file import read_vocabulary


def read(folder: Path, text: str | bytes, form: str | None = None) -> tuple[str, ...]:
    file = folder / "symbols.txt"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_vocabulary(str(file), Normalization(form)).symbols


@pytest.mark.parametrize(
    "text",
    [
        "b\na\n",
        "b\na",
        "\ufeffb\r\na\r\n",
        gzip.compress(b"b\na\n", mtime=0),
    ],
    ids=["plain", "no last line end", "byte order mark and CRLF", "gzip"],
)
def test_a_symbol_a_line_in_the_order_of_the_file(text: str | bytes, tmp_path: Path) -> None:
    assert read(tmp_path, text) == ("b", "a")


def test_symbols_are_taken_verbatim(tmp_path: Path) -> None:
    symbols = (" ", "a b", "\t", "\x85", "\u00a0", " a", "a ", "\u2028", "#", "e\u0301", "\u00e9")
    assert read(tmp_path, "\n".join(symbols)) == symbols


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("", None, r"symbols\.txt \(data\.vocabulary\) has no symbols: put one on each line"),
        ("a\n\nb\n", None, r"symbols\.txt:2: an empty line; each line of data\.vocabulary is"),
        ("a\nb\n\n", None, r"symbols\.txt:3: an empty line"),
        ("a\nb\na\n", None, r"symbols\.txt:3: line 1 has this symbol too: b'a'"),
        (
            "\u00e9\ne\u0301\n",
            "NFC",
            r"symbols\.txt:2: line 1 has this symbol too once it is normalised \(NFC\)",
        ),
        (
            b"a\nx\xffy\n",
            None,
            r"symbols\.txt:2: byte 2 is not utf-8; convert the file: b'x\\xffy'",
        ),
        ("a\rb\r", None, r"symbols\.txt:1: a carriage return inside the line"),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line(
    text: str | bytes, form: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, form)
