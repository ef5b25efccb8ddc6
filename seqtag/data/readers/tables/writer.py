"""Tables with predictions, written as the kind of file that was read."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

import pyarrow as pa

from seqtag.batch import Output, Row, place
from seqtag.data.readers.columns import listed
from seqtag.data.readers.objects import PREDICTION, PROBABILITIES, ObjectRows
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.class_labels import ClassLabels, plain
from seqtag.data.readers.tables.columns import Predicted, PredictedColumn
from seqtag.data.readers.tables.files import WRITTEN_ROWS, TableFile
from seqtag.data.readers.tables.rows import TableRow
from seqtag.data.readers.values import NUMBER_FORMAT
from seqtag.data.readers.writer import Writer

WRITTEN_BYTES = 1 << 26
"""Bytes of rows after which they are written, though they are few."""


class TableWriter(Writer):
    """Collects predictions batch by batch and writes some batches at a time.

    Args:
        stream: takes the bytes.
        reader: whose settings say where the prediction stands.
    """

    def __init__(self, stream: BinaryIO, reader: Reader) -> None:
        self._stream, self._reader = stream, reader
        self._objects = ObjectRows(reader)
        self._batch: pa.RecordBatch | None = None
        self._indices: list[int] = []
        self._changes: list[dict[str, Any]] = []
        self._waiting: list[tuple[pa.RecordBatch, dict[str, Predicted]]] = []
        self._columns: dict[str, PredictedColumn] = {}
        self._labels = ClassLabels({})
        self._table: TableFile | None = None
        self._file: Any = None
        self._schema = pa.schema([])

    def add(self, row: Row, output: Output) -> None:
        """See the base class."""
        placed = cast(TableRow, row)
        if placed["batch"] is not self._batch:
            self._finish_batch()
            self._batch = placed["batch"]
        if self._table is None:
            self._begin(placed)
        members = {}
        for column in self._held():
            value = plain(placed["batch"].column(column)[placed["index"]])
            members[column] = self._labels.read(column, value)
        try:
            self._changes.append(self._objects.changes(row, output, members))
        except ValueError as error:
            raise ValueError(f"{place(row)}: {error}") from None
        self._indices.append(placed["index"])

    def close(self) -> None:
        """See the base class."""
        self._finish_batch()
        self._write_waiting()
        if self._file is not None:
            self._file.close()
        self._stream.flush()

    def _begin(self, row: TableRow) -> None:
        schema = row["batch"].schema
        self._table, self._labels = row["table"], ClassLabels.of(schema)
        names = [*map(str, listed(self._reader.target) or [PREDICTION]), PROBABILITIES]
        for name in names:
            if schema.names.count(name) > 1:
                raise ValueError(f"{row['file']}: the table has the column {name} more than once")
            kind = schema.field(name).type if name in schema.names else None
            if name == PROBABILITIES:
                kind = None  # those of another model are written over
            self._columns[name] = PredictedColumn(
                name, kind, self._labels, self._reader.values.join
            )

    def _held(self) -> list[str]:
        """The columns that the table has for predictions."""
        assert self._batch is not None, "add() sets it"
        names = self._batch.schema.names
        return [name for name in self._columns if name in names and name != PROBABILITIES]

    def _finish_batch(self) -> None:
        if not self._indices or self._batch is None:
            return
        batch, held = self._batch, self._held()
        if self._indices != list(range(batch.num_rows)):
            batch = batch.take(pa.array(self._indices))
        predicted = {}
        for name in self._columns:
            found = {n: new[name] for n, new in enumerate(self._changes) if name in new}
            if name == PROBABILITIES:
                found = {n: _shares(value) for n, value in found.items()}
            predicted[name] = Predicted(found, batch.column(name) if name in held else None)
        self._waiting.append((batch, predicted))
        self._indices, self._changes, self._batch = [], [], None
        rows = sum(batch.num_rows for batch, _ in self._waiting)
        if rows >= WRITTEN_ROWS or sum(b.nbytes for b, _ in self._waiting) >= WRITTEN_BYTES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        if self._file is None:
            self._open()
        batches = []
        for batch, predicted in self._waiting:
            arrays = [
                self._columns[name].array(predicted[name], batch.num_rows)
                if name in self._columns
                else batch.column(name)
                for name in self._schema.names
            ]
            batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._file.write_table(pa.Table.from_batches(batches, self._schema).combine_chunks())
        self._waiting = []

    def _open(self) -> None:
        """Begin the file, with the types that the waiting predictions settle."""
        schema = self._waiting[0][0].schema
        for name, column in list(self._columns.items()):
            rows = [predicted[name] for _, predicted in self._waiting]
            if name == PROBABILITIES and not any(row.values for row in rows):
                del self._columns[name]
                continue
            place, kind = schema.get_field_index(name), column.settle(rows)
            if place < 0:
                schema = schema.append(pa.field(name, kind))
            elif schema.field(place).type != kind:
                schema = schema.set(place, pa.field(name, kind))
        self._schema = schema
        assert self._table is not None, "rows of files have one"
        self._file = self._table.writer(self._stream, schema)


def _shares(probabilities: Any) -> Any:
    """Probabilities by label as a list, for each element where there are several mappings."""
    if isinstance(probabilities, list):
        return [_shares(entry) for entry in probabilities]
    if probabilities is None:
        return None
    return [
        # No more digits than other formats write, so that the batch size cannot show.
        {"label": str(label), "probability": float(format(share, NUMBER_FORMAT))}
        for label, share in probabilities.items()
    ]
