"""What a loader hands out: rows as they are, stretches of long ones, each of several targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import END
from seqtag.data.corpus import EncodedRows
from seqtag.data.windows import LongRows, Window

TARGET, PRESENT, REFERENCES = "target", "present", "references"
"""Columns of encoded rows beside the input fields."""

EncodedRow = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Examples(Sequence[EncodedRow]):
    """Encoded rows, or what is made of them for one purpose.

    Attributes:
        encoded: the rows.
        rows: row of each example.
        sizes: cells that each needs in a batch.
        windows: by example, the stretch of its row; the others are whole.
        references: which of the accepted targets each example has; None for the first.
        per_element: whether targets are cut with the inputs.
    """

    encoded: EncodedRows
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    per_element: bool
    windows: Mapping[int, Window] = field(default_factory=dict)
    references: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, example: int) -> EncodedRow:  # type: ignore[override]
        row = self.encoded[int(self.rows[example])]
        if example in self.windows:
            row = stretch(row, self.windows[example], per_element=self.per_element)
        if self.references is not None:
            chosen = split_references(row[REFERENCES])[int(self.references[example])]
            row = {**row, TARGET: chosen, PRESENT: np.ones(len(chosen), np.uint8)}
        return row


def stretch(row: EncodedRow, window: Window, *, per_element: bool) -> EncodedRow:
    """The part of a row that a window reads; targets count where the window says."""
    kept = (TARGET, PRESENT, REFERENCES)
    cut = {
        name: values if name in kept else values[window.start : window.stop]
        for name, values in row.items()
    }
    if per_element:
        cut[TARGET] = row[TARGET][window.start : window.stop]
        cut[PRESENT] = row[PRESENT][window.start : window.stop].copy()
        cut[PRESENT][: window.first - window.start] = 0
        cut[PRESENT][window.last - window.start :] = 0
    return cut


def split_references(ids: NDArray[Any]) -> list[NDArray[Any]]:
    """The accepted targets of a row, each with its end, from one behind the other."""
    ends = np.flatnonzero(ids == END) + 1
    return np.split(ids, ends[:-1]) if len(ends) else []


def scoring_examples(
    encoded: EncodedRows, sizes: NDArray[np.int64], long_rows: LongRows, *, per_element: bool
) -> Examples:
    """Every row once, and whole where every element has a target and so an answer."""
    rows = np.arange(len(encoded))
    if per_element or not long_rows.truncates:
        return Examples(encoded, rows, sizes, per_element)
    limit = long_rows.limit
    long = np.flatnonzero(encoded.lengths() > limit)
    cells = np.where(_has_longer_target(encoded, sizes), sizes, np.minimum(sizes, limit))
    windows = dict.fromkeys(long.tolist(), Window(0, limit, 0, limit))
    return Examples(encoded, rows, cells, per_element, windows)


def training_examples(
    encoded: EncodedRows, sizes: NDArray[np.int64], long_rows: LongRows, *, per_element: bool
) -> Examples:
    """Every row; long ones in stretches, and those with several targets once with each."""
    if REFERENCES in encoded.columns:
        examples = scoring_examples(encoded, sizes, long_rows, per_element=per_element)
        return _each_reference(examples)
    lengths = encoded.lengths()
    long = np.flatnonzero(lengths > long_rows.limit)
    if not len(long):
        return Examples(encoded, np.arange(len(encoded)), sizes, per_element)
    rows = [np.setdiff1d(np.arange(len(encoded)), long)]
    example = len(rows[0])
    windows: dict[int, Window] = {}
    for row in long.tolist():
        for window in long_rows.training_windows(int(lengths[row])):
            windows[example] = window
            rows.append(np.array([row]))
            example += 1
    taken = np.concatenate(rows)
    cells = sizes[taken]
    longer = np.zeros(len(encoded), bool) if per_element else _has_longer_target(encoded, sizes)
    for number, window in windows.items():
        if not longer[taken[number]]:
            cells[number] = window.stop - window.start
    return Examples(encoded, taken, cells, per_element, windows)


def _has_longer_target(encoded: EncodedRows, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows need their cells for a target, which is not cut with the input."""
    longer: NDArray[np.bool_] = (sizes > encoded.lengths()) | (sizes == encoded.sizes(TARGET))
    return longer


def _each_reference(examples: Examples) -> Examples:
    """Every example once with each of its accepted targets, or as it is where it has none."""
    rows: list[int] = []
    sizes: list[int] = []
    chosen: list[int] = []
    windows: dict[int, Window] = {}
    for number, row in enumerate(examples.rows.tolist()):
        references = split_references(examples.encoded[row][REFERENCES])
        for which, reference in enumerate(references):
            if number in examples.windows:
                windows[len(rows)] = examples.windows[number]
            rows.append(row)
            sizes.append(max(int(examples.sizes[number]), len(reference)))
            chosen.append(which)
    return Examples(
        examples.encoded,
        np.array(rows, np.int64),
        np.array(sizes, np.int64),
        examples.per_element,
        windows,
        np.array(chosen, np.int64),
    )


def learnt_parts(
    row: EncodedRow, long_rows: LongRows, *, per_element: bool, sequence: bool
) -> Iterator[tuple[EncodedRow, int]]:
    """What is learnt of one row, as ``training_examples`` has it of many, with the cells it needs.

    Args:
        row: its arrays; input fields come first.
        long_rows: what is done with rows over the limit.
        per_element: whether every element has a target.
        sequence: whether the target is a sequence of its own length.
    """
    length = len(next(iter(row.values())))
    windows = long_rows.training_windows(length)
    for window in windows:
        part = (
            row
            if len(windows) == 1 and window.stop == length
            else stretch(row, window, per_element=per_element)
        )
        size = len(next(iter(part.values())))
        if not sequence:
            yield part, size
        elif REFERENCES in part:
            for target in split_references(part[REFERENCES]):
                present = np.ones(len(target), np.uint8)
                yield {**part, TARGET: target, PRESENT: present}, max(size, len(target))
        else:
            yield part, max(size, len(part[TARGET]))
