"""Tables and values that were prepared before, kept by what they depend on."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from datasets import Dataset, Features, concatenate_datasets
from numpy.typing import NDArray

ROWS_PER_WRITE = 1000
NUMBERS_PER_WRITE = 250_000
"""Rows are written before they hold more words or numbers than this, however few rows these are."""

SETTLED = 1_000_000_000
"""Nanoseconds after which a file that looks unchanged is unchanged: its clock may be coarse."""

LARGEST = "longest"
"""The one count of which parts of a table give the largest rather than the sum."""

CODE = ("data", "evaluation", "tasks", "preparation")
"""Rooms of the package whose code decides what a table holds."""

TARGET = re.compile(r'"_target_": "([\w.]+)"')

Part = Callable[[dict[str, Any]], Iterable[Mapping[str, Any]]]
"""Called with an empty mapping, yields rows and may leave counts in the mapping."""


@dataclass
class Stored:
    """A table on disk and what was counted while it was made."""

    table: Dataset
    counts: dict[str, Any] = field(default_factory=dict)


class Cache:
    """A folder of prepared tables and values; all of it can be deleted at any time.

    Args:
        folder: is made when first needed.
        processes: that make the parts of a table at the same time.

    Raises:
        ValueError: there are no processes.
    """

    def __init__(self, folder: Path, *, processes: int = 1) -> None:
        if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
            raise ValueError(f"data.processes={processes}: it must be a whole number of 1 or more")
        self._folder, self._processes = folder, processes

    def digest(self, path: Path) -> str:
        """SHA-256 of a file's content; of one that has not changed since, from memory."""
        path = path.resolve()
        now = _look(path)
        name = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:32]
        note = self._folder / f"file-{name}.json"
        known = _load(note)
        if known.get("look") == now:
            return str(known["sha256"])
        settled = time.time_ns() - now["changed"] > SETTLED
        digest = digest_file(path)
        if settled:
            self._write(note, {"look": now, "sha256": digest})
        return digest

    def value(self, key: str, make: Callable[[], Any]) -> Any:
        """The plain value kept under a key, made if there is none yet."""
        file = self._folder / f"value-{key}.json"
        kept = _load(file)
        if "value" not in kept:
            kept = {"value": make()}
            self._write(file, kept)
        return kept["value"]

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Name the key where the folder cannot be used."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(
                f"cache={self._folder}: {reason}; name a folder with room to write to"
            ) from error

    def table(self, key: str, features: Features, parts: Sequence[Part]) -> Stored:
        """The table kept under a key, made of its parts if there is none yet.

        Args:
            key: covers everything that the content depends on.
            features: the columns.
            parts: of the table, in order. With several processes they are pickled. What one
                raises leaves no table behind.
        """
        note = self._folder / f"{key}.json"
        record = _load(note)
        if not self._is_whole(record):
            # Written beside and renamed: a run that is killed, or two at once, leave no half table.
            with self._explaining(), self._scratch() as scratch:
                files = [Path(scratch) / f"{key}-{number}.arrow" for number in range(len(parts))]
                counts = self._make(files, features, parts)
                record = {"counts": counts, "files": [self._keep(file) for file in files]}
            self._write(note, record)
        tables = [Dataset.from_file(str(self._folder / file["name"])) for file in record["files"]]
        table = tables[0] if len(tables) == 1 else concatenate_datasets(tables)
        return Stored(table, record["counts"])

    def _make(self, files: list[Path], features: Features, parts: Sequence[Part]) -> dict[str, Any]:
        jobs = [(part, file, features) for part, file in zip(parts, files, strict=True)]
        if self._processes == 1 or len(parts) == 1:
            return merged([_write_part(*job) for job in jobs])
        # Not forked: this process may have threads.
        context = multiprocessing.get_context("spawn")
        workers = min(self._processes, len(parts))
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            return merged(list(pool.map(_write_part, *zip(*jobs, strict=True))))

    def _keep(self, file: Path) -> dict[str, Any]:
        digest = digest_file(file)
        kept = self._folder / file.name
        os.replace(file, kept)
        return {"name": file.name, "look": _look(kept), "sha256": digest}

    def _is_whole(self, record: Mapping[str, Any]) -> bool:
        """Whether the files of a table are as they were written; damaged ones are made anew."""
        try:
            return bool(record["files"]) and all(
                file["look"] == _look(self._folder / file["name"])
                or file["sha256"] == digest_file(self._folder / file["name"])
                for file in record["files"]
            )
        except (OSError, LookupError, TypeError):
            return False

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=self._folder)

    def _write(self, file: Path, content: Any) -> None:
        with self._explaining(), self._scratch() as scratch:
            made = Path(scratch) / file.name
            made.write_text(json.dumps(content), encoding="utf-8")
            os.replace(made, file)


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
    sources = {p for folder in CODE for p in (package / folder).rglob("*.py")}
    sources.add(package / "batch.py")
    for target in TARGET.findall(text):  # readers and tokenizers may be the user's own
        module = sys.modules.get(target.rpartition(".")[0])
        if module is not None and module.__file__ is not None:
            sources.add(Path(module.__file__))
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _look(path: Path) -> dict[str, int]:
    """What tells a changed file without reading it."""
    status = path.stat()
    return {
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "changed": status.st_ctime_ns,  # nobody can set it back
        "inode": status.st_ino,
    }


def _load(file: Path) -> dict[str, Any]:
    """What a file of the cache says; nothing where it is missing or damaged."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The counts of a table from those of its parts: sums, lists in order, the largest."""
    total: dict[str, Any] = {}
    for counts in parts:
        for name, value in counts.items():
            if name not in total:
                total[name] = value
            elif name == LARGEST:
                total[name] = max(total[name], value)
            else:
                total[name] = total[name] + value
    return total


def _write_part(part: Part, file: Path, features: Features) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    schema = features.arrow_schema
    with pyarrow.OSFile(str(file), "wb") as sink, pyarrow.ipc.new_stream(sink, schema) as writer:
        for rows in _blocks(part(counts)):
            columns = [
                _column([row[name] for row in rows], schema.field(name).type)
                for name in schema.names
            ]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    return counts


def _blocks(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    block: list[Mapping[str, Any]] = []
    numbers = 0
    for row in rows:
        block.append(row)
        numbers += max(map(_size, row.values()))
        if len(block) == ROWS_PER_WRITE or numbers > NUMBERS_PER_WRITE:
            yield block
            block, numbers = [], 0
    if block:
        yield block


def _size(value: Any) -> int:
    """How many words or numbers a cell holds."""
    if not isinstance(value, list | np.ndarray):
        return 1
    inner = value[0] if len(value) else None
    return len(value) * (len(inner) if isinstance(inner, list) else 1)


def _column(values: list[Any], kind: pyarrow.DataType) -> pyarrow.Array:
    if not isinstance(values[0], np.ndarray):
        return pyarrow.array(values, kind)
    offsets: NDArray[np.int64] = np.cumsum([0, *(len(value) for value in values)])
    flat = pyarrow.array(np.concatenate(values), kind.value_type)
    return pyarrow.ListArray.from_arrays(offsets.astype(np.int32), flat)
