"""The tables of a comparison, from which the terminal, the page and the Markdown are made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqtag.comparison.comparison import Comparison, Contender, Pair, Score
from seqtag.evaluation.significance import LEVEL
from seqtag.report.comparison.numbers import (
    NONE,
    decimals,
    defined,
    spell_count,
    spell_interval,
    spell_number,
    spell_p,
    spell_range,
    spell_seconds,
)

FLOOR = "floor"

FEW, WORDS, WORDS_OF_MANY = 10, 8, 3
"""How many contenders are few, and verdicts that are shown at once of each of few and of many."""


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes:
        text: to read.
        order: to sort by; None where there is nothing, which is sorted last.
        floor: whether it names a floor.
    """

    text: str
    order: float | str | None = None
    floor: bool = False


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        columns: their titles.
        rows: a cell for each column.
        names: how many columns at the left say what a row is about; the others hold numbers.
    """

    columns: list[str]
    rows: list[list[Cell]]
    names: int


def score_columns(comparison: Comparison) -> Grid:
    """Rank, contender, and the score that is compared, with what makes it uncertain."""
    metric = comparison.metric
    places = places_of(comparison, metric)
    return Grid(
        ["#", "contender", metric, "95% interval", "± seeds", "seeds"],
        [
            [*_names(rank, one), *_score(one.scores.get(metric), places), _seeds(one)]
            for rank, one in enumerate(comparison.contenders, 1)
        ],
        names=2,
    )


def cost_columns(comparison: Comparison) -> Grid:
    """What the contenders took."""
    return Grid(
        ["#", "contender", "parameters", "training", "elements/s", "best epoch"],
        [
            [
                *_names(rank, one),
                _number(spell_count(one.parameters), one.parameters),
                _number(spell_seconds(one.seconds), one.seconds),
                _number(spell_count(one.tokens_per_second), one.tokens_per_second),
                _number(
                    spell_range(one.best_epochs),
                    sum(one.best_epochs) / len(one.best_epochs) if one.best_epochs else None,
                ),
            ]
            for rank, one in enumerate(comparison.contenders, 1)
        ],
        names=2,
    )


def other_columns(comparison: Comparison, *, intervals: bool) -> Grid:
    """The mean of every other score, and of the compared one on dev."""
    metrics = other_metrics(comparison)
    dev = [f"dev {comparison.metric}"] if _has_dev(comparison) else []
    rows = []
    for rank, one in enumerate(comparison.contenders, 1):
        row = _names(rank, one)
        if dev:
            value = one.dev.get(comparison.metric)
            row.append(
                _number(spell_number(value, places_of(comparison, comparison.metric)), value)
            )
        for metric in metrics:
            found = _score(one.scores.get(metric), places_of(comparison, metric))
            row += found[: 1 + intervals]
        rows.append(row)
    titles = [title for metric in metrics for title in ([metric, "95%"] if intervals else [metric])]
    return Grid(["#", "contender", *dev, *titles], rows, names=2)


def join(first: Grid, second: Grid) -> Grid:
    """Two tables of the same rows side by side."""
    rows = [
        [*left, *right[second.names :]] for left, right in zip(first.rows, second.rows, strict=True)
    ]
    return Grid([*first.columns, *second.columns[second.names :]], rows, first.names)


def pair_columns(comparison: Comparison) -> Grid:
    """Every two contenders that were tested."""
    places = places_of(comparison, comparison.metric)
    ranks = ranks_of(comparison)
    return Grid(
        ["better", "other", "difference", "95% interval", "p", "corrected p", "over seeds"],
        [
            [
                Cell(f"{ranks[pair.first]} {pair.first}", ranks[pair.first]),
                Cell(f"{ranks[pair.second]} {pair.second}", ranks[pair.second]),
                _number(spell_number(pair.difference, places), pair.difference),
                _number(spell_interval(pair.low, pair.high, places), pair.low),
                *(_number(spell_p(p), p) for p in (pair.p, pair.corrected, pair.p_seeds)),
            ]
            for pair in comparison.pairs
        ],
        names=2,
    )


def setting_columns(comparison: Comparison) -> Grid:
    """In which settings they differ: the many down, the few across."""
    runs = [(rank, one) for rank, one in enumerate(comparison.contenders, 1) if not one.floor]
    keys = list(dict.fromkeys(key for _, one in runs for key in one.settings))
    if len(runs) > max(len(keys), 6):
        rows = [[*_names(rank, one), *(_setting(one, key) for key in keys)] for rank, one in runs]
        return Grid(["#", "contender", *keys], rows, names=2)
    rows = [[Cell(key, key), *(_setting(one, key) for _, one in runs)] for key in keys]
    return Grid(["setting", *(f"{rank} {one.name}" for rank, one in runs)], rows, names=1)


def environment_rows(content: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Nested values as dotted names and texts."""
    if isinstance(content, dict) and content:
        return [
            row
            for key, value in content.items()
            for row in environment_rows(value, f"{prefix}.{key}" if prefix else str(key))
        ]
    return [(prefix, spell_value(content))] if prefix else []


