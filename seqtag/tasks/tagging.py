"""A label for every element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import ClassVar

import torch

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec, place
from seqtag.data.inputs import length
from seqtag.evaluation.spans import detect_scheme
from seqtag.tasks.labels import encode_labels, fit_labels, majority, parse_label, unseen_labels
from seqtag.tasks.task import Encoded, Task

Labels = list[str | None]


class Tagging(Task):
    """Part-of-speech tags, named entities, secondary structure: one label per element.

    A parsed target is a list with a label, or None, per element. Where the labels are spans
    (``B-X``, ``I-X``, ``O``), the scheme is detected over the whole training split.
    """

    per_element: ClassVar[bool] = True
    numeric: ClassVar[bool] = False

    def parse(self, row: Row) -> Labels:
        """See the base class."""
        target = row.get("target")
        if target is None:
            return [None] * length(row)
        if not isinstance(target, list):
            raise ValueError(
                f"{place(row)}: tagging wants one label per element; the target is {target!r:.60}"
            )
        return [parse_label(cell, row, element) for element, cell in enumerate(target)]

    def fit(self, targets: Callable[[], Iterable[Labels]]) -> TargetSpec:
        """See the base class."""
        return fit_labels(chain.from_iterable(targets()), scheme=detect_scheme(targets()))

    def extend(self, spec: TargetSpec, targets: Iterable[Labels]) -> TargetSpec:
        """See the base class."""
        return spec.with_unseen(unseen_labels(chain.from_iterable(targets), spec))

    def encode(self, target: Labels, spec: TargetSpec) -> Encoded:
        """See the base class."""
        return encode_labels(target, spec)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class."""
        outputs = []
        for row, size in enumerate(lengths):
            ids = prediction.value[row, :size].tolist()
            shares = None
            if probabilities and prediction.probabilities is not None:
                shares = [
                    dict(zip(spec.labels, element, strict=True))
                    for element in prediction.probabilities[row, :size].tolist()
                ]
            outputs.append(Output([spec.labels[label] for label in ids], shares))
        return outputs

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """See the base class."""
        return Prediction(torch.full_like(target.value, majority(spec)))
