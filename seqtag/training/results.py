"""Per-row results of a split, for people and for later comparison."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from numpy.typing import NDArray

from seqtag.batch import Output, Row
from seqtag.checkpoint import Checkpoint
from seqtag.data.corpus import iterate
from seqtag.datamodule import Split
from seqtag.predictor import LOOK_AHEAD, Predictor


def write_row_table(path: Path, table: Mapping[str, NDArray[Any]], split: Split) -> None:
    """Write row number, a hash of its input and the statistics of every metric.

    The hash lets two runs be paired row by row, and told apart when they were scored on
    different data.
    """
    rows: NDArray[np.int64] = table["row"]
    hashes = [digest_row(row) for row in iterate(split.rows)]
    columns: dict[str, Any] = {"row": rows, "source": [hashes[row] for row in rows.tolist()]}
    columns |= {name: list(values) for name, values in table.items() if name != "row"}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def digest_row(row: Row) -> str:
    """A hash of a row's input."""
    content = json.dumps(row.get("tokens", row.get("vectors")), ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def predict_split(
    checkpoint: Checkpoint, split: Split, device: str
) -> Iterator[tuple[Row, Output]]:
    """Yield the rows of a split with what the checkpoint says of them."""
    predictor = Predictor(checkpoint, device=device)
    return predictor.predict_rows(iterate(split.rows), probabilities=False, look_ahead=LOOK_AHEAD)


def write_predictions(path: Path, checkpoint: Checkpoint, split: Split, device: str) -> None:
    """Write each row's input, gold and prediction as a line of JSON."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for row, output in predict_split(checkpoint, split, device):
            line = {**row, "gold": row["target"], "predicted": output.value}
            del line["target"]
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
