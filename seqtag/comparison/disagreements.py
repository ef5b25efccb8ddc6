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
from seqtag.evaluation.resampling import Sample, SummedRows, dense, score_sums
from seqtag.evaluation.significance import ROUNDING, pool_folds
from seqtag.training.results import digest_input

LONGEST = 300
"""Characters of an input, a gold value or a prediction that are shown."""
MOST_ELEMENTS = 12
"""Elements of a row that are shown as predicted otherwise."""


@dataclass(kw_only=True)
class RowScores:
    """The rows of all folds of one contender, one behind the other.

    Attributes:
        own: score of each row by itself, mean over the seeds that have one; NaN where none has.
        pooled: of each fold, the rows with their statistics averaged over seeds; None where they
            cannot be, the score being no function of a sum or that of each seed another one.
        columns: what the statistics are counts of.
    """

    own: NDArray[np.float64]
    pooled: list[SummedRows] | None
    columns: Any


def score_rows(sample: Sample, columns: Any) -> RowScores:
    """The rows of a contender, each by itself.

    Args:
        sample: the rows.
        columns: what their statistics are counts of; None where that differs between seeds.
    """
    own = np.stack([np.concatenate([rows.row_scores() for rows in folds]) for folds in sample])
    defined = ~np.isnan(own)
    total, seeds = np.where(defined, own, 0).sum(axis=0), defined.sum(axis=0)
    mean = np.divide(total, seeds, out=np.full(len(total), np.nan), where=seeds > 0)
    return RowScores(own=mean, pooled=pool_folds(sample, columns), columns=columns)


def advantage(
    first: RowScores, second: RowScores, *, higher_is_better: bool
) -> NDArray[np.float64]:
    """By how much the first is ahead on each row, ``[rows]``; NaN where neither has a score.

    Where only one of two has a score of the row (F1 of a row without gold spans is undefined for
    the one that finds none, and 0 for the other), it is by how much the score of the whole split
    changes if the first does that row as the second does.

    Args:
        first: one contender.
        second: the other.
        higher_is_better: of the measure.
    """
    ahead = first.own - second.own
    lone = np.isnan(first.own) != np.isnan(second.own)
    alike = first.columns == second.columns
    if lone.any() and alike and first.pooled is not None and second.pooled is not None:
        effect = [
            _swap_effects(one, other, here)
            for one, other, here in zip(
                first.pooled, second.pooled, _cut(lone, first.pooled), strict=True
            )
        ]
        ahead = np.where(lone, np.concatenate(effect), ahead)
    sign = 1.0 if higher_is_better else -1.0
    largest = max(
        (float(np.nanmax(np.abs(s.own))) for s in (first, second) if not np.isnan(s.own).all()),
        default=0.0,
    )
    return np.where(np.abs(ahead) <= ROUNDING * largest, 0.0, sign * ahead)


def _cut(values: NDArray[Any], folds: Sequence[SummedRows]) -> list[NDArray[Any]]:
    return np.split(values, np.cumsum([len(fold) for fold in folds])[:-1])


def _swap_effects(
    one: SummedRows, other: SummedRows, here: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What each of some rows adds to the score of all, done by the one rather than the other."""
    effects = np.zeros(len(one))
    places = np.flatnonzero(here)
    total = np.ones((1, len(one))) @ one.statistics
    change = dense(other.statistics[places]) - dense(one.statistics[places])
    effects[places] = score_sums(one.metric, total)[0] - score_sums(one.metric, total + change)
    return effects


@dataclass(kw_only=True)
class Difference:
    """Two contenders, row by row.

    Attributes:
        first: the better one.
        second: the other.
        ahead: see ``advantage``.
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
                    found[place] = json.loads(line)
                    digest = entry.table.digests[np.searchsorted(rows, number), 0]
                    if digest_input(found[place]) != digest:  # type: ignore[arg-type]
                        return None
                    found[place]["place"] = entry
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
