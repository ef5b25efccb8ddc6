"""What is likely not meant in a delimited file: another separator, a header, another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from seqtag.data.readers.lines import Line
from seqtag.data.readers.values import parse_number

SEPARATORS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "|"}
FIRST_LINES = 10
"""Lines that are looked at for another separator."""

FEW = 3
"""Rows below which nothing is said of a file."""

MANY = 1000
"""Targets that are looked at."""

Warn = Callable[[int, str], None]


def watch_separator(lines: Iterator[Line], character: str, warn: Warn) -> Iterator[Line]:
    """The lines, with a warning where another character would separate columns, and this none."""
    seen: list[Line] = []
    for line in lines:
        if line.text.strip(" "):
            seen.append(line)
        if len(seen) == FIRST_LINES:
            _judge_separator(seen, character, warn)
            yield line
            yield from lines
            return
        yield line
    _judge_separator(seen, character, warn)


def _judge_separator(lines: list[Line], character: str, warn: Warn) -> None:
    if len(lines) < 2 or any(character in line.text for line in lines):
        return
    for other, name in SEPARATORS.items():
        counts = {line.text.count(other) for line in lines}
        if len(counts) == 1 and counts != {0}:
            warn(
                lines[0].number,
                f"one column, where {name!r} as data.reader.separator would give "
                f"{counts.pop() + 1} in each of the first {len(lines)} lines",
            )


class ContentWatch:
    """Sees the rows of a file pass, and judges them at its end.

    Args:
        words: whether elements are words.
    """

    def __init__(self, *, words: bool) -> None:
        self._words = words
        self._first: tuple[int, str] | None = None
        self._line = 0
        self._targets: Counter[str] = Counter()
        self._numbers = self._rows = self._blank = 0
        self._single = True

    def add(self, line: int, elements: int | None, target: Any) -> None:
        """A row of some elements, None for an empty line, and its target."""
        if elements is None:
            self._blank += 1
            return
        self._line = self._line or line
        self._rows += 1
        self._single = self._single and elements == 1
        if isinstance(target, str) and self._targets.total() < MANY:
            self._first = self._first or (line, target)
            self._targets[target] += 1
            self._numbers += is_number(target)

    def judge(self, warn: Warn, *, header: tuple[int, str | None] | None) -> None:
        """Warn of what all the rows together show.

        Args:
            warn: told of each line and what is odd.
            header: line of the header and how it calls the target, None where that was known
                before; None where the file is read as one without a header.
        """
        if self._rows >= FEW and self._words and self._single and self._blank > 1:
            warn(
                self._line,
                "one element in every row, and empty lines between them: is this data=conll?",
            )
        total = self._targets.total()
        if total < FEW or self._first is None:
            return
        if header is not None and header[1] is not None:
            line, name = header
            [(common, count)] = self._targets.most_common(1)
            if (self._numbers == total and is_number(name)) or (common == name and count > 1):
                warn(
                    line,
                    f"the header calls the target {name!r}, which looks like a target; if this "
                    "line is a row, set data.reader.header=false",
                )
        elif header is None and not is_number(self._first[1]) and self._numbers == total - 1:
            warn(
                self._first[0],
                f"the target {self._first[1]!r} where all others are numbers; if this line names "
                "the columns, set data.reader.header=true",
            )


def is_number(text: str | None) -> bool:
    """Whether a text spells a finite number."""
    try:
        parse_number(text or "")
    except ValueError:
        return False
    return True
