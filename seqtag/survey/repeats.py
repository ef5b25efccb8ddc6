"""Rows with the same input, within a split and across splits, by the hashes of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqtag.survey.facts import Overlap
from seqtag.survey.measured import SHOWN, Repeats


@dataclass(frozen=True, kw_only=True)
class Hashes:
    """What tells equal rows of a split, 8 bytes a row each.

    Attributes:
        name: of the split.
        inputs: hashes of what the model reads.
        rows: hashes of that with the target.
        scored: whether a row has a target.
        lengths: elements.
        place: where a row is, by its number.
    """

    name: str
    inputs: NDArray[np.int64]
    rows: NDArray[np.int64]
    scored: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    place: Callable[[int], str]


def find_repeats(split: Hashes) -> Repeats:
    """Repeated inputs of a split, and those whose targets differ."""
    order = np.argsort(split.inputs, kind="stable")  # equal ones stay in the order of the file
    same = _as_before(split.inputs[order])
    # Number in ``order`` of the first row with the same input.
    begin = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    repeated = np.flatnonzero(same)
    shown = repeated[np.argsort(order[repeated])[:SHOWN]]
    run, run_places = _longest_run(split, order[repeated], order[begin[repeated]])
    conflicts, conflict_rows, first = _conflicts(split)
    return Repeats(
        groups=len(np.unique(begin[repeated])),
        rows=len(repeated),
        first=[
            pair(split.place(int(order[at])), "as", split.place(int(order[begin[at]])))
            for at in shown
        ],
        run=run,
        run_places=run_places,
        conflicts=conflicts,
        conflict_rows=conflict_rows,
        first_conflicts=first,
    )


def _longest_run(
    split: Hashes, rows: NDArray[np.int64], earlier: NDArray[np.int64]
) -> tuple[int, str]:
    """The most repeats one behind the other of rows one behind the other, and where they begin.

    Args:
        split: that they are in.
        rows: that repeat one.
        earlier: the first row that each repeats.
    """
    if not len(rows):
        return 0, ""
    in_order = np.argsort(rows)
    rows, earlier = rows[in_order], earlier[in_order]
    begins = np.flatnonzero(
        np.concatenate([[True], (np.diff(rows) != 1) | (np.diff(earlier) != 1)])
    )
    runs = np.diff(np.append(begins, len(rows)))
    at = begins[runs.argmax()]
    return int(runs.max()), pair(split.place(int(rows[at])), "as", split.place(int(earlier[at])))


def _conflicts(split: Hashes) -> tuple[int, int, list[str]]:
    """Inputs with different targets, the rows that have them, and two rows of the first ones."""
    scored = np.flatnonzero(split.scored)
    inputs = split.inputs[scored]
    order = np.argsort(inputs, kind="stable")
    inputs, targets = inputs[order], split.rows[scored][order]
    same = _as_before(inputs)
    group = np.cumsum(~same) - 1
    begin = np.flatnonzero(~same)
    differs = targets != targets[begin[group]] if len(begin) else np.zeros(0, bool)
    in_conflict = np.zeros(len(begin), bool)
    in_conflict[group[differs]] = True
    others = scored[order]
    # The first row of each group that differs from the one that begins it.
    at = np.flatnonzero(differs)
    _, one_each = np.unique(group[at], return_index=True)
    at = at[one_each]
    at = at[np.argsort(others[begin[group[at]]])][:SHOWN]
    first = [
        pair(split.place(int(others[begin[group[a]]])), "and", split.place(int(others[a])))
        for a in at
    ]
    return int(in_conflict.sum()), int(in_conflict[group].sum()), first


def _as_before(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of sorted values, whether each equals the one before."""
    same = np.zeros(len(values), bool)
    same[1:] = values[1:] == values[:-1]
    return same


def pair(place: str, word: str, other: str) -> str:
    """Two places in few words: the line alone of the second where both are in one file."""
    (file, _, _), (other_file, _, line) = place.rpartition(":"), other.rpartition(":")
    return f"{place} {word} {f'line {line}' if file == other_file else other}"


def find_overlap(split: Hashes, other: Hashes) -> Overlap | None:
    """The rows of a split whose input the other has as well; None where there are none."""
    leaked = np.flatnonzero(np.isin(split.inputs, other.inputs))
    if not len(leaked):
        return None
    same = np.isin(split.rows[leaked], other.rows) & split.scored[leaked]
    first = []
    for row in leaked[:SHOWN].tolist():
        there = int(np.flatnonzero(other.inputs == split.inputs[row])[0])
        first.append(pair(split.place(row), "as", other.place(there)))
    return Overlap(
        split=split.name,
        of_rows=len(split.inputs),
        other=other.name,
        rows=len(leaked),
        same_target=int(same.sum()),
        median=float(np.median(split.lengths[leaked])),
        first=first,
    )
