"""Rows on disk, memory-mapped: never a Python list the size of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

ROWS_PER_READ = 1000
BYTES_PER_READ = 4_000_000
"""Fewer rows are read at a time where they are long."""


def iterate(table: Dataset) -> Iterator[Any]:
    """The rows of a table as plain mappings, fetched many at a time."""
    row_bytes = table.data.nbytes // max(1, len(table.data))
    at_once = max(1, min(ROWS_PER_READ, BYTES_PER_READ // max(1, row_bytes)))
    for columns in table.iter(batch_size=at_once):
        names = list(columns)
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))


class Ragged:
    """A list column as one numpy array per row, without a copy.

    Args:
        table: an Arrow-backed data set.
        column: name of a column of flat lists of numbers.
    """

    def __init__(self, table: Dataset, column: str) -> None:
        self._chunks: list[tuple[NDArray[Any], NDArray[Any]]] = []
        sizes = []
        for chunk in table.data.column(column).chunks:
            offsets = chunk.offsets.to_numpy()
            self._chunks.append((offsets, chunk.values.to_numpy(zero_copy_only=True)))
            sizes.append(len(chunk))
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, row: int) -> NDArray[Any]:
        chunk = int(np.searchsorted(self._starts, row, side="right")) - 1
        offsets, values = self._chunks[chunk]
        at = row - self._starts[chunk]
        taken: NDArray[Any] = values[offsets[at] : offsets[at + 1]]
        return taken

    def lengths(self) -> NDArray[np.int64]:
        """Numbers in each row."""
        parts = [np.diff(offsets) for offsets, _ in self._chunks]
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)


class EncodedRows(Sequence[dict[str, NDArray[Any]]]):
    """The numbers of every row, as flat arrays by column.

    Args:
        table: an Arrow-backed data set whose columns are flat lists of numbers.
        widths: numbers per element, for columns where that is not 1.

    Attributes:
        columns: names of the columns.
    """

    def __init__(self, table: Dataset, widths: Mapping[str, int]) -> None:
        self.columns = tuple(table.column_names)
        self._columns = {name: Ragged(table, name) for name in table.column_names}
        self._widths = dict(widths)
        self._size = len(table)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: int) -> dict[str, NDArray[Any]]:  # type: ignore[override]
        return {
            name: (
                column[row].reshape(-1, self._widths[name]) if name in self._widths else column[row]
            )
            for name, column in self._columns.items()
        }

    def __iter__(self) -> Iterator[dict[str, NDArray[Any]]]:
        return (self[row] for row in range(len(self)))

    def lengths(self) -> NDArray[np.int64]:
        """Elements in each row, by the first input column."""
        return self.sizes(next(iter(self._columns)))

    def sizes(self, column: str) -> NDArray[np.int64]:
        """Elements in a column of each row."""
        return self._columns[column].lengths() // self._widths.get(column, 1)
