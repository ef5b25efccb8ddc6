"""Rows from the record batches of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from seqtag.batch import Row
from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.objects import ObjectRows, read_columns
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.class_labels import ClassLabels, plain
from seqtag.data.readers.tables.files import DAMAGE, ROWS, TableFile, one_line


class TableRow(Row, total=False):
    """A row that knows its place in a table, so that the other columns can be written with it."""

    table: TableFile | None
    batch: pa.RecordBatch
    index: int


class TableRows:
    """Makes the rows of one table.

    Args:
        reader: whose settings say which column is what.
        schema: of the table.
        name: what messages call it.
        table: where the batches come from, for the writer; None for a table that is no file.

    Raises:
        ValueError: a column is not there, or its name is there twice.
    """

    def __init__(
        self, reader: Reader, schema: pa.Schema, name: str, *, table: TableFile | None
    ) -> None:
        self._reader, self._name, self._table = reader, name, table
        self._labels = ClassLabels.of(schema)
        self._objects = ObjectRows(reader)
        self.count = 0
        self._columns = read_columns(reader)
        for column, setting in self._columns.items():
            count = schema.names.count(column)
            if count != 1:
                there = "the column is there more than once" if count else "no such column"
                names = excerpt(", ".join(schema.names))
                raise ValueError(f"{name}: data.{setting}={column}: {there}, the table has {names}")

    def of(self, batch: pa.RecordBatch) -> Iterator[Row]:
        """Yield the rows of the next batch; ``line`` is a row's number in the table, from 1."""
        try:
            # Arrow files are not checked as they are read, and a wrong offset would end Python.
            batch.validate(full=True)
        except DAMAGE as error:
            rows = f"rows {self.count + 1} to {self.count + batch.num_rows}"
            self.count += batch.num_rows
            self._reader._fault(ValueError(f"{self._name}: {rows}: damaged ({one_line(error)})"))
            return
        for start in range(0, batch.num_rows, ROWS):
            yield from self._rows(batch.slice(start, ROWS))

    def _rows(self, batch: pa.RecordBatch) -> Iterator[Row]:
        columns = {column: batch.column(column) for column in self._columns}
        for index in range(batch.num_rows):
            self.count += 1
            row = TableRow(
                target=None,
                file=self._name,
                line=self.count,
                leading="",
                raw="",
                table=self._table,
                batch=batch,
                index=index,
            )
            try:
                members = {
                    column: self._value(column, columns[column][index]) for column in columns
                }
                self._objects.fill(row, members)
            except DAMAGE as error:
                problem = ValueError(f"{self._name}:{self.count}: {one_line(error)}")
                self._reader._fault(problem)
                continue
            yield row

    def _value(self, column: str, scalar: pa.Scalar) -> Any:
        value = plain(scalar)
        # A mask is made of numbers or booleans, whatever they are called.
        return value if column == self._reader.mask else self._labels.read(column, value)
