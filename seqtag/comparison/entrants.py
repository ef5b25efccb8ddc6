"""Contenders with the statistics of their rows, read measure by measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqtag.comparison.contenders import Entry, Group
from seqtag.comparison.naming import unique
from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.resampling import Sample
from seqtag.evaluation.spans import SpanF1Strict


@dataclass(kw_only=True)
class Entrant:
    """One of those that are compared: runs, or a floor.

    Attributes:
        name: short, and no other's.
        runs: of each seed, of each fold; of a floor, the runs beside which it was scored.
        group: None for a floor.
        floor: its name in the files; None for runs.
        meaning: what is said of a floor.
    """

    name: str
    runs: Sequence[Sequence[Entry]]
    group: Group | None
    floor: str | None = None
    meaning: str | None = None

    def has(self, measure: str) -> bool:
        """Whether all its runs were scored by a measure."""
        return all(
            measure in entry.table.measures
            and (self.floor is None or f"{self.floor}/{measure}" in entry.table.columns)
            for folds in self.runs
            for entry in folds
        )

    def sample(self, measure: str) -> Sample:
        """The rows under a measure, of each seed, of each fold.

        Raises:
            ValueError: a file is damaged.
        """
        return [[entry.table.scored(measure, self.floor) for entry in folds] for folds in self.runs]

    def columns(self, measure: str) -> list[list[dict[str, Any]]] | None:
        """What the statistics of a measure are counts of, of each seed, of each fold.

        See ``Metric.counts_of``; None for a measure that has no statistics.
        """
        found = []
        for folds in self.runs:
            kinds = [entry.table.measures[measure] for entry in folds]
            metrics = [kind for kind in kinds if isinstance(kind, Metric)]
            if len(metrics) < len(kinds):
                return None
            found.append([{n: getattr(kind.spec, n) for n in kind.counts_of} for kind in metrics])
        return found

    def shared_columns(self, measure: str) -> list[dict[str, Any]] | None:
        """The same of each fold; None also where seeds differ in it."""
        found = self.columns(measure)
        return found[0] if found and all(other == found[0] for other in found) else None


def name_entrants(contenders: Mapping[str, Group]) -> list[Entrant]:
    """Runs under the names that they have."""
    return [Entrant(name=name, runs=group.runs, group=group) for name, group in contenders.items()]


def find_floors(
    entrants: Sequence[Entrant], split: str, measures: Sequence[str]
) -> tuple[list[Entrant], list[str]]:
    """The floors that were scored beside runs, and what must be said of them.

    A floor is one contender. Where it was fitted on other rows beside other runs, it is the one
    beside the first runs that have it.

    Args:
        entrants: the runs.
        split: that is compared.
        measures: by which two floors are told apart.
    """
    beside: dict[str, list[Sequence[Entry]]] = {}
    for entrant in entrants:
        for folds in entrant.runs:
            for floor in folds[0].table.floors:
                if all(floor in entry.table.floors for entry in folds):
                    beside.setdefault(floor, []).append(folds)
    notes = []
    found = []
    for floor, runs in beside.items():
        first = runs[0]
        said = first[0].table.floors[floor]
        heading = said.get("heading", floor)
        keys = [f"{floor}/{split}/{measure}" for measure in measures]
        scores = {
            repr([[entry.record.metrics.get(key) for key in keys] for entry in folds])
            for folds in runs
        }
        if len(scores) > 1:
            notes.append(
                f"the floor '{heading}' is not the same beside all runs, which {_apart(runs)}; "
                f"it is the one beside {first[0].folder.name}"
            )
        found.append((heading, floor, first, said.get("meaning", "")))
    names = unique([*(entrant.name for entrant in entrants), *(heading for heading, *_ in found)])
    return [
        Entrant(name=name, runs=[first], group=None, floor=floor, meaning=meaning)
        for name, (_, floor, first, meaning) in zip(names[len(entrants) :], found, strict=True)
    ], notes


def _apart(runs: Sequence[Sequence[Entry]]) -> str:
    """In what runs differ that a floor may have from them."""
    specs = [[entry.table.spec for entry in folds] for folds in runs]
    for name, said in (("scheme", "learnt other span schemes"), ("labels", "learnt other labels")):
        values = [[getattr(spec, name) for spec in own] for own in specs]
        if any(own != values[0] for own in values):
            return said
    return "learnt from other rows"


def remark_schemes(entrants: Sequence[Entrant], measures: Sequence[str]) -> Iterator[str]:
    """Yield what must be said of runs that learnt other span schemes.

    Args:
        entrants: the runs.
        measures: that are shown.
    """
    learnt: dict[str, list[str]] = {}
    read: dict[str, None] = {}
    for entrant in entrants:
        table = entrant.runs[0][0].table
        learnt.setdefault(str(table.spec.scheme), []).append(entrant.name)
        for name in measures:
            kind = table.measures.get(name)
            if isinstance(kind, SpanF1Strict) or "scheme" in getattr(kind, "counts_of", ()):
                read[name] = None
    if len(learnt) > 1:
        schemes = "; ".join(f"{scheme} {', '.join(names)}" for scheme, names in learnt.items())
        yield f"not one span scheme: {schemes}. Each is scored in its own by {', '.join(read)}"
