"""Rows on disk: written once to Arrow, memory-mapped, never a Python list the size of a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, Features
from datasets.arrow_writer import ArrowWriter
from numpy.typing import NDArray

ROWS_PER_WRITE = 1000
TARGET = re.compile(r'"_target_": "([\w.]+)"')


def digest_file(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_settings(settings: Any) -> str:
    """SHA-256 of plain settings together with the code that reads and encodes rows.

    The code counts, so that a cache made before a reader was mended is never taken for current.
    """
    package = Path(__file__).resolve().parent.parent
    text = json.dumps(settings, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    sources = {p for folder in ("data", "tasks") for p in (package / folder).rglob("*.py")}
    sources |= {package / "batch.py", package / "datamodule.py"}
    for target in TARGET.findall(text):  # readers and tokenizers may be the user's own
        module = sys.modules.get(target.rpartition(".")[0])
        if module is not None and module.__file__ is not None:
            sources.add(Path(module.__file__))
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


@dataclass
class Stored:
    """A table on disk and what was counted while it was made."""

    table: Dataset
    counts: dict[str, Any] = field(default_factory=dict)


def store(
    folder: Path,
    key: str,
    features: Features,
    rows: Callable[[dict[str, Any]], Iterable[Mapping[str, Any]]],
) -> Stored:
    """The table kept under a key, made from ``rows`` if there is none yet.

    Args:
        folder: where tables are kept.
        key: covers everything that the content depends on.
        features: the columns.
        rows: called with an empty mapping, yields the rows and may leave counts in the mapping;
            what it raises leaves no table behind.
    """
    arrow, counts_file = folder / f"{key}.arrow", folder / f"{key}.json"
    if not _is_whole(arrow, counts_file):
        folder.mkdir(parents=True, exist_ok=True)
        counts: dict[str, Any] = {}
        # Written beside and renamed: a run that is killed, or two at once, leave no half a table.
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made, made_counts = Path(scratch) / "table", Path(scratch) / "counts"
            writer = ArrowWriter(
                path=str(made), features=features, writer_batch_size=ROWS_PER_WRITE
            )
            try:
                for row in rows(counts):
                    writer.write(dict(row))
                writer.finalize()
            finally:
                writer.close()
            record = {"counts": counts, "sha256": digest_file(made)}
            made_counts.write_text(json.dumps(record), encoding="utf-8")
            os.replace(made, arrow)
            os.replace(made_counts, counts_file)
    record = json.loads(counts_file.read_text(encoding="utf-8"))
    return Stored(Dataset.from_file(str(arrow)), record["counts"])


def _is_whole(arrow: Path, counts_file: Path) -> bool:
    """Whether a table is there as it was written; a damaged one is made anew."""
    try:
        record = json.loads(counts_file.read_text(encoding="utf-8"))
        return bool(record["sha256"] == digest_file(arrow)) and "counts" in record
    except (OSError, ValueError, KeyError, TypeError):
        return False


def iterate(table: Dataset) -> Iterator[Any]:
    """The rows of a table as plain mappings, fetched many at a time."""
    for columns in table.iter(batch_size=ROWS_PER_WRITE):
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
    """

    def __init__(self, table: Dataset, widths: Mapping[str, int]) -> None:
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
