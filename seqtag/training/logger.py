"""Scores of every epoch, one row each, in metrics.csv."""

from __future__ import annotations

import csv
import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities import rank_zero_only


class EpochLog(Logger):
    """Keeps one row per epoch and writes the whole file anew each time.

    Unlike Lightning's own CSV logger it gathers what an epoch logs at different moments into one
    row, and a restart does not delete what is there.

    Args:
        save_dir: folder of ``metrics.csv``.
    """

    def __init__(self, *, save_dir: str | Path) -> None:
        super().__init__()
        self._file = Path(save_dir) / "metrics.csv"
        self._rows: dict[int, dict[str, float | str]] = {}
        if self._file.exists():
            with self._file.open(encoding="utf-8", newline="") as stream:
                for row in csv.DictReader(stream):
                    self._rows[int(row["epoch"])] = {k: v for k, v in row.items() if v}

    @property
    def name(self) -> str:
        """Part of Lightning's interface."""
        return "epochs"

    @property
    def version(self) -> int:
        """Part of Lightning's interface."""
        return 0

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace) -> None:
        """Nothing: the run directory holds the config."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Add what an epoch logged to its row; epochs are counted from 1."""
        scores = dict(metrics)
        epoch = int(scores.pop("epoch", 0)) + 1
        self._rows.setdefault(epoch, {"epoch": epoch}).update(scores)
        if step is not None:
            self._rows[epoch]["step"] = step + 1
        names = sorted({name for row in self._rows.values() for name in row} - {"epoch"})
        scratch = self._file.with_suffix(".csv.part")
        with scratch.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, ["epoch", *names])
            writer.writeheader()
            writer.writerows(self._rows[number] for number in sorted(self._rows))
        os.replace(scratch, self._file)
