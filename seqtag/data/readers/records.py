"""Records of delimited files: a line each, or several where a quoted cell holds line ends."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from seqtag.data.readers.lines import Fault, Line, bad_line


class Record(NamedTuple):
    """One record of a file."""

    number: int
    """The line where it begins."""
    cells: list[str]
    raw: str
    """Its lines, as they stand in the file."""
    readable: bool
    """False where the fault of one of its lines was told of."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it, not even an empty cell beside another."""
        return len(self.cells) < 2 and not "".join(self.cells).strip(" ")


def plain_records(lines: Iterator[Line], character: str) -> Iterator[Record]:
    """One record a line, in which quotes are like any other character."""
    for number, text, raw, readable in lines:
        yield Record(number, text.split(character), raw, readable)


def quoted_records(
    lines: Iterator[Line], name: str, character: str, max_bytes: int, fault: Fault
) -> Iterator[Record]:
    """Records of a CSV file (RFC 4180).

    Args:
        lines: of the file.
        name: what messages call the file.
        character: between two cells.
        max_bytes: the longest record; else a quote that is never closed takes in the whole file.
        fault: told of a record that is too long or not valid CSV. Where it returns, the reading
            goes on behind the record's first line, for its end is not known.
    """
    # The csv module has one limit on cells for the whole process. It is only ever raised here,
    # and records stay within max_bytes.
    csv.field_size_limit(max(csv.field_size_limit(), max_bytes))
    feed = _Feed(lines, max_bytes)
    reader = csv.reader(feed, delimiter=character, strict=True)
    while True:
        feed.start()
        problem = ""
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = f"not valid CSV ({error})"
        except _TooLongError:
            limit = f"data.max_line_bytes={max_bytes}"
            problem = f"a record longer than {limit}; is a quote left open?"
        taken = feed.taken
        if not taken:
            return
        readable = all(line.readable for line in taken)
        if not problem:
            assert cells is not None
            yield Record(taken[0].number, cells, "".join(line.raw for line in taken), readable)
            continue
        if readable:
            fault(bad_line(name, taken[0].number, problem, taken[0].text))
        feed.give_back(taken[1:])


class _TooLongError(Exception):
    pass


class _Feed:
    """Hands lines to the csv module and remembers which ones its record took."""

    def __init__(self, lines: Iterator[Line], max_bytes: int) -> None:
        self.lines = lines
        self.max_bytes = max_bytes
        self.waiting: deque[Line] = deque()
        self.start()

    def start(self) -> None:
        self.taken: list[Line] = []
        self.size = 0

    def give_back(self, lines: list[Line]) -> None:
        self.waiting.extendleft(reversed(lines))

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.waiting.popleft() if self.waiting else next(self.lines)
        self.taken.append(line)
        self.size += len(line.raw)
        if self.size > self.max_bytes:
            raise _TooLongError
        return line.raw
