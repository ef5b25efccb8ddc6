"""Numbers as targets, for the tasks whose targets are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqtag.batch import Row, Target, TargetSpec, place
from seqtag.data.readers.values import parse_number
from seqtag.data.vocabulary import Moments

Numbers = list[float | None]
"""One target: its numbers, None where one is missing."""

MOST_DEVIATIONS = 1e5
"""Farther than this many deviations from zero, targets lose their second digit in float32."""

LARGEST = 1e30
"""Beyond it float32 ends, and squares of it long before."""

MISSING: Numbers = [None]
"""A target that is missing as a whole, whatever its width."""

TARGETS_PER_STEP = 1000


def parse_numbers(cell: Any, row: Row, element: int | None = None) -> Numbers:
    """A target cell, or a list of them, as numbers.

    Raises:
        ValueError: a cell is not a finite number, or too large.
    """
    cells = cell if isinstance(cell, list) else [cell]
    numbers: Numbers = []
    for value in cells:
        if value is None:
            numbers.append(None)
            continue
        try:
            number = parse_number(str(value))
        except ValueError:
            raise ValueError(
                f"{place(row, element)}: the target {value!r:.60} is not a number; if it means "
                "'no value', set data.missing to it"
            ) from None
        if abs(number) > LARGEST:
            raise ValueError(
                f"{place(row, element)}: the target {value!r:.60} is too large to be computed with "
                f"(over {LARGEST:g}); give it in another unit"
            )
        numbers.append(number)
    return numbers


def fit_numbers(targets: Iterable[Numbers]) -> TargetSpec:
    """Mean and deviation of each number over the training split.

    The first target that is not missing says how many numbers there are. One of another width
    is passed over: ``encode_numbers`` will refuse it, where its file and line are known.

    Raises:
        ValueError: a number is missing everywhere.
    """
    moments: list[Moments] = []
    waiting = iter(targets)
    while block := list(islice(waiting, TARGETS_PER_STEP)):
        if not moments:
            first = next((numbers for numbers in block if numbers != MISSING), [])
            moments = [Moments() for _ in first]
        block = [numbers for numbers in block if len(numbers) == len(moments)]
        for column, moment in enumerate(moments):
            present = [n[column] for n in block if n[column] is not None]
            moment.add(np.array(present, dtype=np.float64).reshape(-1, 1))
    if not moments:
        raise ValueError("the training data has no target at all: every target is missing")
    for number, moment in enumerate(moments, 1):
        if not moment.count:
            raise ValueError(f"number {number} of the target is missing in all the training data")
        mean, deviation = float(moment.mean[0]), float(moment.deviation[0])
        if abs(mean) > MOST_DEVIATIONS * deviation or max(abs(mean), deviation) > LARGEST:
            raise ValueError(
                f"the targets have mean {mean:.6g} and deviation {deviation:.6g}, which 32-bit "
                "numbers cannot tell apart; subtract an offset, or take another unit"
            )
    return TargetSpec(
        mean=tuple(float(moment.mean[0]) for moment in moments),
        deviation=tuple(float(moment.deviation[0]) for moment in moments),
    )


def encode_numbers(targets: Sequence[Numbers], spec: TargetSpec) -> dict[str, NDArray[Any]]:
    """Numbers ``[n, width]`` in their own units, 0 where missing, and which are present."""
    shape = (len(targets), spec.width)
    cells = [number for numbers in targets for number in _widen(numbers, spec.width)]
    present = np.fromiter((cell is not None for cell in cells), np.uint8, len(cells))
    target = np.fromiter((0.0 if cell is None else cell for cell in cells), np.float32, len(cells))
    return {"target": target.reshape(shape), "present": present.reshape(shape)}


def _widen(numbers: Numbers, width: int) -> Numbers:
    if numbers == MISSING:
        return numbers * width
    if len(numbers) != width:
        raise ValueError(f"a target of {len(numbers)} numbers, where the first one has {width}")
    return numbers


def decode_numbers(values: NDArray[Any]) -> Any:
    """One target ``[width]`` as a number, or a list where there are several."""
    numbers = [float(value) for value in values]
    return numbers[0] if len(numbers) == 1 else numbers


def means(target: Target, spec: TargetSpec) -> Tensor:
    """The training mean in the place of every target."""
    return torch.tensor(spec.mean, dtype=target.value.dtype).expand_as(target.value)
