"""The scores of rows by their length, and by whether training has their input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.evaluation.buckets import Buckets
from seqtag.evaluation.metrics import Measure, Metric, RankMetric
from seqtag.floors.floor import ConstantFloor
from seqtag.report.analyses.table import Table

SHOWN = 3
"""Scores that fit on a terminal: the first, that of the floor, and the next."""


def by_length(
    lengths: NDArray[np.int64],
    table: Mapping[str, Any],
    measures: Mapping[str, Measure],
    *,
    first: str,
    per_element: bool,
) -> Table:
    """Every score of the rows of each range of lengths, beside that of the constant floor.

    Args:
        lengths: elements of each row that was scored, in the order of the table.
        table: as ``ScoredSplit`` has it.
        measures: by name.
        first: name of the score that is to stand before the others.
        per_element: whether elements are counted too.
    """
    buckets = Buckets.of_lengths(int(lengths.max(initial=1)))
    columns = _columns(table, measures, first)
    rows = []
    for name, chosen in _groups(buckets.of(lengths), buckets.names):
        sizes = [len(chosen), int(lengths[chosen].sum())] if per_element else [len(chosen)]
        rows.append((name, *sizes, *_scores(table, columns, measures, chosen)))
    counted = ["rows", "elements"] if per_element else ["rows"]
    return Table(
        name="by_length",
        title="by length of the row, in elements",
        columns=("length", *counted, *columns),
        rows=rows,
        shown_columns=("length", *counted, *columns[:SHOWN]),
        note="elements without a target are among the elements" if per_element else "",
    )


def by_source(
    seen: NDArray[np.bool_],
    table: Mapping[str, Any],
    measures: Mapping[str, Measure],
    *,
    first: str,
) -> Table:
    """Every score of the rows whose input is a training row's too, and of the others.

    Args:
        seen: whether training has the input of each row that was scored, in the order of the table.
        table: see ``by_length``.
        measures: see ``by_length``.
        first: see ``by_length``.
    """
    columns = _columns(table, measures, first)
    return Table(
        name="by_source",
        title="inputs that training has as a whole, and has not",
        columns=("input", "rows", *columns),
        rows=[
            (name, len(chosen), *_scores(table, columns, measures, chosen))
            for name, chosen in _groups(seen.astype(np.int64), ["unseen", "seen"])
        ],
        shown_columns=("input", "rows", *columns[:SHOWN]),
    )


def _groups(
    groups: NDArray[np.int64], names: Sequence[str]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the name of each group that has rows, and the places of these."""
    for group in np.unique(groups).tolist():
        yield names[group], np.flatnonzero(groups == group)


def _columns(table: Mapping[str, Any], measures: Mapping[str, Measure], first: str) -> list[str]:
    """Scores with that of the floor behind each, as far as the table has them."""
    names = sorted(measures, key=lambda name: name != first)
    pairs = ((name, f"{ConstantFloor.name}/{name}") for name in names)
    return [column for pair in pairs for column in pair if column in table]


def _scores(
    table: Mapping[str, Any],
    columns: Sequence[str],
    measures: Mapping[str, Measure],
    chosen: NDArray[np.int64],
) -> list[float]:
    return [_score(table[column], chosen, measures[_name(column)]) for column in columns]


def _name(column: str) -> str:
    return column.removeprefix(f"{ConstantFloor.name}/")


def _score(values: Any, chosen: NDArray[np.int64], measure: Measure) -> float:
    """The score of the chosen rows from their statistics ``[rows, size]``, or lists of cells."""
    if isinstance(measure, Metric):
        return measure.score(torch.from_numpy(values[chosen].sum(axis=0)))
    assert isinstance(measure, RankMetric), "there is no other kind"
    return measure.score(torch.from_numpy(np.concatenate([values[row] for row in chosen])))
