import gzip
from pathlib import Path

import numpy as np
import pytest

from seqtag.data import vector_file
from seqtag.data.normalization import Normalization
from seqtag.data.vector_file import read_word_vectors
from seqtag.data.word_vectors import WordVectors

VERBATIM = Normalization(None)
LINES = ["the 1 10 0.5", "of 3 10 0.5", "to 5 40 0.5"]


def read(
    path: Path, text: str | bytes, *, limit: int | None = None, form: str | None = None
) -> tuple[WordVectors, list[str]]:
    file = path / "vectors.txt"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_word_vectors(str(file), limit=limit, normalization=Normalization(form))


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n".join(["3 3", *LINES]) + "\n",
        "\r\n".join(LINES) + "\r\n",
        "\ufeff" + "\n".join(LINES),
        " \n".join(["3 3", *LINES]) + " \n",
        "\n".join(LINES).replace(" ", "\t"),
        gzip.compress("\n".join(LINES).encode(), mtime=0),
    ],
    ids=["GloVe", "header", "CRLF", "byte order mark", "blank at end", "tabs", "gzip"],
)
def test_every_layout_gives_words_and_standardised_numbers(
    text: str | bytes, tmp_path: Path
) -> None:
    found, remarks = read(tmp_path, text)
    assert found.symbols == ("the", "of", "to")
    assert (len(found), found.width, remarks) == (5, 3, [])
    assert found.table is not None
    assert found.table.dtype == np.float32
    assert found.table[:2].tolist() == [[0, 0, 0], [0, 0, 0]]
    # Means 3, 20, 0.5; deviations sqrt(8/3), sqrt(200); the last number never varies.
    one, two = 2 / (8 / 3) ** 0.5, 10 / 200**0.5
    expected = [[-one, -two, 0], [0, -two, 0], [one, 2 * two, 0]]
    np.testing.assert_allclose(found.table[2:], expected, rtol=1e-6)


def test_words_may_hold_blanks_and_odd_characters(tmp_path: Path) -> None:
    words = [". . .", "a b", "\x85", "\u00a0", "at name@x.org", "3", "\u2028"]
    text = "\n".join(f"{word} {n} -1e-3" for n, word in enumerate(words))
    assert read(tmp_path, text)[0].symbols == tuple(words)


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_word_that_stands_twice_keeps_its_first_vector(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_file, "LINES_AT_ONCE", size)
    found, remarks = read(tmp_path, "a 1\nb 3\na 100\na 7\n")
    assert found.symbols == ("a", "b")
    assert found.table is not None
    assert found.table.tolist() == [[0], [0], [-1], [1]]
    assert remarks == ["data.word_vectors: 2 lines repeat a word; its first vector is taken"]


def test_spellings_that_are_normalised_to_one_are_one_word(tmp_path: Path) -> None:
    found, remarks = read(tmp_path, "\u00e9 1\ne\u0301 3\n", form="NFC")
    assert found.symbols == ("\u00e9",)
    assert len(remarks) == 1


def test_no_more_is_read_than_the_words_that_are_taken(tmp_path: Path) -> None:
    found, remarks = read(tmp_path, "9 1\na 1\na 5\nb 3\nno number here\n", limit=2)
    assert found.symbols == ("a", "b")
    assert len(remarks) == 1  # nothing of the words that the first line says there are


def test_a_file_that_was_cut_off_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    assert read(tmp_path, "3 1\na 1\nb 2\n")[1] == [
        f"data.word_vectors: the first line of {file} says 3 words, and 2 lines follow"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"vectors\.txt \(data\.word_vectors\) holds no vectors"),
        ("2 3\n", r"vectors\.txt \(data\.word_vectors\) holds no vectors"),
        ("a 1 2\nb 1\n", r"vectors\.txt:2: expected a word and 2 numbers: b'b 1'"),
        ("a 1 2\n\nb 1 2\n", r"vectors\.txt:2: expected a word and 2 numbers: b''"),
        ("a 1 2\nb c 3\n", r"vectors\.txt:2: b'c' is no number; a line of data\.word_vectors"),
        ("a 1 2\nb  3\n", r"vectors\.txt:2: b'' is no number"),
        ("a 1 2\nb 1,5 3\n", r"vectors\.txt:2: b'1,5' is no number"),
        ("a 1 2\nb 1_0 3\n", r"vectors\.txt:2: b'1_0' is no number"),
        ("a 1 2\nb 0x1 3\n", r"vectors\.txt:2: b'0x1' is no number"),
        ("a 1 2\n 1 2\n", r"vectors\.txt:2: no word before the numbers: b' 1 2'"),
        ("a 1 2\nb nan 2\n", r"vectors\.txt:2: a number is NaN, infinite or too large: b'b nan 2'"),
        ("a 1 2\nb 1 -inf\n", r"vectors\.txt:2: a number is NaN, infinite"),
        ("a 1 2\nb 1 1e60\n", r"vectors\.txt:2: a number is NaN, infinite or too large"),
        ("1 0\na 1\n", r"vectors\.txt:1: vectors must have 1 number or more"),
        ("words only here\n", r"vectors\.txt:1: expected a word and its numbers"),
        ("a 1 2\rb 1 2\r", r"vectors\.txt:1: a carriage return inside the line"),
        (b"a 1 2\n\xff 1 2\n", r"vectors\.txt:2: byte 1 is not utf-8; convert the file"),
        (b"a" * (1 << 20) + b" 1\n", r"vectors\.txt:1: the line is longer than 1,048,576 bytes"),
        (
            gzip.compress(b"a 1 2\n" * 99, mtime=0)[:-9],
            r"vectors\.txt:\d+: the file is damaged or cut off",
        ),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line(
    text: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "all"])
def test_a_limit_that_is_none_is_refused(limit: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"data\.word_vectors_limit is .*; it must be a whole"):
        read(tmp_path, "a 1\n", limit=limit)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.txt: no such file"):
        read_word_vectors(str(tmp_path / "none.txt"), limit=None, normalization=VERBATIM)
