"""What a pass over the rows of a split tells: plain values, which the page shows and JSON holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHOWN = 5
"""Places, labels or messages of a kind that are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Elements in the rows of a split.

    Attributes:
        longest: of one row, and ``longest_place`` where it is.
        mean: over the rows.
        quantiles: by their name (``50%``), the length that so many rows do not exceed.
        histogram: ``[from, to, rows]``, both ends included; each bin is twice as wide as the last.
    """

    longest: int
    longest_place: str
    mean: float
    quantiles: dict[str, float]
    histogram: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The elements of a split where they are text.

    Attributes:
        types: distinct elements.
        unknown_types: of these, those that the model will not know.
        with_blanks: elements with a blank inside.
        marked: elements that hold a byte order mark (U+FEFF).
        garbled: elements that look like UTF-8 read as another encoding, and one of them.
    """

    types: int
    unknown_types: int
    with_blanks: int
    marked: int
    garbled: int
    garbled_example: str | None


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The labels of a split, or the symbols of its target sequences.

    Attributes:
        counts: how often each occurs, frequent ones first, as the files spell them.
        once: labels that occur once, the first of them with their place.
        odd: labels that hold control characters, or blanks at an end, with their first place.
        unseen: how often labels occur that training lacks, as the model learns them.
    """

    counts: dict[str, int]
    once: dict[str, str]
    odd: dict[str, str]
    unseen: dict[str, int]

    @property
    def single(self) -> int:
        """How many labels occur once."""
        return sum(count == 1 for count in self.counts.values())


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """One of the numbers of the targets, over a split."""

    count: int
    mean: float
    deviation: float
    minimum: float
    maximum: float


@dataclass(frozen=True, kw_only=True)
class Spans:
    """The span scheme of a split's labels.

    Attributes:
        scheme: that the split follows, or None.
        against: the scheme of training, or else the one that is broken least often.
        rows: rows that hold a letter of a span.
        broken: transitions that break that one, and ``first`` where they are.
        elsewhere: rows that break it and keep to another scheme, by its name.
        obstacle: why the labels are no spans; None where they are.
    """

    scheme: str | None
    against: str | None
    rows: int
    broken: int
    first: list[str]
    elsewhere: dict[str, int]
    obstacle: str | None


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Rows of a split with the same input.

    Attributes:
        groups: inputs that stand in several rows.
        rows: rows whose input stands in an earlier one too.
        first: the first of them, each with the earlier row.
        run: most rows one behind the other that repeat rows one behind the other, as a document
            does that is there twice; ``run_places`` is where both begin.
        conflicts: inputs that have different targets.
        conflict_rows: rows that have such an input.
        first_conflicts: two rows of each of the first of them.
    """

    groups: int
    rows: int
    first: list[str]
    run: int
    run_places: str
    conflicts: int
    conflict_rows: int
    first_conflicts: list[str]


@dataclass(frozen=True, kw_only=True)
class Features:
    """A further column of a split: distinct categories and how many are unknown, or a number."""

    column: str
    categories: int | None
    unknown: int
    numbers: Numbers | None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What takes a pass over the rows of a split to know; None where there is no such thing.

    Attributes:
        files: that the rows come from.
        several_references: rows with several right targets.
        constant_vectors: numbers of the vectors, from 0, that never vary.
    """

    files: list[str]
    lengths: Lengths
    tokens: Tokens | None
    labels: Labels | None
    numbers: list[Numbers]
    spans: Spans | None
    repeats: Repeats
    several_references: int
    constant_vectors: list[int]
    features: list[Features]

    @classmethod
    def of_plain(cls, values: dict[str, Any]) -> Measured:
        """The one whose ``asdict`` this is, from JSON or not."""
        kinds: dict[str, type] = {
            "lengths": Lengths,
            "tokens": Tokens,
            "labels": Labels,
            "spans": Spans,
            "repeats": Repeats,
        }
        made = {
            name: kinds[name](**value) if name in kinds and value is not None else value
            for name, value in values.items()
        }
        made["numbers"] = [Numbers(**value) for value in values["numbers"]]
        made["features"] = [
            Features(**{**value, "numbers": value["numbers"] and Numbers(**value["numbers"])})
            for value in values["features"]
        ]
        return cls(**made)
