"""Lines of two parts, split at the first blank: a label and a text, or a word and its symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from seqtag.batch import Output, Row, length, place
from seqtag.data.readers.cell_reader import CellReader
from seqtag.data.readers.columns import Column, refuse
from seqtag.data.readers.lines import BLANKS, LINE_ENDS, bad_line, excerpt, split_line_end
from seqtag.data.readers.values import spell

# Neither part loses a character: an NBSP, which stands in published files, is none of these blanks.
PARTS = re.compile(r"([^ \t]*)([ \t]*)(.*)", re.DOTALL)
COLUMNS = (0, 1)


@dataclass(kw_only=True)
class FirstBlankReader(CellReader):
    """One row a line: column 0 is what stands before the first blank or tab, column 1 the rest.

    A line without a blank has nothing in column 1, one that begins with a blank nothing in column
    0; a warning tells of both. A blank line is an empty row. Files have both columns in prediction
    too, and the target, whatever it is, is replaced.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.input not in COLUMNS or self.target not in (None, 1 - self.input):
            raise ValueError(
                f"data.input={self.input} data.target={self.target}: a line has the columns 0, "
                "before its first blank, and 1, behind it; name each once"
            )
        refuse("these lines have", self._other_columns(), "take data=tsv")
        self._other: int = 1 - self.input

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per line, as soon as the line is there."""
        leading, lines = self._lines(stream, name)
        for line in lines:
            row = Row(target=None, file=name, line=line.number, leading=leading, raw=line.raw)
            cells: dict[Column, str] = {}
            if line.text.strip(BLANKS):
                first, _, rest = _parts(line.text)
                cells = {0: first, 1: rest}
                for column, side in enumerate(("before", "behind")):
                    if not cells[column].strip(BLANKS):
                        self._warn(name, line.number, f"nothing {side} the first blank")
            try:
                self._fill(row, cells)
            except ValueError as error:
                self._fault(bad_line(name, line.number, str(error), line.text))
                continue
            leading = ""
            yield row

    def write(self, row: Row, output: Output) -> str:
        """The line with the prediction as its label, or behind its word."""
        if output.probabilities:
            raise ValueError(
                f"{place(row)}: such a line has no place for probabilities; predict raw lines "
                "(data=lines), or write it as jsonl"
            )
        text, end = split_line_end(row["raw"])
        first, blanks, rest = _parts(text)
        own = (first, rest)[self._other]
        if not text.strip(BLANKS) or self._holds([own], row, output.value):
            return row["leading"] + row["raw"]
        spelled = self._spelled(row, output.value)
        refused = LINE_ENDS if self._other else LINE_ENDS + BLANKS
        if any(character in spelled for character in refused):
            raise ValueError(
                f"{place(row)}: the prediction {excerpt(spelled)} holds a blank or a line end and "
                "cannot be told from the rest of the line; write it as jsonl"
            )
        if self._other == 0:
            return row["leading"] + spelled + (blanks or " " if rest else blanks) + rest + end
        return row["leading"] + first + (blanks or " ") + spelled + end

    def _spelled(self, row: Row, value: Any) -> str:
        if value is None or value == []:
            return self.missing if length(row) else ""
        return self.values.join(value) if isinstance(value, list) else spell(value)


def _parts(text: str) -> tuple[str, str, str]:
    """What stands before the first blanks, these, and what stands behind them."""
    match = PARTS.fullmatch(text)
    assert match is not None
    return match[1], match[2], match[3]
