"""Errors of spans beside those of their labels, and labels that break the scheme."""

from __future__ import annotations

from collections import Counter
from typing import Any

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.evaluation.errors import SpanConfusion
from seqtag.evaluation.schemes import invalid_transitions
from seqtag.evaluation.span_errors import (
    BOTH,
    MISSED,
    PAIRED,
    RULE,
    SPURIOUS,
    WRONG_TYPE,
    SpanErrors,
)
from seqtag.evaluation.spans import SpanF1Conlleval, SpanF1Strict
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.labels import LabelAnalysis
from seqtag.report.analyses.table import Table
from seqtag.report.analyses.words import WordAnalysis
from seqtag.report.label_tables import frequent_table, report_table
from seqtag.report.plots.picture import Picture

POLICY = (
    "spans are read in two ways: strictly, where labels that break the scheme make no span, and as "
    "the conlleval script does, which begins a span at any label that does not go on with one. "
    "The labels themselves are repaired for neither score"
)
AS_THEY_ARE = "; predictions are written as they are"
CONVERTED = (
    "; predictions are read leniently and written back in the scheme of the files, {file_scheme}"
)


class SpanAnalysis(Analysis):
    """Errors by span type, by kind, and by label.

    Args:
        spec: of the split, with a scheme.
        words: see ``LabelAnalysis``.
    """

    def __init__(self, spec: TargetSpec, *, words: WordAnalysis | None) -> None:
        assert spec.scheme is not None
        self._labels = LabelAnalysis(spec, words=words)
        self._readers = {
            "strict": SpanF1Strict(spec).reader,
            "conlleval": SpanF1Conlleval(spec).reader,
        }
        self._kinds = {reading: SpanErrors() for reading in self._readers}
        self._spans = SpanConfusion()
        self._names, self._scheme = (*spec.labels, *spec.unseen), spec.scheme
        self._file_scheme = spec.file_scheme
        self._invalid: Counter[tuple[str, str]] = Counter()

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._labels.update(batch, prediction)
        for reading, reader in self._readers.items():
            pairs = list(reader.pairs(prediction.value, batch.target))
            self._kinds[reading].update(pairs)
            if reading == "strict":
                self._spans.update(pairs)
        lengths = batch.layout.lengths.tolist()
        rows = (
            [self._names[label] for label in row[:length]]
            for row, length in zip(prediction.value.tolist(), lengths, strict=True)
        )
        self._invalid.update(invalid_transitions(rows, self._scheme))

    def tables(self) -> list[Table]:
        """See the base class."""
        strictly = f"read strictly as {self._scheme}"
        return [
            *self._labels.tables(),
            report_table("spans", f"spans, {strictly}", self._spans.report()),
            frequent_table(
                "span_confusions",
                "spans of one begin and end that are missing or of another type on one side",
                self._spans.counts(),
            ),
            self._kinds_table(),
            self._kinds_by_type(f"kinds of error by type of span, {strictly}"),
            Table(
                name="invalid_transition_pairs",
                title=f"predicted labels that {self._scheme} does not allow behind each other",
                columns=("before", "label", "count"),
                rows=[
                    (before, label, count)
                    for (before, label), count in sorted(
                        self._invalid.items(), key=lambda entry: (-entry[1], entry[0])
                    )
                ],
                shown=5,
            ),
        ]

    def _kinds_table(self) -> Table:
        """How often each kind occurs in each reading."""
        content: dict[str, dict[str, int]] = {}
        for reading, errors in self._kinds.items():
            paired = {kind: errors.of_gold(kind) for kind in PAIRED}
            left = {MISSED: errors.of_gold(MISSED), SPURIOUS: errors.of_predicted(SPURIOUS)}
            both = sum(paired.values())
            sums = {"gold": both + left[MISSED], "predicted": both + left[SPURIOUS]}
            content[reading] = sums | paired | left
        return Table(
            name="span_errors",
            title="kinds of span error",
            columns=("spans", *content),
            rows=[
                (kind, *(counts[kind] for counts in content.values())) for kind in content["strict"]
            ],
            note=RULE,
            content=content,
        )

    def _kinds_by_type(self, title: str) -> Table:
        """Of each type: what became of its gold spans, and what the predicted ones are."""
        errors = self._kinds["strict"]
        rows = []
        for name in errors.types():
            gold = [errors.of_gold(kind, name) for kind in (*PAIRED, MISSED)]
            # Found ones and those of the right type have the same type on both sides.
            instead = [errors.of_predicted(kind, name) for kind in (WRONG_TYPE, BOTH)]
            spurious = errors.of_predicted(SPURIOUS, name)
            predicted = sum(errors.of_predicted(kind, name) for kind in (*PAIRED, SPURIOUS))
            rows.append((name, sum(gold), *gold, predicted, *instead, spurious))
        return Table(
            name="span_errors_by_type",
            title=title,
            columns=(
                "type",
                "gold",
                *PAIRED,
                MISSED,
                "predicted",
                "given_for_another_type",
                "given_for_another_type_elsewhere",
                SPURIOUS,
            ),
            rows=rows,
            shown_columns=("type", "gold", *PAIRED, MISSED, SPURIOUS),
        )

    def facts(self) -> dict[str, Any]:
        """See the base class."""
        return {
            "scheme": self._scheme,
            "invalid_transitions": self._invalid.total(),
            "repair_policy": self._policy(),
            "span_error_rule": RULE,
        }

    def remarks(self) -> list[str]:
        """See the base class."""
        return [
            f"predicted labels that {self._scheme} does not allow where they stand: "
            f"{self._invalid.total():,}",
            self._policy(),
        ]

    def _policy(self) -> str:
        if self._file_scheme is None:
            return POLICY + AS_THEY_ARE
        return POLICY + CONVERTED.format(file_scheme=self._file_scheme)

    def pictures(self) -> list[Picture]:
        """See the base class."""
        return self._labels.pictures()
