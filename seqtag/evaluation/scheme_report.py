"""Which span scheme labels follow, what breaks it, and where: one pass, and memory that is bounded.

Not every label set is meant as spans, and not every file of spans keeps to one scheme. The report
says of each scheme how many rows fit it and where it is first broken, and of each set of schemes
how many rows fit these and no others: 300 rows that only IOB2 allows beside 40 that only IOB1
allows are a mixture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from seqtag.evaluation.schemes import (
    OUTSIDE,
    SCHEMES,
    broken,
    fitting_scheme,
    position_and_type,
)

Where = TypeVar("Where")

FIRST = 10
"""Broken transitions that are kept with their place, of each scheme."""

DISTINCT = 1000
"""Labels of no scheme that are kept by name; of a column of words there would be no end."""

_NAMES = tuple(SCHEMES)


@dataclass(frozen=True)
class BrokenTransition(Generic[Where]):
    """A label that may not follow the one before.

    Attributes:
        behind: the label before, ``O`` at the beginning of a row.
        label: the label, ``O`` at the end of a row.
        row: what stands for the row: its number from 0, or what the census was given with it.
        element: index of the label in the row; at the end of a row, that of the last label.
    """

    behind: str
    label: str
    row: Where
    element: int


@dataclass(frozen=True, kw_only=True)
class SchemeFit(Generic[Where]):
    """How well the labels keep to one scheme.

    Attributes:
        rows: rows with a span that break nothing.
        broken: transitions that break it, by the pair; ``.total()`` is their count.
        first: the first of them.
    """

    rows: int
    broken: Counter[tuple[str, str]]
    first: tuple[BrokenTransition[Where], ...]


@dataclass(frozen=True, kw_only=True)
class SchemeReport(Generic[Where]):
    """What the labels of a split say of their scheme.

    Attributes:
        scheme: the scheme of the split, as ``detect_scheme`` finds it; None: they are no spans.
        nearest: the scheme that is broken least often by those labels that are spelled in any,
            spans or not; None where there is no letter of a span.
        rows: rows with a letter of a span.
        fits: by the name of each scheme.
        together: rows with a letter of a span, by the names of all schemes that they fit.
        letters: how often each letter occurs, ``O`` included.
        others: labels that are spelled in no scheme, by name, at most ``DISTINCT`` of them.
        other_count: how often there is any such label.
    """

    scheme: str | None
    nearest: str | None
    rows: int
    fits: Mapping[str, SchemeFit[Where]]
    together: Mapping[tuple[str, ...], int]
    letters: Counter[str]
    others: Counter[str]
    other_count: int

    @property
    def elsewhere(self) -> Counter[str]:
        """Rows that break the nearest scheme and fit another one, by its name: a mixture."""
        counts: Counter[str] = Counter()
        for names, rows in self.together.items():
            if self.nearest not in names:
                counts.update(dict.fromkeys(names, rows))
        return counts

    @property
    def obstacle(self) -> str | None:
        """Why the labels are no spans, in words; None where they are."""
        if self.scheme is not None:
            return None
        if self.others:
            (label, count), *_ = self.others.most_common(1)
            total = self.other_count + self.letters.total()
            return (
                f"{self.other_count:,} of {total:,} are spelled in no scheme, the most frequent "
                f"is {label!r} ({count:,})"
            )
        if self.nearest is None:
            return "there is none but O" if self.letters else "there is none at all"
        breaks = self.fits[self.nearest].broken.total()
        return (
            f"bare letters {', '.join(sorted(self.letters))}, which may mean anything (the nearest "
            f"scheme is {self.nearest}, broken {breaks:,} times)"
        )


class SchemeCensus(Generic[Where]):
    """Counts what the report says, row by row."""

    def __init__(self) -> None:
        self._transitions: Counter[tuple[str, str]] = Counter()
        self._breaks: dict[tuple[str, str], int] = {}  # bit n: the scheme _NAMES[n]
        self._first: list[list[BrokenTransition[Where]]] = [[] for _ in _NAMES]
        self._wanted = 2 ** len(_NAMES) - 1
        self._rows_by_breaks: Counter[int] = Counter()
        self._spelled: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._other_count = 0

    def add(self, labels: Sequence[str | None], row: Where) -> None:
        """Count a row.

        Args:
            labels: of the row; missing ones (None) are passed over, and those of no scheme stand
                outside of all spans.
            row: what stands for it in the report. A few rows are kept, not all.
        """
        behind, last, breaks, inside = OUTSIDE, 0, 0, False
        for element, label in enumerate(labels):
            if label is None:
                continue
            if label not in self._spelled and position_and_type(label) is None:
                self._count_other(label)
                label = OUTSIDE
            else:
                self._spelled[label] += 1
                inside = inside or label != OUTSIDE
            breaks |= self._count(behind, label, row, element)
            behind, last = label, element
        breaks |= self._count(behind, OUTSIDE, row, last)
        if inside:
            self._rows_by_breaks[breaks] += 1

    def report(self) -> SchemeReport[Where]:
        """What was counted so far."""
        fitting = {
            tuple(name for bit, name in enumerate(_NAMES) if not breaks >> bit & 1): rows
            for breaks, rows in self._rows_by_breaks.items()
        }
        fits = {
            name: SchemeFit(
                rows=sum(rows for names, rows in fitting.items() if name in names),
                broken=broken(self._transitions, scheme),
                first=tuple(first),
            )
            for (name, scheme), first in zip(SCHEMES.items(), self._first, strict=True)
        }
        letters: Counter[str] = Counter()
        for label, count in self._spelled.items():
            letters[label[0]] += count
        spelled = letters.keys() - {OUTSIDE}
        return SchemeReport(
            scheme=None if self._others else fitting_scheme(self._transitions, self._spelled),
            nearest=min(fits, key=lambda name: fits[name].broken.total()) if spelled else None,
            rows=self._rows_by_breaks.total(),
            fits=fits,
            together=fitting,
            letters=letters,
            others=Counter(self._others),
            other_count=self._other_count,
        )

    def _count(self, behind: str, label: str, row: Where, element: int) -> int:
        """Count a transition; the schemes that it breaks, as bits."""
        pair = (behind, label)
        self._transitions[pair] += 1
        breaks = self._breaks.get(pair)
        if breaks is None:
            rules = enumerate(SCHEMES.values())
            breaks = sum(1 << bit for bit, scheme in rules if not scheme.allows(*pair))
            self._breaks[pair] = breaks
        if breaks & self._wanted:
            for bit, first in enumerate(self._first):
                if breaks >> bit & 1 and len(first) < FIRST:
                    first.append(BrokenTransition(behind, label, row, element))
                    if len(first) == FIRST:
                        self._wanted &= ~(1 << bit)
        return breaks

    def _count_other(self, label: str) -> None:
        self._other_count += 1
        if label in self._others or len(self._others) < DISTINCT:
            self._others[label] += 1


def describe_scheme(label_sequences: Iterable[Sequence[str | None]]) -> SchemeReport[int]:
    """The report on the labels of each row of a split; rows are named by their number from 0."""
    census: SchemeCensus[int] = SchemeCensus()
    for number, labels in enumerate(label_sequences):
        census.add(labels, number)
    return census.report()
