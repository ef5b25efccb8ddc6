"""The rows that cost a score most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqtag.datamodule import DataModule
from seqtag.evaluation.errors import worst_rows
from seqtag.evaluation.metrics import Metric
from seqtag.report.lettering import plain
from seqtag.report.tables import spell
from seqtag.training.results import ScoredSplit

LONGEST = 60
"""Characters of an input, a gold value or a prediction that are shown."""


def ranking_metric(data: DataModule, scored: ScoredSplit, preferred: Sequence[str]) -> str:
    """Name of the metric that ranks rows: the first preferred one, else the first there is.

    A measure of order has no score of a single row.
    """
    measures = data.task.metrics(scored.split.spec)
    names = [name for name, measure in measures.items() if isinstance(measure, Metric)]
    return next((name for name in preferred if name in names), names[0] if names else "")


def find_worst(
    data: DataModule, scored: ScoredSplit, metric: str, limit: int
) -> list[dict[str, Any]]:
    """The rows that cost a score most, with where they stand and what they hold."""
    measure = data.task.metrics(scored.split.spec).get(metric)
    if not isinstance(measure, Metric):
        return []
    found = worst_rows(
        rows=scored.table["row"],
        statistics=scored.table[metric],
        metric=measure,
        limit=limit,
    )
    return [{**_show(data, scored, w.row), "score": w.score, "cost": w.cost} for w in found]


def print_worst(worst: list[dict[str, Any]], score: str) -> None:
    """Print what ``find_worst`` gives."""
    if worst:
        print(f"rows that cost {score} most")
    for row in worst:
        answer = f"  gold {row['gold']}, predicted {row['predicted']}" if "gold" in row else ""
        print(plain(f"  {spell(row['score'])}  {row['place']}  {row['input']}{answer}"))


def _show(data: DataModule, scored: ScoredSplit, row: int) -> dict[str, Any]:
    found = scored.split.rows[row]
    shown = {"place": scored.split.place(row)}
    if "tokens" in found:
        shown["input"] = _cut(data.input_tokenizer.join(found["tokens"]))
    else:
        shown["input"] = f"{len(found['vectors'])} vectors"
    if not data.task.per_element and not data.task.numeric:
        shown["gold"] = _cut(str(found["target"]))
        shown["predicted"] = _cut(str(scored.outputs[row].value))
    return shown


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
