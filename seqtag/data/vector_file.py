"""Static word vectors out of a text file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Any, NamedTuple

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import csv

from seqtag.data.byte_lines import byte_lines, decode
from seqtag.data.normalization import Normalization
from seqtag.data.readers.lines import bad_line, excerpt
from seqtag.data.vocabulary import SPECIAL, Moments
from seqtag.data.word_vectors import WordVectors

LINES_AT_ONCE = 1000


class Entry(NamedTuple):
    """A line with a word."""

    number: int
    word: bytes
    values: bytes
    """Numbers with a blank between them."""


def read_word_vectors(
    path: str, *, limit: Any, normalization: Normalization
) -> tuple[WordVectors, list[str]]:
    """The words at the top of a file, and remarks on the file.

    The file is text in UTF-8, compressed or not, with a line for each word: the word, a blank, its
    numbers with blanks between them. A first line of two whole numbers (how many words, how many
    numbers each) is passed over. A word may hold blanks itself; of one that stands there twice,
    the first vector is taken. The numbers are standardised over the words taken.

    Args:
        path: of the file.
        limit: so many different words at most; None for all.
        normalization: of the words.

    Raises:
        ValueError: a line cannot be read, the file has no vectors, or the limit is none.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ValueError(
            f"data.word_vectors_limit is {limit!r}; it must be a whole number of 1 or more, or "
            "null for all words"
        )
    file = _VectorFile(path)
    lines = file.lines()
    blocks: list[NDArray[np.float32]] = []
    symbols: dict[str, None] = {}
    read = 0
    while limit is None or len(symbols) < limit:
        size = LINES_AT_ONCE if limit is None else min(LINES_AT_ONCE, limit - len(symbols))
        entries = list(islice(lines, size))
        if not entries:
            break
        words, numbers = file.parse(entries)
        kept = []
        for row, word in enumerate(map(normalization, words)):
            if word not in symbols:
                symbols[word] = None
                kept.append(row)
        blocks.append(numbers[kept])
        read += len(entries)
    if not symbols:
        raise ValueError(f"{path} (data.word_vectors) holds no vectors")
    remarks = []
    if repeated := read - len(symbols):
        remarks.append(
            f"data.word_vectors: {repeated:,} lines repeat a word; its first vector is taken"
        )
    if file.stated is not None and len(symbols) != limit and read != file.stated:
        remarks.append(
            f"data.word_vectors: the first line of {path} says {file.stated:,} words, and "
            f"{read:,} lines follow"
        )
    return WordVectors(list(symbols), file.width, _standardise(blocks)), remarks


def _standardise(blocks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Vectors ``[ids, width]`` of mean 0 and deviation 1 in each number, rows of zeros on top."""
    moments = Moments()
    for block in blocks:
        moments.add(block.astype(np.float64))
    table = np.zeros((SPECIAL + moments.count, len(moments.mean)), np.float32)
    start = SPECIAL
    for block in blocks:
        table[start : start + len(block)] = (block - moments.mean) / moments.deviation
        start += len(block)
    return table


class _VectorFile:
    """Words and numbers out of the lines of one file.

    Attributes:
        width: numbers on each line; 0 before the first is read.
        stated: how many words the first line says there are; None where it is a word's.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.width = 0
        self.stated: int | None = None

    def lines(self) -> Iterator[Entry]:
        """The lines with a word, cut into fields."""
        for number, line in byte_lines(self.path):
            # Other characters are no blanks here: files have words such as NEL and NBSP.
            text = line.replace(b"\t", b" ").rstrip(b" ")
            if number == 1 and self._is_header(text):
                continue
            self.width = self.width or _numbers_at_end(text)
            blanks = text.count(b" ")
            if self.width < 1 or blanks < self.width:
                problem = f"expected a word and {self.width or 'its'} numbers"
                raise bad_line(self.path, number, problem, line)
            # The blanks of a word come before those of the numbers.
            word = (
                text.rsplit(b" ", self.width)[0] if blanks > self.width else text.split(b" ", 1)[0]
            )
            if not word:
                raise bad_line(self.path, number, "no word before the numbers", line)
            yield Entry(number, word, text[len(word) + 1 :])

    def _is_header(self, text: bytes) -> bool:
        """Whether this first line says how many words there are, and how many numbers each."""
        fields = text.split(b" ")
        if len(fields) != 2 or not all(field.isdigit() for field in fields):
            return False
        self.stated, self.width = map(int, fields)
        if self.width < 1:
            raise bad_line(self.path, 1, "vectors must have 1 number or more", text)
        return True

    def parse(self, entries: Sequence[Entry]) -> tuple[list[str], NDArray[np.float32]]:
        """The words of some lines, and their numbers ``[words, width]``."""
        words = [decode(self.path, entry.number, entry.word) for entry in entries]
        try:
            values = _read_numbers(b" ".join(entry.values for entry in entries))
            if len(values) != len(entries) * self.width:
                raise ValueError("a number is missing")
        except ValueError:
            # The error of many lines does not tell which; one by one finds it.
            values = np.concatenate([self._parse_line(entry) for entry in entries])
        values = values.reshape(len(entries), self.width)
        for row in np.flatnonzero(~np.isfinite(values).all(1)):
            raise self._bad(entries[int(row)], "a number is NaN, infinite or too large")
        return words, values

    def _parse_line(self, entry: Entry) -> NDArray[np.float32]:
        for field in entry.values.split(b" "):
            if not _is_number(field):
                problem = (
                    f"{excerpt(field)} is no number; a line of data.word_vectors is a word and, "
                    f"in this file, {self.width} numbers, a blank before each"
                )
                raise self._bad(entry, problem)
        return _read_numbers(entry.values)

    def _bad(self, entry: Entry, problem: str) -> ValueError:
        return bad_line(self.path, entry.number, problem, b" ".join(entry[1:]))


def _numbers_at_end(text: bytes) -> int:
    """How many of a line's fields are numbers, from its end on and without the first."""
    return sum(1 for _ in takewhile(_is_number, reversed(text.split(b" ")[1:])))


def _is_number(field: bytes) -> bool:
    try:
        return len(_read_numbers(field)) == 1
    except ValueError:
        return False


def _read_numbers(text: bytes) -> NDArray[np.float32]:
    """Numbers out of text with a blank between them, several times as fast as ``float`` reads them.

    Raises:
        ValueError: one is none.
    """
    column = csv.read_csv(
        pyarrow.BufferReader(text.replace(b" ", b"\n")),
        read_options=csv.ReadOptions(use_threads=False, column_names=["number"]),
        parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types={"number": pyarrow.float32()}, null_values=[]
        ),
    ).column("number")
    values: NDArray[np.float32] = column.to_numpy()
    return values
