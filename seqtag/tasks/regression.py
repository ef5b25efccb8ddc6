"""A number, or several, for the whole sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec, place
from seqtag.tasks.numbers import (
    Numbers,
    decode_numbers,
    encode_numbers,
    fit_numbers,
    means,
    parse_numbers,
)
from seqtag.tasks.task import Encoded, Task


class Regression(Task):
    """Solubility, age, rating: the same count of numbers for every sequence.

    A parsed target is a list of numbers, None where one is missing.
    """

    per_element: ClassVar[bool] = False
    numeric: ClassVar[bool] = True

    def parse(self, row: Row) -> Numbers:
        """See the base class."""
        if "element_lines" in row:
            raise ValueError(
                f"{place(row)}: regression wants one target for the sequence, and here each "
                "element has one; did you mean task=token_regression?"
            )
        return parse_numbers(row.get("target"), row)

    def fit(self, targets: Callable[[], Iterable[Numbers]]) -> TargetSpec:
        """See the base class."""
        return fit_numbers(targets())

    def extend(self, spec: TargetSpec, targets: Iterable[Numbers]) -> TargetSpec:
        """See the base class."""
        return spec

    def encode(self, target: Numbers, spec: TargetSpec) -> Encoded:
        """See the base class."""
        return encode_numbers([target], spec)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class."""
        return [Output(decode_numbers(row)) for row in prediction.value.double().numpy()]

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """See the base class."""
        return Prediction(means(target, spec))
