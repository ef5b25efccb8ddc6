"""Where a model errs on a split: by label or span, by confusion, by known and unknown words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from seqtag.batch import UNKNOWN, WORD, Batch, Prediction, TargetSpec
from seqtag.datamodule import DataModule
from seqtag.evaluation.errors import Confusion, DividedAccuracy, SpanConfusion, Tally
from seqtag.evaluation.label_report import LabelReport
from seqtag.evaluation.schemes import invalid_transitions
from seqtag.evaluation.sequences import Edits, ExactMatch
from seqtag.evaluation.spans import SpanF1Strict
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
            "labels": _report(self._confusion.report()),
            "confusions": _confusions(self._confusion.most_frequent(CONFUSIONS)),
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
        _print_report("labels", content["labels"])
        _print_confusions("most frequent confusions", content["confusions"])
        if "words" in content:
            print_table(
                "words that the vocabulary has, and has not",
                ["words", "accuracy", "count"],
                (
                    [name, spell(part["accuracy"]), f"{part['count']:,}"]
                    for name, part in content["words"].items()
                ),
            )


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
            "spans": _report(self._spans.report()),
            "span_confusions": _confusions(self._spans.most_frequent(CONFUSIONS)),
            "invalid_transitions": self._invalid.total(),
        }

    def show(self) -> None:
        """See the base class."""
        content = self.content()
        self._labels.show()
        _print_report(f"spans, read strictly as {self._scheme}", content["spans"])
        _print_confusions("most frequent span errors", content["span_confusions"])
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
            "edits": _confusions(self._edits.most_frequent(CONFUSIONS)),
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
        _print_confusions("most frequent edits", content["edits"])
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
    if split.spec.scheme is not None:
        return SpanAnalysis(split.spec)
    if split.spec.labels:
        return LabelAnalysis(split.spec, per_element=data.task.per_element)
    return NumberAnalysis()


def _report(report: LabelReport) -> dict[str, Any]:
    averages = {"micro": report.micro, "macro": report.macro, "weighted": report.weighted}
    return {
        "each": {name: vars(scores) for name, scores in report.labels.items()},
        "averages": {name: vars(scores) for name, scores in averages.items()},
    }


def _print_report(title: str, report: Mapping[str, Any]) -> None:
    columns = ("precision", "recall", "f1")
    print_table(
        title,
        ["label", *columns, "support"],
        (
            [name, *(spell(scores[c]) for c in columns), f"{scores['support']:,}"]
            for name, scores in (*report["each"].items(), *report["averages"].items())
        ),
    )


def _confusions(
    errors: Iterable[tuple[str | None, str | None, int]],
) -> list[dict[str, str | int | None]]:
    return [{"gold": gold, "predicted": guess, "count": count} for gold, guess, count in errors]


def _print_confusions(title: str, confusions: list[dict[str, Any]]) -> None:
    if confusions:
        print_table(
            title,
            ["gold", "predicted", "count"],
            ([_named(c["gold"]), _named(c["predicted"]), str(c["count"])] for c in confusions),
        )


def _named(label: str | None) -> str:
    """A label as a table shows it; blanks must be seen, and nothing must not look like a label."""
    if label is None:
        return "(nothing)"
    return label if label.strip() else repr(label)
