"""Scores of labels and confusions of them, as plain values and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from seqtag.evaluation.label_report import LabelReport
from seqtag.report.tables import print_table, spell


def plain_report(report: LabelReport) -> dict[str, Any]:
    """A report as plain values."""
    averages = {"micro": report.micro, "macro": report.macro, "weighted": report.weighted}
    return {
        "each": {name: vars(scores) for name, scores in report.labels.items()},
        "averages": {name: vars(scores) for name, scores in averages.items()},
    }


def print_report(title: str, report: Mapping[str, Any]) -> None:
    """Print what ``plain_report`` gives."""
    columns = ("precision", "recall", "f1")
    print_table(
        title,
        ["label", *columns, "support"],
        (
            [name, *(spell(scores[c]) for c in columns), f"{scores['support']:,}"]
            for name, scores in (*report["each"].items(), *report["averages"].items())
        ),
    )


def plain_confusions(
    errors: Iterable[tuple[str | None, str | None, int]],
) -> list[dict[str, str | int | None]]:
    """Gold, predicted and count of errors as plain values."""
    return [{"gold": gold, "predicted": guess, "count": count} for gold, guess, count in errors]


def print_confusions(title: str, confusions: list[dict[str, Any]]) -> None:
    """Print what ``plain_confusions`` gives, if there is anything."""
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
