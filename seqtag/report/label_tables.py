"""Scores of labels and confusions of them, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqtag.evaluation.errors import most_frequent
from seqtag.evaluation.label_report import LabelReport
from seqtag.report.analyses.table import Table

CONFUSIONS = 10
"""Errors that the terminal shows."""

Counts = Mapping[tuple[Any, Any], int]
"""How often, by gold and predicted; None stands for nothing."""


def report_table(name: str, title: str, report: LabelReport) -> Table:
    """Precision, recall, F1 and support of each label, and then their averages."""
    averages = {"micro": report.micro, "macro": report.macro, "weighted": report.weighted}
    columns = ("precision", "recall", "f1", "support")
    # A label may be called "micro" too; the second column tells it from an average.
    rows = [
        (label, kind, *(getattr(scores, column) for column in columns))
        for kind, entries in (("label", report.labels), ("average", averages))
        for label, scores in entries.items()
    ]
    return Table(
        name=name,
        title=title,
        columns=("label", "kind", *columns),
        rows=rows,
        shown_columns=("label", *columns),
        content={
            "each": {label: vars(scores) for label, scores in report.labels.items()},
            "averages": {kind: vars(scores) for kind, scores in averages.items()},
        },
    )


def counts_table(name: str, counts: Counts) -> Table:
    """All pairs of gold and predicted that occur, the right ones too, the most frequent first."""
    rows = sorted(
        ((gold, predicted, count) for (gold, predicted), count in counts.items()),
        key=lambda row: (-row[2], str(row[0]), str(row[1])),
    )
    return Table(name=name, title=name, columns=("gold", "predicted", "count"), rows=rows, shown=0)


def frequent_table(name: str, title: str, counts: Counts) -> Table:
    """The most frequent errors."""
    return Table(
        name=name,
        title=title,
        columns=("gold", "predicted", "count"),
        rows=most_frequent(counts, CONFUSIONS),
        written=False,
    )
