"""A number, or several, for every element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import ClassVar

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec, length, place
from seqtag.tasks.numbers import (
    MISSING,
    Numbers,
    decode_numbers,
    encode_numbers,
    fit_numbers,
    means,
    parse_numbers,
)
from seqtag.tasks.task import Encoded, Task


class TokenRegression(Task):
    """Reading time per word, intent per event: the same count of numbers for every element.

    A parsed target is a list with a list of numbers per element, None where one is missing.
    """

    per_element: ClassVar[bool] = True
    numeric: ClassVar[bool] = True

    def parse(self, row: Row) -> list[Numbers]:
        """See the base class."""
        target = row.get("target")
        if target is None:
            return [MISSING] * length(row)
        if not isinstance(target, list):
            raise ValueError(
                f"{place(row)}: token_regression wants one number per element; "
                f"the target is {target!r:.60}"
            )
        return [parse_numbers(cell, row, element) for element, cell in enumerate(target)]

    def fit(self, targets: Callable[[], Iterable[list[Numbers]]]) -> TargetSpec:
        """See the base class."""
        return fit_numbers(chain.from_iterable(targets()))

    def extend(self, spec: TargetSpec, targets: Iterable[list[Numbers]]) -> TargetSpec:
        """See the base class."""
        return spec

    def encode(self, target: list[Numbers], spec: TargetSpec) -> Encoded:
        """See the base class."""
        return encode_numbers(target, spec)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class."""
        values = prediction.value.double().numpy()
        return [
            Output([decode_numbers(element) for element in row[:size]])
            for row, size in zip(values, lengths, strict=True)
        ]

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """See the base class."""
        return Prediction(means(target, spec))
