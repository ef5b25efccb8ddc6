"""Arrow columns of rows as numpy arrays, a thousand rows at a time: memory does not grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
from datasets import Dataset
from numpy.typing import NDArray

from seqtag.data.corpus import ROWS_PER_READ


def blocks(table: Dataset, *columns: str) -> Iterator[list[pyarrow.Array]]:
    """Yield the columns of the rows, as arrays of ``ROWS_PER_READ`` rows, in order."""
    chosen = table.select_columns(list(columns)).with_format("arrow")
    for block in chosen.iter(batch_size=ROWS_PER_READ):
        yield [_whole(block.column(name)) for name in columns]


def _whole(column: pyarrow.ChunkedArray) -> pyarrow.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pyarrow.concat_arrays(column.chunks)


def is_list(array: pyarrow.Array) -> bool:
    """Whether the array holds lists."""
    return bool(pyarrow.types.is_list(array.type) or pyarrow.types.is_large_list(array.type))


def sizes(array: pyarrow.Array) -> NDArray[np.int64]:
    """Entries in each list; 0 where there is none."""
    counted = pyarrow.compute.list_value_length(array).fill_null(0)
    found: NDArray[np.int64] = counted.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def any_valid(array: pyarrow.Array) -> NDArray[np.bool_]:
    """Of each row, whether it holds a value, however deep in lists."""
    if not is_list(array):
        valid: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
        return valid
    below = np.concatenate([[0], np.cumsum(any_valid(array.flatten()))])
    lengths = sizes(array)
    ends = np.cumsum(lengths)
    return np.asarray(below[ends] - below[ends - lengths] > 0)


def integers(table: Dataset, column: str) -> NDArray[np.int64]:
    """A column of whole numbers, 8 bytes a row."""
    found = [array.to_numpy(zero_copy_only=False) for (array,) in blocks(table, column)]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def floats(array: pyarrow.Array) -> NDArray[np.float64]:
    """Numbers, NaN where there is none."""
    found: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return found.astype(np.float64, copy=False)
