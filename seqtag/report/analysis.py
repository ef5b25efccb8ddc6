"""Where a model errs on a split: by label, by confusion, by known and unknown words, by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqtag.batch import Batch, Prediction
from seqtag.data.vocabulary import UNKNOWN
from seqtag.datamodule import DataModule, Split
from seqtag.evaluation.errors import Confusion, DividedAccuracy, WorstRow, worst_rows
from seqtag.evaluation.scores import Scores
from seqtag.report.tables import print_table, spell

CONFUSIONS = 10


class LabelAnalysis:
    """Counts the errors of label predictions, batch by batch.

    Args:
        split: whose labels these are.
        per_element: whether every element has a label.
    """

    def __init__(self, split: Split, *, per_element: bool) -> None:
        spec = split.spec
        self._confusion = Confusion((*spec.labels, *spec.unseen))
        self._seen = DividedAccuracy()
        self._by_word = per_element

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """Count a batch."""
        assert batch.target is not None
        self._confusion.update(prediction.value, batch.target)
        if self._by_word and "word" in batch.inputs:
            known = batch.inputs["word"] != UNKNOWN
            self._seen.update(prediction.value, batch.target, known)

    def content(self) -> dict[str, Any]:
        """Everything counted, as plain values."""
        report = self._confusion.report()
        averages = {"micro": report.micro, "macro": report.macro, "weighted": report.weighted}
        content: dict[str, Any] = {
            "labels": {name: vars(scores) for name, scores in report.labels.items()},
            "averages": {name: vars(scores) for name, scores in averages.items()},
            "confusions": [
                {"gold": gold, "predicted": predicted, "count": count}
                for gold, predicted, count in self._confusion.most_frequent(CONFUSIONS)
            ],
        }
        if self._by_word and self._seen.inside.total + self._seen.outside.total:
            content["words"] = {
                name: {"accuracy": tally.accuracy, "count": tally.total}
                for name, tally in (("known", self._seen.inside), ("unknown", self._seen.outside))
            }
        return content


def print_label_analysis(content: Mapping[str, Any]) -> None:
    """Print what ``LabelAnalysis.content`` gives."""
    rows = [*content["labels"].items(), *content["averages"].items()]
    columns = ("precision", "recall", "f1", "support")
    print_table(
        "labels",
        ["label", *columns],
        ([name, *(spell_count(scores[c]) for c in columns)] for name, scores in rows),
    )
    if content["confusions"]:
        print_table(
            "most frequent confusions",
            ["gold", "predicted", "count"],
            ([c["gold"], c["predicted"], str(c["count"])] for c in content["confusions"]),
        )
    if "words" in content:
        print_table(
            "words that training has, and has not",
            ["words", "accuracy", "count"],
            (
                [name, spell(part["accuracy"]), f"{part['count']:,}"]
                for name, part in content["words"].items()
            ),
        )


def spell_count(value: float) -> str:
    """A count as a whole number, a score with four decimals."""
    return f"{value:,}" if isinstance(value, int) else spell(value)


def find_worst(data: DataModule, split: Split, scores: Scores, limit: int) -> list[dict[str, Any]]:
    """The rows that cost the selection score most, with where they stand and what they hold."""
    metrics = data.task.metrics(split.spec)
    name = data.task.selection(split.spec)
    table = scores.row_table()
    found = worst_rows(rows=table["row"], statistics=table[name], metric=metrics[name], limit=limit)
    return [{**_show(split, row), "score": row.score, "cost": row.cost} for row in found]


def print_worst(worst: list[dict[str, Any]], score: str) -> None:
    """Print what ``find_worst`` gives."""
    print(f"rows that cost {score} most")
    for row in worst:
        print(f"  {spell(row['score'])}  {row['place']}  {row['input']}")


def _show(split: Split, worst: WorstRow) -> dict[str, Any]:
    row = split.rows[worst.row]
    text = " ".join(row["tokens"]) if "tokens" in row else f"{len(row['vectors'])} vectors"
    return {
        "place": split.place(worst.row),
        "input": text if len(text) <= 60 else text[:57] + "...",
    }
