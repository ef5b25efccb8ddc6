"""Parquet and Arrow files, told by their first bytes and read batch by batch."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa
from pyarrow import ipc, parquet

ROWS = 500
"""Rows that are in memory at a time, where the file itself does not hold more in one piece."""
WRITTEN_ROWS = 20_000
"""Rows of a group of a Parquet file, or of a batch of an Arrow file, that is written."""
DAMAGE = (pa.ArrowException, OSError, EOFError, ValueError, OverflowError, MemoryError)
"""What pyarrow, and Python's streams, raise where bytes are not what they should be."""


class TableFile(ABC):
    """One kind of table file, open for reading.

    Attributes:
        schema: names and types of the columns.
    """

    schema: pa.Schema

    @abstractmethod
    def __init__(self, stream: BinaryIO) -> None:
        """Open the file in a stream that can go back and forth."""

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows of the file, in order, some at a time."""

    @abstractmethod
    def writer(self, stream: BinaryIO, schema: pa.Schema) -> Any:
        """A writer of files of this kind: ``write_table`` and ``close``."""


class ParquetFile(TableFile):
    """A Parquet file."""

    def __init__(self, stream: BinaryIO) -> None:
        # Without pre-buffering, a group of rows is read page by page.
        self._file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)
        self.schema = self._file.schema_arrow

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See the base class."""
        yield from self._file.iter_batches(batch_size=ROWS, use_threads=False)

    def writer(self, stream: BinaryIO, schema: pa.Schema) -> Any:
        """See the base class."""
        # Only asked once all rows have been read: of a damaged file, this can end Python.
        groups = self._file.metadata
        full = groups.num_row_groups and groups.num_columns
        found = groups.row_group(0).column(0).compression if full else "SNAPPY"
        compression = "NONE" if found == "UNCOMPRESSED" else found
        return _Parquet(stream, schema, compression=compression)


class _Parquet(parquet.ParquetWriter):  # type: ignore[misc]
    """A writer that, left behind after an error, does not try to finish its file."""

    def __del__(self) -> None:
        pass


class ArrowFile(TableFile):
    """An Arrow IPC file (also called Feather)."""

    def __init__(self, stream: BinaryIO) -> None:
        self._file = ipc.open_file(stream)
        self.schema = self._file.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See the base class."""
        for number in range(self._file.num_record_batches):
            yield self._file.get_batch(number)

    def writer(self, stream: BinaryIO, schema: pa.Schema) -> Any:
        """See the base class."""
        options = ipc.IpcWriteOptions(unify_dictionaries=True, emit_dictionary_deltas=True)
        return ipc.new_file(stream, schema, options=options)


class ArrowStream(TableFile):
    """An Arrow IPC stream, as ``datasets`` stores its tables."""

    def __init__(self, stream: BinaryIO) -> None:
        self._file = ipc.open_stream(stream)
        self.schema = self._file.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See the base class."""
        yield from self._file

    def writer(self, stream: BinaryIO, schema: pa.Schema) -> Any:
        """See the base class."""
        return ipc.new_stream(stream, schema)


KINDS: dict[bytes, type[TableFile]] = {b"PAR1": ParquetFile, b"ARROW1": ArrowFile}
"""The kinds with a mark at their start; a file without one can only be an Arrow stream."""


@contextmanager
def open_table(stream: BinaryIO, name: str) -> Iterator[TableFile | None]:
    """The table in a stream; None where there is not a single byte.

    Raises:
        ValueError: the bytes are no table.
    """
    with ExitStack() as stack:
        file = seekable(stream, name)
        if file is not stream:
            stack.enter_context(file)
        start = file.tell()
        head = file.read(max(map(len, KINDS)))
        file.seek(start)
        kind = next((k for mark, k in KINDS.items() if head.startswith(mark)), ArrowStream)
        try:
            table = kind(file) if head else None
            if table is not None:
                _ = table.schema.names  # which may be no Unicode
        except DAMAGE as error:
            what = "" if kind is not ArrowStream else "not a Parquet or Arrow file, or "
            raise ValueError(f"{name}: {what}damaged or cut off ({one_line(error)})") from None
        yield table


def seekable(stream: BinaryIO, name: str) -> BinaryIO:
    """The stream, or a copy on disk of one in which one cannot go back and forth cheaply.

    Raises:
        ValueError: the stream ends before its time.
    """
    if stream.seekable() and not isinstance(cast(object, stream), gzip.GzipFile):
        return stream
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (its user closes it)
    try:
        shutil.copyfileobj(stream, copy)
    except (EOFError, OSError, zlib.error) as error:
        copy.close()
        raise ValueError(f"{name}: the file is damaged or cut off ({error})") from None
    copy.seek(0)
    return cast(BinaryIO, copy)


def one_line(error: BaseException) -> str:
    """What an error of pyarrow says, without the lines about where in its own code."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
