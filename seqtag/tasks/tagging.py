"""A label for every element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec, length, place
from seqtag.evaluation.conversion import convert, respell_probabilities
from seqtag.evaluation.scheme_report import describe_scheme
from seqtag.evaluation.spans import detect_scheme
from seqtag.tasks.labels import (
    always_majority,
    encode_labels,
    fit_labels,
    parse_label,
    unseen_labels,
)
from seqtag.tasks.task import Encoded, Task

Labels = list[str | None]


class Tagging(Task):
    """Part-of-speech tags, named entities, secondary structure: one label per element.

    A parsed target is a list with a label, or None, per element, as the file has it. Where the
    labels are spans (``B-X``, ``I-X``, ``O``), the scheme is detected over the whole training
    split.

    With ``learn_scheme`` the model learns, and is scored on, those spans in another scheme: its
    labels, their counts, token accuracy and span scores are all in that one. Gold labels of every
    split are converted in the same way, so that a label is unseen where the converted training
    labels lack it. Outputs are written back in the scheme of the files.
    """

    per_element: ClassVar[bool] = True
    numeric: ClassVar[bool] = False
    _scheme: str | None = None

    def learn_scheme(self, scheme: str) -> None:
        """See the base class."""
        self._scheme = scheme

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
        """See the base class.

        Raises:
            ValueError: a scheme is to be learnt, and the labels are no spans.
        """
        found = detect_scheme(targets())
        if self._scheme in (None, found):
            return fit_labels(chain.from_iterable(targets()), scheme=found)
        if found is None:
            raise ValueError(
                f"data.scheme={self._scheme} converts spans, and the training labels are none: "
                f"{describe_scheme(targets()).obstacle}; set data.scheme=null"
            )
        converted = (convert(labels, found, self._scheme) for labels in targets())
        spec = fit_labels(chain.from_iterable(converted), scheme=self._scheme)
        return replace(spec, file_scheme=found)

    def extend(self, spec: TargetSpec, targets: Iterable[Labels]) -> TargetSpec:
        """See the base class.

        Raises:
            ValueError: the model learnt another scheme than the one that is set.
        """
        if self._scheme not in (None, spec.scheme):
            raise ValueError(
                f"data.scheme={self._scheme}, and the model has learnt labels of the scheme "
                f"{spec.scheme}; leave data.scheme as it was in training"
            )
        converted = (_learnt(labels, spec) for labels in targets)
        return spec.with_unseen(unseen_labels(chain.from_iterable(converted), spec))

    def encode(self, target: Labels, spec: TargetSpec) -> Encoded:
        """See the base class."""
        return encode_labels(_learnt(target, spec), spec)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class.

        Where the scheme of the files is another one than the model's, values and probabilities are
        of the labels that the files would have, see ``conversion``.
        """
        outputs = []
        for row, size in enumerate(lengths):
            labels = [spec.labels[label] for label in prediction.value[row, :size].tolist()]
            shares = None
            if probabilities and prediction.probabilities is not None:
                shares = _shares(labels, prediction.probabilities[row, :size].tolist(), spec)
            outputs.append(Output(_written(labels, spec), shares))
        return outputs

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """See the base class."""
        return always_majority(target.value, spec)


def _learnt(labels: Labels, spec: TargetSpec) -> Labels:
    """Labels of a file as the model learns them."""
    if spec.file_scheme is None:
        return labels
    assert spec.scheme is not None
    return convert(labels, spec.file_scheme, spec.scheme)


def _written(labels: Sequence[str | None], spec: TargetSpec) -> Labels:
    """Labels of the model as the files have them."""
    if spec.file_scheme is None:
        return list(labels)
    assert spec.scheme is not None
    return convert(labels, spec.scheme, spec.file_scheme)


def _shares(
    labels: Sequence[str], shares: Sequence[Sequence[float]], spec: TargetSpec
) -> list[dict[str, float]]:
    """For each element, probabilities by the labels that the files have."""
    if spec.file_scheme is None:
        return [dict(zip(spec.labels, element, strict=True)) for element in shares]
    return respell_probabilities(labels, shares, spec.labels, spec.file_scheme)
