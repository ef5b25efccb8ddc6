"""Parquet and Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import Beside, fresh_names, spell_place
from seqtag.data.readers.objects import check_keys, refuse_skipping
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.files import DAMAGE, one_line, open_table
from seqtag.data.readers.tables.rows import TableRow, TableRows
from seqtag.data.readers.tables.writer import TableWriter
from seqtag.data.readers.writer import Writer


@dataclass(kw_only=True)
class TableReader(Reader):
    """A row of a Parquet file, an Arrow file or an Arrow stream is a row.

    See ``ObjectRows`` for what the columns may hold. Numbers that ``datasets`` has names for
    (``ClassLabel``) are read as those names. The line of a row is its number, from 1.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self, "the name of a column")
        refuse_skipping(self)

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield the rows, of which some at a time are in memory."""
        with open_table(stream, name) as table:
            if table is None:
                return
            rows = TableRows(self, table.schema, name, table=table)
            batches = table.batches()
            while True:
                try:
                    batch = next(batches, None)
                except DAMAGE as error:
                    raise ValueError(
                        f"{name}: damaged or cut off after row {rows.count} ({one_line(error)})"
                    ) from None
                if batch is None:
                    return
                yield from rows.of(batch)

    def write(self, row: Row, output: Output) -> str:
        """Not for tables: they are no text."""
        raise AssertionError("tables are written by writer()")

    def beside(self, rows: Iterable[Row]) -> Beside:
        """A further column of the table."""
        first = next(iter(rows), None)
        taken = [] if first is None else cast(TableRow, first)["batch"].schema.names
        names = fresh_names(self.target, taken)
        writer = replace(self, target=[*names], references=[], mask=None).writer
        return Beside(spell_place("column", names), writer)

    def writer(self, stream: BinaryIO) -> Writer:
        """Writes a table of the kind that was read, with all its columns.

        The prediction stands in the target's column, or in a new one, ``prediction``;
        probabilities in ``probabilities``, as a list of labels with theirs.
        """
        return TableWriter(stream, self)
