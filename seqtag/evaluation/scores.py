"""Several metrics of one split, gathered batch by batch and over processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
import torchmetrics
from numpy.typing import NDArray
from torch import Tensor, distributed

from seqtag.batch import Batch, Prediction
from seqtag.evaluation.metrics import Metric


def _gather(values: Tensor, group: Any | None = None) -> list[Tensor]:
    """The values of every process that has some.

    torchmetrics' own way asks for tensors on the device, which has no float64 everywhere, and
    sends an empty float32 for a process without rows, which would turn row numbers into floats.
    """
    gathered: list[Any] = [None] * distributed.get_world_size(group)
    distributed.all_gather_object(gathered, values.cpu(), group=group)
    return [tensor for tensor in gathered if len(tensor)] or [values.cpu()]


class Scores(torchmetrics.Metric):
    """The scores of a split, and the statistics of each of its rows.

    What is kept is one sparse row of statistics per row of the split, in float64 in host memory:
    macro F1 over a thousand labels has three thousand statistics, of which a row touches few.
    There is no running sum beside it. A row that a distributed sampler repeats as padding would
    be in the sum twice, and the scores would not be those of the table.

    Args:
        metrics: name to metric.
    """

    full_state_update = False
    rows: list[Tensor]
    filled: list[Tensor]
    columns: list[Tensor]
    values: list[Tensor]

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        super().__init__(dist_sync_fn=_gather)
        self.metrics = dict(metrics)
        self._bounds = [0, *accumulate(metric.size for metric in metrics.values())]
        # A compressed sparse matrix: the statistics of row rows[i] are the next filled[i] of
        # columns and values.
        for name in ("rows", "filled", "columns", "values"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, prediction: Prediction, batch: Batch) -> None:
        """Add the rows of a batch that has gold values."""
        assert batch.target is not None, "a batch without gold values cannot be scored"
        value, target = prediction.value.detach().cpu(), batch.target.to("cpu")
        statistics = torch.cat(
            [metric.row_statistics(value, target) for metric in self.metrics.values()], dim=1
        )  # [batch, size of all metrics]
        filled = statistics != 0
        self.rows.append(batch.rows.cpu())
        self.filled.append(filled.sum(dim=1))
        self.columns.append(filled.nonzero()[:, 1])
        self.values.append(statistics[filled])

    def compute(self) -> dict[str, float]:
        """Each score over all rows of all processes; NaN where one is not defined."""
        _, _, columns, values = self._cells()
        total = np.bincount(columns, weights=values, minlength=self._bounds[-1])
        return {
            name: metric.score(torch.from_numpy(total[begin:end]))
            for name, metric, begin, end in self._parts()
        }

    def row_table(self) -> dict[str, NDArray[Any]]:
        """``row``, the index of each row in ascending order; and its statistics, by metric.

        Statistics are ``[rows, size]`` in float64, and dense. Where there are several processes,
        all of them have to call this.
        """
        with self.sync_context(dist_sync_fn=self.dist_sync_fn):
            rows, filled, columns, values = self._cells()
        statistics = np.zeros((len(rows), self._bounds[-1]))
        statistics[np.repeat(np.arange(len(rows)), filled), columns] = values
        table: dict[str, NDArray[Any]] = {"row": rows}
        for name, _, begin, end in self._parts():
            table[name] = statistics[:, begin:end]
        return table

    def _parts(self) -> Iterator[tuple[str, Metric, int, int]]:
        """Name, metric, and its range of columns."""
        for (name, metric), (begin, end) in zip(
            self.metrics.items(), pairwise(self._bounds), strict=True
        ):
            yield name, metric, begin, end

    def _cells(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The sparse matrix in order of its rows, each row once."""
        rows, filled, columns = (
            _joined(state, np.int64) for state in (self.rows, self.filled, self.columns)
        )
        values = _joined(self.values, np.float64)
        begins = np.cumsum(filled) - filled
        rows, first = np.unique(rows, return_index=True)
        filled, begins = filled[first], begins[first]
        # Where the cells of each kept row lie: its begin, and counting on from there.
        counting = np.arange(filled.sum()) - np.repeat(np.cumsum(filled) - filled, filled)
        cells = np.repeat(begins, filled) + counting
        return rows, filled, columns[cells], values[cells]


def _joined(state: list[Tensor] | Tensor, dtype: type[np.generic]) -> NDArray[Any]:
    """A list state as one array: a list of this process's, or a tensor once it is gathered."""
    parts = [state] if isinstance(state, Tensor) else state
    return np.concatenate([np.empty(0, dtype), *(part.cpu().numpy() for part in parts)])
