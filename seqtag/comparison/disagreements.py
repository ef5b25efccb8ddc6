"""Rows that one contender does better than another, with examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.comparison.comparison import Disagreement, Example
from seqtag.comparison.contenders import Entry
from seqtag.comparison.entrants import Entrant
from seqtag.comparison.record import PREDICTIONS, damage
from seqtag.data.source import build_input_tokenizer
from seqtag.training.results import digest_input

LONGEST = 300
"""Characters of an input, a gold value or a prediction that are shown."""
MOST_ELEMENTS = 12
"""Elements of a row that are shown as predicted otherwise."""


@dataclass(kw_only=True)
class Difference:
    """Two contenders, row by row.

    Attributes:
        first: the better one.
        second: the other.
        ahead: see ``row_scores.advantage``.
        scores: own score of each row of both, ``[rows, 2]``.
    """

    first: Entrant
    second: Entrant
    ahead: NDArray[np.float64]
    scores: NDArray[np.float64]

    def most(self, examples: int, *, reverse: bool = False) -> list[int]:
        """The rows where the first is ahead most, or the second."""
        values = np.nan_to_num(-self.ahead if reverse else self.ahead)
        order = np.argsort(-values, kind="stable")[:examples]
        return [int(place) for place in order if values[place] > 0]


def describe(
    differences: Sequence[Difference], examples: int
) -> tuple[list[Disagreement], list[str]]:
    """Counts and examples of several pairs, and what must be said of them.

    Args:
        differences: of the pairs.
        examples: rows to show for each side of each.
    """
    shown = [
        (one.most(examples), one.most(examples, reverse=True)) if examples else ([], [])
        for one in differences
    ]
    wanted: dict[str, set[int]] = {}
    entrants: dict[str, Entrant] = {}
    for one, (ahead, behind) in zip(differences, shown, strict=True):
        for entrant in (one.first, one.second):
            entrants[entrant.name] = entrant
            wanted.setdefault(entrant.name, set()).update(ahead, behind)
    lines = {name: _read(entrants[name].runs[0], places) for name, places in wanted.items()}
    lacking = [name for name, found in lines.items() if found is None]
    notes = []
    if lacking:
        notes.append(
            f"no examples of {', '.join(lacking)}: {PREDICTIONS} is missing or of another split"
        )
    made = []
    for one, (ahead, behind) in zip(differences, shown, strict=True):
        first, second = lines[one.first.name], lines[one.second.name]
        known = first is not None and second is not None
        made.append(
            Disagreement(
                first=one.first.name,
                second=one.second.name,
                first_better=int((one.ahead > 0).sum()),
                second_better=int((one.ahead < 0).sum()),
                alike=int((one.ahead == 0).sum()),
                for_first=[_example(one, p, first, second) for p in ahead] if known else [],
                for_second=[_example(one, p, first, second) for p in behind] if known else [],
            )
        )
    return made, notes


def _read(folds: Sequence[Entry], places: set[int]) -> dict[int, dict[str, Any]] | None:
    """Lines of the predictions of one seed by place among the rows of all folds.

    None where the predictions are not those of the rows.
    """
    found: dict[int, dict[str, Any]] = {}
    begin = 0
    for entry in folds:
        rows = entry.table.rows
        here = {int(rows[p - begin]): p for p in places if begin <= p < begin + len(rows)}
        begin += len(rows)
        file = entry.folder / PREDICTIONS
        if not file.is_file():
            return None
        with damage(file), file.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream):
                if number in here:
                    place = here[number]
                    read = json.loads(line)
                    digest = entry.table.digests[np.searchsorted(rows, number), 0]
                    if digest_input(read) != digest:
                        return None
                    found[place] = {**read, "place": entry}
    return found if found.keys() == places else None


def _example(one: Difference, place: int, first: Any, second: Any) -> Example:
    line, entry = first[place], first[place]["place"]
    begin = 0  # of the fold that the row is in
    for fold in one.first.runs[0]:
        if fold is entry:
            break
        begin += len(fold.table.rows)
    answers = (line["predicted"], second[place]["predicted"])
    elements = line.get("tokens", line.get("vectors"))
    gold = line["gold"]
    shown = show_elements(elements, gold, answers) or show_values(gold, answers)
    return Example(
        row=int(entry.table.rows[place - begin]),
        place=f"{line['file']}:{line['line']}" if "file" in line else "",
        input=_cut_text(_input(line, entry)),
        gold=shown[0],
        first=shown[1],
        second=shown[2],
        scores=(float(one.scores[place, 0]), float(one.scores[place, 1])),
    )


def _input(line: Mapping[str, Any], entry: Entry) -> str:
    if "tokens" in line:
        return build_input_tokenizer(entry.record.config["data"]).join(line["tokens"])
    return f"{len(line['vectors'])} vectors"


def show_elements(elements: Any, gold: Any, answers: Sequence[Any]) -> list[str] | None:
    """Of a target per element, gold and answers where they are not of one mind; else None."""
    lists = [gold, *answers]
    if not all(isinstance(values, list) and len(values) == len(elements) for values in lists):
        return None
    places = [
        place
        for place, values in enumerate(zip(*lists, strict=True))
        if values[0] is not None and any(value != values[0] for value in values)
    ]
    if isinstance(elements[0] if elements else "", str):
        names = [str(element) for element in elements]
    else:
        names = [str(number) for number in range(1, len(elements) + 1)]
    more = " ..." if len(places) > MOST_ELEMENTS else ""
    return [
        _cut_text(
            " ".join(f"{names[p]}/{_value(values[p])}" for p in places[:MOST_ELEMENTS]) + more
        )
        for values in lists
    ]


def show_values(gold: Any, answers: Sequence[Any]) -> list[str]:
    """Of any other target, gold and answers as they are."""
    return [_cut_text(_value(value)) for value in (gold, *answers)]


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " ".join(map(_value, value))
    return str(value)


def _cut_text(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
