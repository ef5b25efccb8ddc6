"""A comparison for programs: all digits, and nothing that is no number."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict
from typing import Any

from seqtag.comparison.comparison import Comparison, Contender, Score

COLUMNS = (
    "rank",
    "contender",
    "floor",
    "split",
    "metric",
    "mean",
    "low",
    "high",
    "spread",
    "seeds",
    "seed_scores",
    "folds",
    "dev",
    "parameters",
    "seconds",
    "tokens_per_second",
    "best_epochs",
)
"""Of ``results.csv``. Where there are several numbers in a cell, blanks stand between them."""


def spell_json(comparison: Comparison) -> bytes:
    """The dataclasses as they are; numbers that are not finite become null."""
    text = json.dumps(asdict(comparison), default=str)
    # JSON knows no NaN and no infinity, and Python writes them all the same.
    content = json.loads(text, parse_constant=lambda _: None)
    return (json.dumps(content, indent=2, allow_nan=False) + "\n").encode()


def spell_csv(comparison: Comparison) -> bytes:
    """A line for each contender and metric; empty cells where there is no number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for rank, one in enumerate(comparison.contenders, 1):
        for metric, score in one.scores.items():
            writer.writerow(map(_cell, _line(comparison, rank, one, metric, score)))
    # A lone surrogate, which a name may hold, has no UTF-8.
    return text.getvalue().encode("utf-8", "backslashreplace")


def _line(
    comparison: Comparison, rank: int, one: Contender, metric: str, score: Score
) -> tuple[Any, ...]:
    return (
        rank,
        one.name,
        one.floor,
        comparison.split,
        metric,
        score.mean,
        score.low,
        score.high,
        score.spread,
        one.seeds,
        score.seeds if one.seeds else [],
        one.folds,
        one.dev.get(metric),
        one.parameters,
        one.seconds,
        one.tokens_per_second,
        one.best_epochs,
    )


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, list):
        # A run without a score keeps its place.
        return " ".join(_cell(part) or "-" for part in value)
    # The shortest digits that read back as the same number.
    return repr(value) if isinstance(value, float) else str(value)
