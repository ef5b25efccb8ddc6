"""All that is known of a data set: what was measured, and what is to be said of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from seqtag.survey.measured import Measured


@dataclass(frozen=True, kw_only=True)
class LongRowCount:
    """Rows over the limit.

    Attributes:
        limit: elements that are read in one piece.
        rows: that are longer.
        elements: that these hold beyond the limit.
        handling: ``error``, ``split`` or ``truncate``.
    """

    limit: int
    rows: int
    elements: int
    handling: str


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """All that is known of a split.

    Attributes:
        name: train, dev or test.
        given: what the config names.
        sha256: of the files.
        counts: see ``Split``.
        targets: how many there could be: of each element or row, and of each number in it.
        measured: see there.
        long_rows: see there.
    """

    name: str
    given: str
    sha256: str
    counts: dict[str, int]
    targets: int
    measured: Measured
    long_rows: LongRowCount


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Rows of a split whose input stands in another one too.

    Attributes:
        split: the one, ``of_rows`` its size.
        other: the other.
        rows: with an input of the other.
        same_target: of these, rows with a target that it has there.
        median: elements of such a row.
        first: the first of them, each with the row of the other.
    """

    split: str
    of_rows: int
    other: str
    rows: int
    same_target: int
    median: float
    first: list[str]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One kind of fault: the first messages and how many there are."""

    messages: list[str]
    count: int


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A data set as training would read it.

    Attributes:
        task: name of the class of the task.
        sequence: whether targets are sequences of their own length.
        labels: that the model learns, with their counts in training.
        scheme: of spans that it learns, and ``file_scheme`` that of the files where it differs.
        notes: how the splits and the inputs came about.
        splits: by name.
        overlaps: between splits, where there are any.
        remarks: the facts that everybody should know, in a line each.
        warnings: of what can be read and is likely not meant.
        errors: of what training refuses, ``error_count`` in all.
    """

    task: str
    sequence: bool
    labels: dict[str, int]
    scheme: str | None
    file_scheme: str | None
    notes: list[str]
    splits: dict[str, SplitFacts]
    overlaps: list[Overlap]
    remarks: list[str] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    error_count: int = 0

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
