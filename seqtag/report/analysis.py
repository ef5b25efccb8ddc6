"""Where a model errs on a split: by label or span, by confusion, by known and unknown words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, ClassVar

import torch

from seqtag.batch import UNKNOWN, WORD, Batch, Prediction, TargetSpec
from seqtag.datamodule import DataModule
from seqtag.evaluation.errors import Confusion, DividedAccuracy, SpanConfusion, Tally
from seqtag.evaluation.label_report import LabelReport
from seqtag.evaluation.label_sets import LabelSetMacroF1
from seqtag.evaluation.schemes import invalid_transitions
from seqtag.evaluation.sequences import Edits, ExactMatch
from seqtag.evaluation.spans import SpanF1Strict
from seqtag.report.label_tables import (
    plain_confusions,
    plain_report,
    print_confusions,
    print_report,
)
from seqtag.report.tables import print_table, spell
from seqtag.split import Split

CONFUSIONS = 10


class Analysis(ABC):
    """Counts what can be said of the errors, batch by batch."""

    worst_by: ClassVar[str | None] = None
    """The metric that ranks the worst rows, where the one that selects tells them only apart as
    right and wrong."""

    @abstractmethod
    def update(self, batch: Batch, prediction: Prediction) -> None:
        """Count a batch."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Everything counted, as plain values."""

    @abstractmethod
    def show(self) -> None:
        """Print it as tables."""


class NumberAnalysis(Analysis):
    """Nothing beyond the scores and the worst rows: numbers have no labels to confuse."""

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""

    def content(self) -> dict[str, Any]:
        """See the base class."""
        return {}

    def show(self) -> None:
        """See the base class."""


class LabelAnalysis(Analysis):
    """Errors by label, and by whether the model knows the word.

    Args:
        spec: of the split.
        per_element: whether every element has a label.
    """

    def __init__(self, spec: TargetSpec, *, per_element: bool) -> None:
        self._confusion = Confusion((*spec.labels, *spec.unseen))
        self._known = DividedAccuracy()
        self._per_element = per_element

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._confusion.update(prediction.value, batch.target)
        if self._per_element and WORD in batch.inputs:
            known = batch.inputs[WORD] != UNKNOWN
            self._known.update(prediction.value, batch.target, known)

    def content(self) -> dict[str, Any]:
        """See the base class."""
        content: dict[str, Any] = {
            "labels": plain_report(self._confusion.report()),
            "confusions": plain_confusions(self._confusion.most_frequent(CONFUSIONS)),
        }
        parts = (("known", self._known.inside), ("unknown", self._known.outside))
        if any(tally.total for _, tally in parts):
            content["words"] = {
                name: {"accuracy": tally.accuracy, "count": tally.total} for name, tally in parts
            }
        return content

    def show(self) -> None:
        """See the base class."""
        content = self.content()
        print_report("labels", content["labels"])
        print_confusions("most frequent confusions", content["confusions"])
        if "words" in content:
            print_table(
                "words that the vocabulary has, and has not",
                ["words", "accuracy", "count"],
                (
                    [name, spell(part["accuracy"]), f"{part['count']:,}"]
                    for name, part in content["words"].items()
                ),
            )


class LabelSetAnalysis(Analysis):
    """Errors by label, of rows that have several, and how many a row has and is given.

    Args:
        spec: of the split, of sets of labels.
    """

    def __init__(self, spec: TargetSpec) -> None:
        self._names = (*spec.labels, *spec.unseen)
        self._counter = LabelSetMacroF1(spec)
        self._counts = torch.zeros(self._counter.size, dtype=torch.float64)
        self._rows = 0

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._counts += self._counter.row_statistics(prediction.value, batch.target).sum(dim=0)
        self._rows += int(batch.target.present.any(dim=1).sum())

    def content(self) -> dict[str, Any]:
        """See the base class."""
        each = self._counts.long().reshape(3, -1).T.tolist()
        _, predicted, gold = self._counts.reshape(3, -1).sum(dim=1).tolist()
        counts = {
            name: (right, given, wanted)
            for name, (right, given, wanted) in zip(self._names, each, strict=True)
        }
        return {
            "labels": plain_report(LabelReport.of(counts)),
            "labels_per_row": {
                "gold": gold / max(1, self._rows),
                "predicted": predicted / max(1, self._rows),
            },
        }

    def show(self) -> None:
        """See the base class."""
        content = self.content()
        print_report("labels", content["labels"])
        mean = content["labels_per_row"]
        print(f"labels in a row: {mean['gold']:.2f} in gold, {mean['predicted']:.2f} predicted")


