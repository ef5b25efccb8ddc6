"""A model's scores on a split, row by row, for people and for later comparison."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import torch
from numpy.typing import NDArray

from seqtag.batch import Batch, Output, Prediction, Row
from seqtag.data.corpus import iterate
from seqtag.datamodule import DataModule
from seqtag.floors.fitted import score_floors
from seqtag.floors.floor import Floor
from seqtag.model import Model
from seqtag.scoring import empty_scores, predict_batches
from seqtag.split import Split

NOT_SHOWN = frozenset({"target", "input_hash", "row_hash"})
"""Columns of the rows that are not written beside the predictions."""

Observer = Callable[[Batch, Prediction], None]


@dataclass
class ScoredSplit:
    """What a model gives on a split.

    Attributes:
        split: the split.
        metrics: ``<split>/<metric>`` to score.
        floors: the same for what a model must beat, as ``<floor>/<split>/<metric>``.
        table: row numbers and the statistics of each metric, by row.
        outputs: the prediction for each row.
    """

    split: Split
    metrics: dict[str, float]
    floors: dict[str, float]
    table: dict[str, NDArray[Any]]
    outputs: list[Output]

    def write_rows(self, folder: Path) -> None:
        """Write ``<split>_rows.parquet``: row, hash of its input, statistics of every metric.

        The hash lets two runs be paired row by row, and told apart when they were scored on
        different data.
        """
        rows: NDArray[np.int64] = self.table["row"]
        hashes = [digest_row(row) for row in iterate(self.split.rows)]
        columns: dict[str, Any] = {"row": rows, "source": [hashes[row] for row in rows.tolist()]}
        columns |= {name: list(values) for name, values in self.table.items() if name != "row"}
        file = folder / f"{self.split.name}_rows.parquet"
        pyarrow.parquet.write_table(pyarrow.table(columns), file)

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
    return ScoredSplit(
        split=split,
        metrics=with_prefix(name, scores.compute()),
        floors=score_floors(data, name, floors),
        table=scores.row_table(),
        outputs=outputs,
    )


def with_prefix(prefix: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Scores under ``<prefix>/<name>``."""
    return {f"{prefix}/{name}": value for name, value in scores.items()}


def digest_row(row: Row) -> str:
    """A hash of a row's input."""
    content = json.dumps(row.get("tokens", row.get("vectors")), ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:16]
