"""The rows of a split, before they are numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from datasets import Dataset as Table

from seqtag.data.cache import Part
from seqtag.data.corpus import iterate
from seqtag.data.findings import Findings


@dataclass(frozen=True)
class ReadRows:
    """Rows of a split, or part of them, before they are encoded.

    Attributes:
        rows: ``tokens`` or ``vectors``, the parsed ``target``, ``references`` and ``features``
            where there are any, ``file`` and ``line``, and two hashes: ``input_hash`` of what the
            model reads, ``row_hash`` of that with the target.
        given: what the config names, a file or several.
        digest: SHA-256 of the files.
        key: of everything that the rows depend on.
        empty: rows that hold nothing and were left out.
        findings: what is wrong with the files.
    """

    rows: Table
    given: str
    digest: str
    key: str
    empty: int
    findings: Findings

    @property
    def vectors(self) -> bool:
        """Whether elements are vectors rather than tokens."""
        return "vectors" in self.rows.column_names

    def iterate(self) -> Iterator[Any]:
        """Yield the rows as plain mappings."""
        return iterate(self.rows)

    def targets(self) -> Iterator[Any]:
        """Yield every target, and the others that are as right."""
        columns = [name for name in ("target", "references") if name in self.rows.column_names]
        return _targets(iterate(self.rows.select_columns(columns)))


@dataclass(frozen=True)
class StreamedRows:
    """Rows of a split that are read from its files whenever they are asked for.

    Attributes:
        parts: read the files.
        given: what the config names, a file or several.
        digest: SHA-256 of the files.
        key: of everything that the rows depend on.
        vectors: whether elements are vectors rather than tokens.
        counts: ``rows``, ``elements``, ``longest``, ``empty``, of a first pass.
        findings: what is wrong with the files.
    """

    parts: Sequence[Part]
    given: str
    digest: str
    key: str
    vectors: bool
    counts: dict[str, int]
    findings: Findings

    def iterate(self) -> Iterator[Any]:
        """Yield the rows as plain mappings."""
        return (row for part in self.parts for row in part({}))

    def targets(self) -> Iterator[Any]:
        """Yield every target, and the others that are as right."""
        return _targets(self.iterate())


def _targets(rows: Iterator[Any]) -> Iterator[Any]:
    for row in rows:
        if row.get("references"):
            yield from row["references"]
        else:
            yield row["target"]
