"""One split of a data set: its rows, their numbers, and what was counted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset as Table
from numpy.typing import NDArray

from seqtag.batch import TargetSpec
from seqtag.data.corpus import EncodedRows
from seqtag.nn.search import Search


@dataclass
class Split:
    """One split, on disk.

    Attributes:
        name: train, dev or test.
        path: the file it was read from.
        digest: SHA-256 of that file.
        rows: as read: tokens or vectors, parsed target, file and line.
        encoded: as the model reads them.
        spec: of the target, with the labels that only this split has.
        counts: ``rows``, ``elements``, ``longest``, ``empty`` (rows left out as they hold
            nothing), ``unknown`` (elements training never saw), ``missing`` (targets).
    """

    name: str
    path: Path
    digest: str
    rows: Table
    encoded: EncodedRows
    spec: TargetSpec
    counts: dict[str, int]

    def sizes(self) -> NDArray[np.int64]:
        """Cells that a row needs in a batch: of its input, or of a longer target with its end."""
        lengths = self.encoded.lengths()
        return np.maximum(lengths, self.target_lengths() + 1) if self.spec.sequence else lengths

    def target_lengths(self) -> NDArray[np.int64]:
        """Symbols of each row's target sequence, its end not counted."""
        return self.encoded.sizes("target") - 1

    def source(self) -> dict[str, Any]:
        """What a run's record says of it."""
        return {"path": str(self.path), "sha256": self.digest, **self.counts}

    def place(self, row: int) -> str:
        """``file:line`` of a row."""
        found = self.rows[int(row)]
        return f"{found['file']}:{found['line']}"

    def check(self, *, max_tokens: int, search: Search | None, per_element: bool) -> None:
        """Refuse what no cache may hide.

        Args:
            max_tokens: elements of the longest row that is taken.
            search: what limits the length of target sequences; None where there are none.
            per_element: whether every element has a target, rather than the row.

        Raises:
            ValueError: a row or a target sequence is over its limit, or no target is there.
        """
        lengths = self.sizes()
        too_long = np.flatnonzero(lengths > max_tokens)
        if len(too_long):
            first = too_long[0]
            others = f" ({len(too_long) - 1} more rows do not)" if len(too_long) > 1 else ""
            raise ValueError(
                f"{self.place(first)}: a sequence of {lengths[first]} elements does not fit into "
                f"batching.max_tokens={max_tokens}{others}; raise that, or shorten the sequence"
            )
        if self.spec.sequence and search is not None:
            self._check_targets(search)
        targets = self.counts["elements" if per_element else "rows"]
        if self.counts["missing"] == targets * max(1, self.spec.width):
            raise ValueError(
                f"the {self.name} split ({self.path}) has nothing to score: all of its "
                f"{self.counts['missing']:,} targets are missing"
            )

    def _check_targets(self, search: Search) -> None:
        """Refuse targets that no search could find, as it stops before."""
        targets = self.target_lengths()
        limits = np.array([search.limit(length) for length in self.encoded.lengths().tolist()])
        too_long = np.flatnonzero(targets > limits)
        if len(too_long):
            first = too_long[0]
            others = f" ({len(too_long) - 1} more are too long)" if len(too_long) > 1 else ""
            raise ValueError(
                f"{self.place(first)}: a target of {targets[first]} symbols is longer than the "
                f"{limits[first]} that search allows here{others}; raise search.max_length "
                "(or search.length_factor, search.length_extra)"
            )
