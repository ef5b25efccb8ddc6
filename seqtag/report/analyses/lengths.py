"""The scores of rows by their length."""

from __future__ import annotations

from collections.abc import Mapping
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
    groups = buckets.of(lengths)
    names = sorted(measures, key=lambda name: name != first)
    floors = [f"{ConstantFloor.name}/{name}" for name in names]
    columns = [column for pair in zip(names, floors, strict=True) for column in pair]
    columns = [column for column in columns if column in table]
    rows = []
    for place in np.unique(groups).tolist():
        chosen = np.flatnonzero(groups == place)
        sizes = [len(chosen), int(lengths[chosen].sum())] if per_element else [len(chosen)]
        scores = [_score(table[column], chosen, measures[_name(column)]) for column in columns]
        rows.append((buckets.names[place], *sizes, *scores))
    counted = ["rows", "elements"] if per_element else ["rows"]
    return Table(
        name="by_length",
        title="by length of the row, in elements",
        columns=("length", *counted, *columns),
        rows=rows,
        shown_columns=("length", *counted, *columns[:SHOWN]),
    )


def _name(column: str) -> str:
    return column.removeprefix(f"{ConstantFloor.name}/")


def _score(values: Any, chosen: NDArray[np.int64], measure: Measure) -> float:
    """The score of the chosen rows from their statistics ``[rows, size]``, or lists of cells."""
    if isinstance(measure, Metric):
        return measure.score(torch.from_numpy(values[chosen].sum(axis=0)))
    assert isinstance(measure, RankMetric), "there is no other kind"
    return measure.score(torch.from_numpy(np.concatenate([values[row] for row in chosen])))
