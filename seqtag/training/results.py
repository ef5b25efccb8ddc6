"""A model's scores on a split, row by row, for people and for later comparison."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import torch

from seqtag.batch import Batch, Output, Prediction, Row
from seqtag.data.corpus import iterate
from seqtag.datamodule import DataModule
from seqtag.floors.floor import Floor, score_each
from seqtag.model import Model
from seqtag.scoring import empty_scores, predict_batches
from seqtag.split import Split

NOT_SHOWN = frozenset({"target", "input_hash", "row_hash"})
"""Columns of the rows that are not written beside the predictions."""

ROWS_FORMAT, ROWS_KEY = 1, b"seqtag"
"""Of ``<split>_rows.parquet``, and under which key its metadata have what the columns mean."""

Observer = Callable[[Batch, Prediction], None]


@dataclass
class ScoredSplit:
    """What a model gives on a split.

    Attributes:
        split: the split.
        metrics: ``<split>/<metric>`` to score.
        floors: the same for what a model must beat, as ``<floor>/<split>/<metric>``.
        table: row numbers and the statistics of each metric, by row; those of a floor's as
            ``<floor>/<metric>``.
        kinds: the floors.
        outputs: the prediction for each row.
    """

    split: Split
    metrics: dict[str, float]
    floors: dict[str, float]
    table: dict[str, Any]
    kinds: Sequence[Floor]
    outputs: list[Output]

    def write_rows(self, folder: Path, *, selection: str) -> None:
        """Write ``<split>_rows.parquet``: row, hash of its input, statistics of every metric.

        The hashes let two runs be paired row by row, and told apart when they were scored on
        different data. What the statistics mean, the target's spec says in the file's metadata.

        Args:
            folder: to write to.
            selection: name of the metric that chose the best epoch.
        """
        hashes = [(digest_input(row), digest_gold(row)) for row in iterate(self.split.rows)]
        rows: list[int] = self.table["row"].tolist()
        columns: dict[str, Any] = {
            "row": self.table["row"],
            "source": [hashes[row][0] for row in rows],
            "gold": [hashes[row][1] for row in rows],
        }
        for name, values in self.table.items():
            if name != "row":
                columns[name] = [row.reshape(-1) for row in values]
        meaning = {
            "format": ROWS_FORMAT,
            "split": self.split.name,
            "spec": self.split.spec.state(),
            "selection": selection,
            "floors": {k.name: {"heading": k.heading, "meaning": k.meaning} for k in self.kinds},
        }
        table = pyarrow.table(columns).replace_schema_metadata({ROWS_KEY: json.dumps(meaning)})
        pyarrow.parquet.write_table(table, folder / f"{self.split.name}_rows.parquet")

    def write_predictions(self, folder: Path) -> None:
        """Write ``predictions.jsonl``: input, gold and prediction of each row."""
        file = folder / "predictions.jsonl"
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            for row, output in zip(iterate(self.split.rows), self.outputs, strict=True):
                read = {name: value for name, value in row.items() if name not in NOT_SHOWN}
                line = {**read, "gold": row["target"], "predicted": output.value}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def score_split(
    model: Model,
    data: DataModule,
    name: str,
    device: torch.device,
    floors: Sequence[Floor],
    observe: Observer | None = None,
) -> ScoredSplit:
    """Predict a split once, and score it.

    Args:
        model: the model.
        data: with the split read.
        name: of the split.
        device: where to compute.
        floors: what is scored beside it.
        observe: is shown every batch with its prediction.
    """
    split = data.splits[name]
    scores = empty_scores(data, name)
    outputs = [Output(None)] * len(split.rows)
    for batch, prediction in predict_batches(model, data, name, device):
        scores.update(prediction, batch)
        decoded = data.task.decode(
            prediction, batch.layout.lengths.tolist(), data.target, probabilities=False
        )
        for row, output in zip(batch.rows.tolist(), decoded, strict=True):
            outputs[row] = output
        if observe is not None:
            observe(batch, prediction)
    table = scores.row_table()
    floor_scores: dict[str, float] = {}
    for floor, scored in zip(floors, score_each(data, name, floors), strict=True):
        floor_scores |= with_prefix(f"{floor.name}/{name}", scored.compute())
        of_floor = scored.row_table()
        table |= {f"{floor.name}/{key}": of_floor[key] for key in of_floor if key != "row"}
    return ScoredSplit(
        split=split,
        metrics=with_prefix(name, scores.compute()),
        floors=floor_scores,
        table=table,
        kinds=floors,
        outputs=outputs,
    )


def known_floors(run: Path, split: Split) -> dict[str, float]:
    """Scores of the floors that a run measured on a split of the same content.

    Args:
        run: its directory.
        split: that is scored.

    Returns:
        As ``<floor>/<split>/<metric>``; nothing where the run has not scored that split.
    """
    try:
        environment = json.loads((run / "environment.json").read_text(encoding="utf-8"))
        metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
        if environment["data"][split.name] != split.source():
            return {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # a checkpoint by itself, or one that is not finished
    return {
        name: value
        for name, value in metrics.items()
        if f"/{split.name}/" in name and isinstance(value, float | int)
    }


def with_prefix(prefix: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Scores under ``<prefix>/<name>``."""
    return {f"{prefix}/{name}": value for name, value in scores.items()}


def digest_input(row: Row) -> str:
    """A hash of a row's elements."""
    return _digest(row.get("tokens", row.get("vectors")))


def digest_gold(row: Row) -> str:
    """A hash of a row's target and its further accepted ones."""
    return _digest([row.get("target"), row.get("references")])


def _digest(content: Any) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
