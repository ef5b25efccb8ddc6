"""Errors of numbers: how far predictions are from gold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import Batch, Prediction
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.table import Table
from seqtag.report.plots.picture import Picture
from seqtag.report.plots.residuals import draw_residuals

SHARES = (0, 5, 25, 50, 75, 95, 100)
"""Percentiles of the residuals."""


class NumberAnalysis(Analysis):
    """The distribution of the residuals, predicted less gold, of each number of a target.

    Args:
        names: of the numbers.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._gold: list[list[NDArray[np.float64]]] = [[] for _ in names]
        self._predicted: list[list[NDArray[np.float64]]] = [[] for _ in names]

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        for number in range(len(self._names)):
            present = batch.target.present[..., number]
            gold = batch.target.value[..., number][present]
            self._gold[number].append(gold.double().numpy())
            self._predicted[number].append(prediction.value[..., number][present].double().numpy())

    def _values(self) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """Name, gold and predicted values of each number."""
        empty = np.zeros(0)
        return [
            (name, np.concatenate([empty, *gold]), np.concatenate([empty, *predicted]))
            for name, gold, predicted in zip(self._names, self._gold, self._predicted, strict=True)
        ]

    def tables(self) -> list[Table]:
        """See the base class."""
        rows = []
        for name, gold, predicted in self._values():
            residuals = predicted - gold
            if not len(residuals):
                rows.append((name, 0, *[float("nan")] * (2 + len(SHARES))))
                continue
            rows.append(
                (
                    name,
                    len(residuals),
                    float(residuals.mean()),
                    float(residuals.std()),
                    *np.percentile(residuals, SHARES).tolist(),
                )
            )
        return [
            Table(
                name="residuals",
                title="residuals: predicted less gold",
                columns=(
                    "number",
                    "count",
                    "mean",
                    "deviation",
                    *(f"percentile_{share}" for share in SHARES),
                ),
                rows=rows,
                shown_columns=(
                    "number",
                    "count",
                    "mean",
                    "deviation",
                    *(f"percentile_{share}" for share in (5, 50, 95)),
                ),
            )
        ]

    def pictures(self) -> list[Picture]:
        """See the base class."""
        values = self._values()
        drawn = any(len(gold) for _, gold, _ in values)
        return [Picture("residuals", partial(draw_residuals, values))] if drawn else []
