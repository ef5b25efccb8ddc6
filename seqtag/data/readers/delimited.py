"""One sequence a line or record, in columns: TSV and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.columns import Column, Table, find_column, find_target, listed
from seqtag.data.readers.lines import Line, bad_line, split_line_end
from seqtag.data.readers.reader import Reader, element_count
from seqtag.data.readers.records import Record, plain_records, quoted_records
from seqtag.data.readers.separators import Exact, Quoted, Separator
from seqtag.data.readers.values import parse_number, spell, spell_probabilities

CHARACTERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
PREDICTION = "prediction"
PROBABILITY = "probability"


class DelimitedRow(Row, total=False):
    """A row of a file that may name its columns."""

    header: list[str]
    """Names of the file's columns, where it has them; writing finds the target by it."""


@dataclass(kw_only=True)
class DelimitedReader(Reader):
    """One sequence a record; columns by name where the file has a header, else by number.

    Blanks around a cell are not part of it. An empty target cell is a missing target. A blank
    line is an empty row, so that every line has its row. With several input columns each holds
    one number per element, split by the input's tokenizer. With a target tokenizer a target cell
    holds one target per element.

    Args:
        separator: between two cells: ``tab``, ``comma``, ``semicolon``, or the character itself.
        quoting: whether a cell in double quotes may hold separators and line ends (CSV); without,
            a quote is like any other character (TSV).
        header: whether the first line (after ``skip_lines``) names the columns.
    """

    separator: str
    quoting: bool
    header: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        self._character = CHARACTERS.get(self.separator, self.separator)
        if len(self._character) != 1 or self._character in '"\r\n':
            raise ValueError(
                f"data.reader.separator={self.separator!r}: give one character other than a quote, "
                f"or one of {', '.join(CHARACTERS)}"
            )
        columns = Quoted if self.quoting else Exact
        self._columns: Separator = columns(self._character)
        for column in (*listed(self.input), *listed(self.target)):
            if isinstance(column, str) and not self.header:
                raise ValueError(
                    f"column {column!r} is a name, and data.reader.header is false; give the "
                    "column's number, from 0, or set data.reader.header=true"
                )

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per record, as soon as its last line is there."""
        leading, lines = self._lines(stream, name)
        records = self._records(lines, name)
        header: list[str] | None = None
        table: Table | None = None
        if self.header and (first := next(records, None)) is not None:
            header = [cell.strip(" ") for cell in first.cells]
            leading += first.raw
            table = self._table(first, header, name)
        for record in records:
            if table is None and not record.is_blank:
                table = self._table(record, header, name)
            row = DelimitedRow(
                target=None, file=name, line=record.number, leading=leading, raw=record.raw
            )
            if header is not None:
                row["header"] = header
            leading = ""
            try:
                self._fill(row, [] if record.is_blank else record.cells, table)
            except ValueError as error:
                raise _bad_record(name, record, error) from None
            yield row

    def _records(self, lines: Iterator[Line], name: str) -> Iterator[Record]:
        if self.quoting:
            return quoted_records(lines, name, self._character, self.max_line_bytes)
        return plain_records(lines, self._character)

    def _table(self, record: Record, header: list[str] | None, name: str) -> Table:
        targets = listed(self.target) if self.read_target else []
        try:
            return Table.of(record.number, len(record.cells), header, listed(self.input), targets)
        except ValueError as error:
            raise _bad_record(name, record, error) from None

    def _fill(self, row: DelimitedRow, cells: list[str], table: Table | None) -> None:
        inputs: list[str] = []
        targets: list[str] = []
        if cells and table is not None:
            table.check(cells)
            inputs = [cells[index] for index in table.inputs]
            targets = [cells[index] for index in table.targets]
        if isinstance(self.input, list):
            row["vectors"] = self._vectors(inputs)
            count = len(row["vectors"])
        else:
            row["tokens"] = self._elements("".join(inputs))
            count = len(row["tokens"])
        row["target"] = self._combined([self._cells(cell) for cell in targets], count)

    def _vectors(self, cells: list[str]) -> list[list[float]]:
        columns = [[parse_number(text) for text in self._elements(cell)] for cell in cells]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise ValueError(f"input columns of {sorted(lengths)} numbers; they must be as long")
        return [list(numbers) for numbers in zip(*columns, strict=True)]

    def write(self, row: Row, output: Output) -> str:
        """The record with the prediction in the target's column, or in a new one at the end.

        A label's probability, where there is one, follows in a column of its own. New columns
        get a name in the header that stands before the first row.
        """
        text, end = split_line_end(row["raw"])
        leading = row["leading"]
        header = cast(DelimitedRow, row).get("header")
        record = Record(row["line"], self._columns.cells(text), text)
        for column, cell in self._changes(row, output, record.cells, header):
            index = self._index(column, record.cells, header)
            if index is None and header is not None and leading:
                leading = self._with_name(leading, column)
            if record.is_blank:
                # Its row is empty, so there is nothing to say; a blank line stays one.
                continue
            if index is None:
                text = self._columns.append(text, cell)
            else:
                text = self._columns.replace(text, {index: cell})
        return leading + text + end

    def _changes(
        self, row: Row, output: Output, cells: list[str], header: list[str] | None
    ) -> Iterator[tuple[Column, str]]:
        """The columns to be written, with their cells."""
        columns = listed(self.target) or [PREDICTION]
        if not self._holds(columns, cells, header, row, output.value):
            values = self._separated(output.value, len(columns))
            for column, value in zip(columns, values, strict=True):
                yield column, self._spelled(value, row)
        if output.probabilities is not None:
            yield PROBABILITY, spell_probabilities(output)

    def _holds(
        self,
        columns: list[Column],
        cells: list[str],
        header: list[str] | None,
        row: Row,
        value: Any,
    ) -> bool:
        """Whether the record already has this target; then its spelling stays as it is."""
        indexes = [self._index(column, cells, header) for column in columns]
        present = [cells[index] for index in indexes if index is not None and index < len(cells)]
        if len(present) < len(columns):
            return False
        try:
            target = self._combined([self._cells(cell) for cell in present], element_count(row))
        except ValueError:
            # Without read_target a target that no model could learn from is of no concern.
            return False
        return self._same(target, value)

    def _index(self, column: Column, cells: list[str], header: list[str] | None) -> int | None:
        count = len(cells) if header is None else len(header)
        inputs = [find_column(column, count, header) for column in listed(self.input)]
        return find_target(column, count, header, [n for n in inputs if n is not None])

    def _spelled(self, value: Any, row: Row) -> str:
        if value is None or value == []:
            return self.missing if element_count(row) else ""
        return self._join(value) if isinstance(value, list) else spell(value)

    def _with_name(self, leading: str, column: Column) -> str:
        header, end = split_line_end(leading)
        return self._columns.append(header, column if isinstance(column, str) else PREDICTION) + end


def _bad_record(name: str, record: Record, error: ValueError) -> ValueError:
    return bad_line(name, record.number, str(error), split_line_end(record.raw)[0])
