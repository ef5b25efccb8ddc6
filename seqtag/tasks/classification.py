"""A label for the whole sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec, place
from seqtag.tasks.labels import (
    always_majority,
    encode_labels,
    fit_labels,
    parse_label,
    unseen_labels,
)
from seqtag.tasks.task import Encoded, Task


class Classification(Task):
    """Sentiment, speaker, is a molecule hydrophilic: one label per sequence.

    A parsed target is a label or None.
    """

    per_element: ClassVar[bool] = False
    numeric: ClassVar[bool] = False

    def parse(self, row: Row) -> str | None:
        """See the base class."""
        target = row.get("target")
        if isinstance(target, list):
            raise ValueError(
                f"{place(row)}: classification wants one label for the sequence, and here each "
                "element has one; did you mean task=tagging?"
            )
        return parse_label(target, row)

    def fit(self, targets: Callable[[], Iterable[str | None]]) -> TargetSpec:
        """See the base class."""
        return fit_labels(targets(), scheme=None)

    def extend(self, spec: TargetSpec, targets: Iterable[str | None]) -> TargetSpec:
        """See the base class."""
        return spec.with_unseen(unseen_labels(targets, spec))

    def encode(self, target: str | None, spec: TargetSpec) -> Encoded:
        """See the base class."""
        return encode_labels([target], spec)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class."""
        shares: list[dict[str, float] | None] = [None] * len(lengths)
        if probabilities and prediction.probabilities is not None:
            shares = [
                dict(zip(spec.labels, row, strict=True))
                for row in prediction.probabilities.tolist()
            ]
        labels = (spec.labels[label] for label in prediction.value.tolist())
        return [Output(label, share) for label, share in zip(labels, shares, strict=True)]

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """See the base class."""
        return always_majority(target.value, spec)
