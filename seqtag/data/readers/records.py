"""Records of delimited files: a line each, or several where a quoted cell holds line ends."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from seqtag.data.readers.lines import Line, bad_line


class Record(NamedTuple):
    """One record of a file."""

    number: int
    """The line where it begins."""
    cells: list[str]
    raw: str
    """Its lines, as they stand in the file."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it, not even an empty cell beside another."""
        return len(self.cells) < 2 and not "".join(self.cells).strip(" ")


def plain_records(lines: Iterator[Line], character: str) -> Iterator[Record]:
    """One record a line, in which quotes are like any other character."""
    for line in lines:
        yield Record(line.number, line.text.split(character), line.raw)


def quoted_records(
    lines: Iterator[Line], name: str, character: str, max_bytes: int
) -> Iterator[Record]:
    """Records of a CSV file (RFC 4180).

    Args:
        lines: of the file.
        name: what messages call the file.
        character: between two cells.
        max_bytes: the longest record; else a quote that is never closed takes in the whole file.

    Raises:
        ValueError: a record is too long or not valid CSV.
    """
    # The csv module has one limit on cells for the whole process. It is only ever raised here,
    # and records stay within max_bytes.
    csv.field_size_limit(max(csv.field_size_limit(), max_bytes))
    feed = _Feed(lines, name, max_bytes)
    reader = csv.reader(feed, delimiter=character, strict=True)
    while True:
        feed.start()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise feed.problem(f"not valid CSV ({error})") from None
        if cells is None:
            return
        yield Record(feed.taken[0].number, cells, "".join(line.raw for line in feed.taken))


class _Feed:
    """Hands lines to the csv module and remembers which ones its record took."""

    def __init__(self, lines: Iterator[Line], name: str, max_bytes: int) -> None:
        self.lines = lines
        self.name = name
        self.max_bytes = max_bytes
        self.start()

    def start(self) -> None:
        self.taken: list[Line] = []
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self.lines)
        self.taken.append(line)
        self.size += len(line.raw)
        if self.size > self.max_bytes:
            limit = f"data.max_line_bytes={self.max_bytes}"
            raise self.problem(f"a record longer than {limit}; is a quote left open?")
        return line.raw

    def problem(self, text: str) -> ValueError:
        first = self.taken[0]
        return bad_line(self.name, first.number, text, first.text)
