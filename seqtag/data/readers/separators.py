"""Lines of columns: cut into cells, and written with other cells in their place."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

from seqtag.data.readers.lines import LINE_ENDS

QUOTE = '"'


class Separator(ABC):
    """What stands between the cells of a line.

    Attributes:
        glue: what is written before a cell that is appended to a line.
    """

    glue: str

    @abstractmethod
    def cells(self, text: str) -> list[str]:
        """The cells of a line.

        Raises:
            ValueError: the line is not one of this kind; the message holds no place.
        """

    @abstractmethod
    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each cell stands in the line: start, and end (exclusive)."""

    @abstractmethod
    def spell(self, cell: str) -> str:
        """The cell as it is written.

        Raises:
            ValueError: a line of this kind cannot hold it.
        """

    def replace(self, text: str, cells: Mapping[int, str]) -> str:
        """The line with other cells at some indexes, and all else verbatim."""
        spans = self.spans(text)
        # From the right, so that the spans further left stay true.
        for index in sorted(cells, reverse=True):
            start, end = spans[index]
            text = text[:start] + self.spell(cells[index]) + text[end:]
        return text

    def append(self, text: str, cell: str) -> str:
        """The line with one more cell at its end."""
        return text + self.glue + self.spell(cell)


class Exact(Separator):
    """One character between two cells; quotes are like any other character."""

    def __init__(self, character: str) -> None:
        self.glue = character

    def cells(self, text: str) -> list[str]:
        """The texts between the separators, which may be empty."""
        return text.split(self.glue)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each cell stands in the line."""
        spans = []
        start = 0
        for cell in text.split(self.glue):
            spans.append((start, start + len(cell)))
            start += len(cell) + len(self.glue)
        return spans

    def spell(self, cell: str) -> str:
        """The cell itself."""
        return _plain(cell, self.glue)


class BlankRuns(Separator):
    """One or more blanks between two cells, so that no cell is empty."""

    glue = " "
    _cell = re.compile("[^ ]+")

    def cells(self, text: str) -> list[str]:
        """The texts between blanks; a tab is refused, for it would end up inside a token."""
        if "\t" in text:
            raise ValueError("a tab in a line whose columns are separated by blanks")
        return self._cell.findall(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each cell stands in the line."""
        return [match.span() for match in self._cell.finditer(text)]

    def spell(self, cell: str) -> str:
        """The cell itself, which cannot be empty."""
        if not cell:
            raise ValueError("an empty cell cannot be written between blanks; set data.missing")
        return _plain(cell, " \t")


class Quoted(Separator):
    """One character between two cells, and cells that hold it in double quotes (CSV, RFC 4180)."""

    def __init__(self, character: str) -> None:
        self.glue = character
        self._cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(character)}]*')

    def cells(self, text: str) -> list[str]:
        """The cells without their quotes; ``text`` is a whole record and may hold line ends."""
        # csv asks for lines; str.splitlines() would also break them at NEL or U+2028.
        lines = io.StringIO(text, newline="\n")
        return next(csv.reader(lines, delimiter=self.glue, strict=True), [])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each cell, with its quotes, stands in the record."""
        spans = []
        start = 0
        while match := self._cell.match(text, start):
            spans.append(match.span())
            if match.end() == len(text):
                break
            start = match.end() + len(self.glue)
        return spans

    def spell(self, cell: str) -> str:
        """The cell, in quotes where it needs them."""
        if not any(character in cell for character in (self.glue, QUOTE, *LINE_ENDS)):
            return cell
        return QUOTE + cell.replace(QUOTE, QUOTE + QUOTE) + QUOTE


def _plain(cell: str, separators: str) -> str:
    for character in separators + LINE_ENDS:
        if character in cell:
            raise ValueError(
                f"{cell!r} cannot be written into one column: it holds {character!r}; "
                "write this prediction as jsonl"
            )
    return cell
