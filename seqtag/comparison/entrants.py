"""Contenders with the statistics of their rows, read measure by measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqtag.comparison.contenders import Entry, Group
from seqtag.comparison.naming import unique
from seqtag.evaluation.resampling import Sample


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

    def meaning_of_columns(self) -> Any:
        """What the statistics are counts of, of each fold; None where seeds differ in it."""
        found = [
            [
                (spec.labels, spec.unseen, spec.mean, spec.scheme)
                for spec in (entry.table.spec for entry in folds)
            ]
            for folds in self.runs
        ]
        return found[0] if all(other == found[0] for other in found) else None


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
                f"the floor '{heading}' is not the same beside all runs, which learnt from other "
                f"rows; it is the one beside {first[0].folder.name}"
            )
        found.append((heading, floor, first, said.get("meaning", "")))
    names = unique([*(entrant.name for entrant in entrants), *(heading for heading, *_ in found)])
    return [
        Entrant(name=name, runs=[first], group=None, floor=floor, meaning=meaning)
        for name, (_, floor, first, meaning) in zip(names[len(entrants) :], found, strict=True)
    ], notes
