"""Pieces of work that several processes can share: the rows of a file, the numbers of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from datasets import Dataset as Table

from seqtag.batch import Row, TargetSpec, length, place
from seqtag.data.corpus import iterate
from seqtag.data.findings import Findings
from seqtag.data.inputs import Inputs
from seqtag.data.progress import watched
from seqtag.data.readers.reader import Reader
from seqtag.tasks.task import Task

OTHER_KIND = {
    "tokens": "vectors, where the first row of the split has tokens",
    "vectors": "tokens, where the first row of the split has vectors",
}

INPUT_HASH, ROW_HASH = "input_hash", "row_hash"
HASHES = (INPUT_HASH, ROW_HASH)
"""Columns that tell equal rows: of the input as the file has it, and of that with the target."""


@dataclass(frozen=True)
class FilePart:
    """The rows of one file as plain columns; what cannot be read is counted and left out."""

    reader: Reader
    task: Task
    given: str
    columns: tuple[str, ...]
    title: str

    def __call__(self, counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the rows; at the end ``counts`` has ``empty`` and what ``Findings`` counts."""
        findings, empty = Findings(), 0
        with self.reader.reporting(findings):
            rows = watched(self.reader.read_all(self.given), self.title, None)
            while True:
                try:
                    row = next(rows, None)
                except ValueError as error:  # the rest of the file cannot be read at all
                    findings.error(str(error))
                    break
                if row is None:
                    break
                if not length(row):
                    empty += 1
                    continue
                if self.columns[0] not in row:
                    findings.error(f"{place(row)}: {OTHER_KIND[self.columns[0]]}")
                    continue
                try:
                    target = self.task.parse(row)
                    references = self._references(row, target)
                except ValueError as error:
                    findings.error(str(error))
                    continue
                whole = {**row, "target": target, "references": references}
                if INPUT_HASH in self.columns:
                    whole |= _hashes(row, target)
                yield {name: whole[name] for name in self.columns}
        counts.update(empty=empty, **findings.counts())

    def _references(self, row: Row, target: Any) -> list[str] | None:
        """All accepted targets in plain form, the target first, each once."""
        if target is None or "references" not in self.columns:
            return None
        others = (self.task.parse({**row, "target": other}) for other in row.get("references", ()))
        return list(dict.fromkeys([target, *(o for o in others if o is not None)]))


@dataclass(frozen=True)
class RowsPart:
    """The numbers of a stretch of rows."""

    rows: Table
    inputs: Inputs
    task: Task
    spec: TargetSpec
    begin: int
    end: int

    def __call__(self, counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield flat arrays by column; at the end ``counts`` has sizes and findings."""
        findings = Findings()
        counts.update(rows=0, elements=0, longest=0, unknown=0, missing=0)
        chosen = self.rows
        if (self.begin, self.end) != (0, len(chosen)):
            chosen = chosen.select(range(self.begin, self.end))
        for row in watched(iterate(chosen), "encoding", len(chosen)):
            try:
                encoded = encode_row(row, self.inputs, self.task, self.spec)
            except ValueError as error:
                findings.error(str(error))
                continue
            counts["rows"] += 1
            counts["elements"] += length(row)
            counts["longest"] = max(counts["longest"], length(row))
            counts["unknown"] += self.inputs.unknown(row)
            counts["missing"] += int((encoded["present"] == 0).sum())
            yield {column: values.reshape(-1) for column, values in encoded.items()}
        counts.update(findings.counts())


def encode_row(row: Any, inputs: Inputs, task: Task, spec: TargetSpec) -> dict[str, Any]:
    """The numbers of a plain row: by input field, and of its target.

    Raises:
        ValueError: it is not what the inputs and the target are; the message names the place.
    """
    encoded: dict[str, Any] = inputs.encode(row)
    try:
        encoded |= task.encode(row["target"], spec)
        if "references" in row:
            encoded["references"] = task.encode_references(row["references"], spec)
    except ValueError as error:
        raise ValueError(f"{place(row)}: {error}") from error
    return encoded


def _hashes(row: Row, target: Any) -> dict[str, int]:
    """64 bits of what is read, and of that with the target."""
    read = [row.get("tokens"), row.get("vectors"), row.get("features")]
    text = json.dumps(read, ensure_ascii=False)
    both = f"{text}{json.dumps(target, ensure_ascii=False)}"
    return dict(zip(HASHES, (_bits(text), _bits(both)), strict=True))


def _bits(text: str) -> int:
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