def spell_value(value: Any) -> str:
    """A value of a config: a text as it is, others as in JSON, as YAML reads too."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def other_metrics(comparison: Comparison) -> list[str]:
    """Those beside the compared one, in the contenders' own order."""
    found = dict.fromkeys(name for one in comparison.contenders for name in one.scores)
    return [name for name in found if name != comparison.metric]


def places_of(comparison: Comparison, metric: str) -> int:
    """Decimals of a metric, the same in all tables."""
    scores = [one.scores[metric] for one in comparison.contenders if metric in one.scores]
    return decimals(metric, [score.mean for score in scores])


def ranks_of(comparison: Comparison) -> dict[str, int]:
    """The place of each contender, by name, from 1."""
    return {one.name: rank for rank, one in enumerate(comparison.contenders, 1)}


def floors(comparison: Comparison) -> list[tuple[str, str]]:
    """Name and meaning of every floor."""
    return [(one.name, one.floor) for one in comparison.contenders if one.floor is not None]


def spoken_of(comparison: Comparison) -> list[Contender]:
    """Those whose verdicts are shown: what is said of a floor is said of all others against it."""
    return [one for one in comparison.contenders if one.words and one.floor is None]


def words_at_once(comparison: Comparison) -> int:
    """How many verdicts of a contender are shown before what is folded away or left out."""
    return WORDS if len(spoken_of(comparison)) <= FEW else WORDS_OF_MANY


def told_apart(pair: Pair) -> bool:
    """Whether the rows tell two contenders apart, all pairs considered."""
    return defined(pair.corrected) and pair.corrected < LEVEL


def told_apart_by_seeds(pair: Pair) -> bool:
    """Whether other seeds would say so too; one seed knows nothing of others."""
    return pair.p_seeds is not None and pair.p_seeds < LEVEL


def _names(rank: int, one: Contender) -> list[Cell]:
    return [Cell(str(rank), rank), Cell(one.name, one.name, floor=one.floor is not None)]


def _score(score: Score | None, places: int) -> list[Cell]:
    """Mean, interval, spread."""
    if score is None:
        return [Cell(NONE)] * 3
    return [
        _number(spell_number(score.mean, places), score.mean),
        _number(spell_interval(score.low, score.high, places), score.low),
        _number(spell_number(score.spread, places), score.spread),
    ]


def _seeds(one: Contender) -> Cell:
    if not one.seeds:
        return Cell(NONE)
    folds = f" x {one.folds} folds" if one.folds else ""
    return Cell(f"{len(one.seeds)}{folds}", len(one.seeds))


def _setting(one: Contender, key: str) -> Cell:
    if key not in one.settings:
        return Cell(NONE)
    value = one.settings[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = spell_value(value)
    return Cell(text, value if number else text)


def _number(text: str, value: float | None) -> Cell:
    return Cell(text, value if defined(value) else None)


def _has_dev(comparison: Comparison) -> bool:
    return comparison.split != "dev" and any(
        comparison.metric in one.dev for one in comparison.contenders
    )


def width(texts: Sequence[str]) -> int:
    """Columns of the widest of some texts, as on a terminal."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)
