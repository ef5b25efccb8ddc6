"""One split of a data set: its rows, their numbers, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from datasets import Dataset as Table
from numpy.typing import NDArray

from seqtag.batch import TargetSpec
from seqtag.data.corpus import EncodedRows
from seqtag.data.examples import REFERENCES, TARGET, split_references
from seqtag.data.findings import Findings
from seqtag.data.windows import LongRows
from seqtag.nn.search import Search

NAMED = 10
"""Labels that a message names."""


@dataclass
class Split:
    """One split, on disk.

    Attributes:
        name: train, dev or test.
        given: the file it was read from, or what names several.
        key: of everything that its rows and their numbers depend on.
        digest: SHA-256 of their content.
        rows: as read: tokens or vectors, parsed target, file and line.
        encoded: as the model reads them.
        spec: of the target, with the labels that only this split has.
        counts: ``rows``, ``elements``, ``longest``, ``empty`` (rows left out as they hold
            nothing), ``unknown`` (elements training never saw), ``missing`` (targets).
        findings: what is wrong with the files.
        long_rows: what is done with rows that are too long to be read in one piece.
        part: of the files' rows, in words, such as a fold.
    """

    name: str
    given: str
    key: str
    digest: str
    rows: Table
    encoded: EncodedRows
    spec: TargetSpec
    counts: dict[str, int]
    findings: Findings
    long_rows: LongRows
    part: str | None = None

    def sizes(self) -> NDArray[np.int64]:
        """Cells that a row needs in a batch: of its input, or of a longer target with its end."""
        lengths = self.encoded.lengths()
        return np.maximum(lengths, self.target_lengths() + 1) if self.spec.sequence else lengths

    def read_lengths(self) -> NDArray[np.int64]:
        """Elements of each row that are read at once."""
        lengths = self.encoded.lengths()
        return lengths if self.long_rows.refuses else np.minimum(lengths, self.long_rows.limit)

    def target_lengths(self) -> NDArray[np.int64]:
        """Symbols of each row's target sequence, the longest where it has several; no end."""
        lengths = self.encoded.sizes(TARGET)
        if REFERENCES in self.encoded.columns:
            longest = [
                max(map(len, split_references(row[REFERENCES])), default=1) for row in self.encoded
            ]
            lengths = np.maximum(lengths, np.array(longest, np.int64))
        return lengths - 1

    def source(self) -> dict[str, Any]:
        """What a run's record says of it."""
        part = {} if self.part is None else {"part": self.part}
        return {"path": self.given, "sha256": self.digest, **part, **self.counts}

    def place(self, row: int) -> str:
        """``file:line`` of a row."""
        found = self.rows[int(row)]
        return f"{found['file']}:{found['line']}"

    def check(self, *, max_tokens: int, search: Search | None, per_element: bool) -> None:
        """Refuse what no cache may hide.

        Args:
            max_tokens: cells that the largest row may need.
            search: what limits the length of target sequences; None where there are none.
            per_element: whether every element has a target, rather than the row.

        Raises:
            ValueError: a row or a target sequence is over its limit, or no target is there.
        """
        lengths, limit = self.encoded.lengths(), self.long_rows.limit
        if self.long_rows.refuses and (lengths > limit).any():
            first, others = first_above(lengths, limit)
            raise ValueError(
                f"{self.place(first)}: {self.long_rows.refusal(int(lengths[first]))}{others}"
            )
        if self.spec.sequence and (self.target_lengths() >= max_tokens).any():
            first, others = first_above(self.target_lengths() + 1, max_tokens)
            raise ValueError(
                f"{self.place(first)}: a target of {self.target_lengths()[first] + 1} symbols, its "
                f"end among them, does not fit into batching.max_tokens={max_tokens}{others}; "
                "raise that, or shorten the target"
            )
        if self.spec.sequence and search is not None:
            self._check_targets(search)
        targets = self.counts["elements" if per_element else "rows"]
        if self.counts["missing"] == targets * max(1, self.spec.width):
            raise ValueError(
                f"the {self.name} split ({self.given}) has nothing to score: all of its "
                f"{self.counts['missing']:,} targets are missing"
            )
        if self.spec.unseen and not any(self._is_known(row) for row in self.encoded):
            raise ValueError(
                f"the {self.name} split ({self.given}) has no label that training has: "
                f"{' '.join(self.spec.unseen[:NAMED])} here, {' '.join(self.spec.labels[:NAMED])} "
                "there; is data.target the right column in both?"
            )

    def _is_known(self, row: Mapping[str, NDArray[Any]]) -> bool:
        """Whether any gold label of an encoded row is one that training has."""
        target = row["target"][row["present"] > 0]
        return bool(((target >= self.spec.first) & (target < self.spec.classes)).any())

    def _check_targets(self, search: Search) -> None:
        """Refuse targets that no search could find, as it stops before."""
        targets = self.target_lengths()
        limits = np.array([search.limit(length) for length in self.read_lengths().tolist()])
        if (targets > limits).any():
            first, others = first_above(targets, limits)
            raise ValueError(
                f"{self.place(first)}: a target of {targets[first]} symbols is longer than the "
                f"{limits[first]} that search allows here{others}; raise search.max_length "
                "(or search.length_factor, search.length_extra)"
            )


def first_above(sizes: NDArray[np.int64], limit: int | NDArray[np.int64]) -> tuple[int, str]:
    """The first row above a limit, and a remark on the others."""
    rows = np.flatnonzero(sizes > limit)
    others = f" ({len(rows) - 1} more are too long)" if len(rows) > 1 else ""
    return int(rows[0]), others
