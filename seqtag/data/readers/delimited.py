"""One sequence a line or record, in columns: TSV and CSV."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row, length
from seqtag.data.readers.beside import Beside, fresh_names, further_columns, spell_place
from seqtag.data.readers.cell_reader import CellReader
from seqtag.data.readers.columns import Column, Table, find_column, find_target, listed
from seqtag.data.readers.delimited_oddities import ContentWatch, watch_separator
from seqtag.data.readers.lines import Line, bad_line, split_line_end
from seqtag.data.readers.records import Record, plain_records, quoted_records
from seqtag.data.readers.separators import Exact, Quoted, Separator
from seqtag.data.readers.values import spell, spell_probabilities

CHARACTERS = {"tab": "\t", "comma": ",", "semicolon": ";"}
PREDICTION = "prediction"
PROBABILITY = "probability"


class DelimitedRow(Row, total=False):
    """A row of a file that may name its columns."""

    header: list[str]
    """Names of the file's columns, where it has them; writing finds the target by it."""


@dataclass(kw_only=True)
class DelimitedReader(CellReader):
    """One sequence a record; columns by name where the file has a header, else by number.

    Blanks around a cell are not part of it. An empty target cell is a missing target. A blank
    line is an empty row, so that every line has its row. With several input columns each holds
    one number per element, split by the input's tokenizer. With a target tokenizer a cell of a
    target or a feature holds one per element. A mask holds a 0 or 1 per element.

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
        others = chain.from_iterable(self._other_columns().values())
        for column in (*listed(self.input), *listed(self.target), *others):
            if isinstance(column, str) and not self.header:
                raise ValueError(
                    f"column {column!r} is a name, and data.reader.header is false; give the "
                    "column's number, from 0, or set data.reader.header=true"
                )

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per record, as soon as its last line is there."""
        leading, lines = self._every_line(stream, name)
        warn = partial(self._warn, name)
        if self._report is not None:
            lines = watch_separator(lines, self._character, warn)
        rows = self._rows(self._records(lines, name), leading, name)
        yield from rows if self._report is None else self._watched_rows(rows, warn)

    def _rows(self, records: Iterator[Record], leading: str, name: str) -> Iterator[DelimitedRow]:
        header: list[str] | None = None
        table: Table | None = None
        if self.header and (first := next(records, None)) is not None:
            header = [cell.strip(" ") for cell in first.cells]
            leading += first.raw
            table = self._table(first, header, name)
            if table is None:
                # No row can be read; what is wrong with the lines themselves is still told.
                deque(records, maxlen=0)
        refused: set[int] = set()
        for record in records:
            if not record.readable:
                continue
            blank = record.is_blank
            if table is None and not blank:
                # A file that lacks a column is told so once, not at each of its lines.
                if len(record.cells) not in refused:
                    table = self._table(record, header, name)
                    refused.add(len(record.cells))
                if table is None:
                    continue
            row = DelimitedRow(
                target=None, file=name, line=record.number, leading=leading, raw=record.raw
            )
            if header is not None:
                row["header"] = header
            try:
                self._fill(row, {} if blank or table is None else table.pick(record.cells))
            except ValueError as error:
                self._fault(_bad_record(name, record, error))
                continue
            leading = ""
            yield row

    def _watched_rows(
        self, rows: Iterator[DelimitedRow], warn: Callable[[int, str], None]
    ) -> Iterator[DelimitedRow]:
        watch = ContentWatch(words=self.input_tokenizer.words)
        header: list[str] | None = None
        for row in rows:
            header = row.get("header")
            blank = not row["raw"].strip(" \r\n")
            watch.add(row["line"], None if blank else length(row), row["target"])
            yield row
        named = None
        if header is not None and isinstance(self.target, int):
            index = self._index(self.target, [], header)
            named = None if index is None else header[index]
        watch.judge(warn, header=(self.skip_lines + 1, named) if self.header else None)

    def _records(self, lines: Iterator[Line], name: str) -> Iterator[Record]:
        if self.quoting:
            return quoted_records(lines, name, self._character, self.max_line_bytes, self._fault)
        return plain_records(lines, self._character)

    def _table(self, record: Record, header: list[str] | None, name: str) -> Table | None:
        try:
            return Table.of(
                record.number,
                len(record.cells),
                header,
                inputs=listed(self.input),
                targets=listed(self.target) if self.read_target else [],
                others=self._other_columns(),
            )
        except ValueError as error:
            if record.readable:
                self._fault(_bad_record(name, record, error))
            return None

    def write(self, row: Row, output: Output) -> str:
        """The record with the prediction in the target's column, or in a new one at the end.

        A label's probability, where there is one, follows in a column of its own. New columns
        get a name in the header that stands before the first row.
        """
        text, end = split_line_end(row["raw"])
        leading = row["leading"]
        header = cast(DelimitedRow, row).get("header")
        record = Record(row["line"], self._columns.cells(text), text, readable=True)
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

    def beside(self, rows: Iterable[Row]) -> Beside:
        """New columns at the end of each record."""
        first = cast(DelimitedRow, next(iter(rows), Row()))
        header = first.get("header")
        columns: list[Column] = further_columns(self.target)
        place = "a further last column"
        if header is not None:
            names = fresh_names(self.target, header)
            columns, place = [*names], spell_place("column", names)
        writer = replace(self, target=columns, references=[], mask=None).writer
        return Beside(place, writer)

    def _changes(
        self, row: Row, output: Output, cells: list[str], header: list[str] | None
    ) -> Iterator[tuple[Column, str]]:
        """The columns to be written, with their cells."""
        columns = listed(self.target) or [PREDICTION]
        texts = {}
        for column in (*columns, *listed(self.mask)):
            index = self._index(column, cells, header)
            if index is not None and index < len(cells):
                texts[column] = cells[index]
        value = self._with_masked(output.value, texts, length(row))
        own = [texts[column] for column in columns if column in texts]
        if len(own) < len(columns) or not self._holds(own, row, value):
            values = self.values.separated(value, len(columns))
            for column, single in zip(columns, values, strict=True):
                yield column, self._spelled(single, row)
        if output.probabilities is not None:
            yield PROBABILITY, spell_probabilities(output)

    def _index(self, column: Column, cells: list[str], header: list[str] | None) -> int | None:
        count = len(cells) if header is None else len(header)
        inputs = [find_column(column, count, header) for column in listed(self.input)]
        return find_target(column, count, header, [n for n in inputs if n is not None])

    def _spelled(self, value: Any, row: Row) -> str:
        if value is None or value == []:
            return self.missing if length(row) else ""
        return self.values.join(value) if isinstance(value, list) else spell(value)

    def _with_name(self, leading: str, column: Column) -> str:
        header, end = split_line_end(leading)
        return self._columns.append(header, column if isinstance(column, str) else PREDICTION) + end


def _bad_record(name: str, record: Record, error: ValueError) -> ValueError:
    return bad_line(name, record.number, str(error), split_line_end(record.raw)[0])