class SpanAnalysis(Analysis):
    """Errors by span type beside those by label, and labels that break the scheme.

    Args:
        spec: of the split, with a scheme.
    """

    def __init__(self, spec: TargetSpec) -> None:
        assert spec.scheme is not None
        self._labels = LabelAnalysis(spec, per_element=True)
        self._reader = SpanF1Strict(spec).reader
        self._spans = SpanConfusion()
        self._names, self._scheme = (*spec.labels, *spec.unseen), spec.scheme
        self._invalid: Counter[tuple[str | None, str | None]] = Counter()

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._labels.update(batch, prediction)
        self._spans.update(self._reader.pairs(prediction.value, batch.target))
        lengths = batch.layout.lengths.tolist()
        rows = (
            [self._names[label] for label in row[:length]]
            for row, length in zip(prediction.value.tolist(), lengths, strict=True)
        )
        self._invalid.update(invalid_transitions(rows, self._scheme))

    def content(self) -> dict[str, Any]:
        """See the base class."""
        return {
            **self._labels.content(),
            "scheme": self._scheme,
            "spans": plain_report(self._spans.report()),
            "span_confusions": plain_confusions(self._spans.most_frequent(CONFUSIONS)),
            "invalid_transitions": self._invalid.total(),
        }

    def show(self) -> None:
        """See the base class."""
        content = self.content()
        self._labels.show()
        print_report(f"spans, read strictly as {self._scheme}", content["spans"])
        print_confusions("most frequent span errors", content["span_confusions"])
        print(f"predicted labels that {self._scheme} does not allow where they stand: ", end="")
        print(f"{content['invalid_transitions']:,}")


class SequenceAnalysis(Analysis):
    """Which symbols are taken for which, left out and put in; and whether unknown input matters.

    Args:
        spec: of the split, of sequences.
    """

    worst_by: ClassVar[str | None] = "symbol_error_rate"

    def __init__(self, spec: TargetSpec) -> None:
        self._edits = Edits((*spec.labels, *spec.unseen))
        self._exact = ExactMatch(spec)
        self._inputs = {"known": Tally(), "unknown": Tally()}
        self._cut = 0

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._edits.update(prediction.value, batch.target)
        if prediction.complete is not None:
            self._cut += int((~prediction.complete).sum())
        if WORD not in batch.inputs:
            return
        right, present = self._exact.row_statistics(prediction.value, batch.target).bool().unbind(1)
        unknown = (batch.inputs[WORD] == UNKNOWN).any(dim=1).cpu()
        for name, rows in (("known", ~unknown), ("unknown", unknown)):
            self._inputs[name].correct += int((right & rows).sum())
            self._inputs[name].total += int((present & rows).sum())

    def content(self) -> dict[str, Any]:
        """See the base class."""
        return {
            "edits": plain_confusions(self._edits.most_frequent(CONFUSIONS)),
            "cut_at_limit": self._cut,
            "inputs": {
                name: {"exact_match": tally.accuracy, "count": tally.total}
                for name, tally in self._inputs.items()
                if tally.total
            },
        }

    def show(self) -> None:
        """See the base class."""
        content = self.content()
        print_confusions("most frequent edits", content["edits"])
        print(f"outputs that the search ended at its limit: {self._cut:,}")
        if "unknown" in content["inputs"]:
            print_table(
                "inputs whose elements the vocabulary all has, and not all",
                ["elements", "exact_match", "count"],
                (
                    [name, spell(part["exact_match"]), f"{part['count']:,}"]
                    for name, part in content["inputs"].items()
                ),
            )


def make_analysis(data: DataModule, split: Split) -> Analysis:
    """The analysis that suits a split's targets."""
    if split.spec.sequence:
        return SequenceAnalysis(split.spec)
    if split.spec.multi:
        return LabelSetAnalysis(split.spec)
    if split.spec.scheme is not None:
        return SpanAnalysis(split.spec)
    if split.spec.labels:
        return LabelAnalysis(split.spec, per_element=data.task.per_element)
    return NumberAnalysis()
