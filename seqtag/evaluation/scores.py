"""Several measures of one split, gathered batch by batch and over processes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
import torchmetrics
from numpy.typing import NDArray
from torch import Tensor, distributed

from seqtag.batch import Batch, Prediction
from seqtag.evaluation.metrics import Measure, Metric, RankMetric


def _gather(values: Tensor, group: Any | None = None) -> list[Tensor]:
    """The values of every process that has some.

    torchmetrics' own way asks for tensors on the device, which has no float64 everywhere, and
    sends an empty float32 for a process without rows, which would turn row numbers into floats.
    """
    gathered: list[Any] = [None] * distributed.get_world_size(group)
    distributed.all_gather_object(gathered, values.cpu(), group=group)
    return [tensor for tensor in gathered if len(tensor)] or [values.cpu()]


class Scores(torchmetrics.Metric):
    """The scores of a split, and what each of its rows gives to them.

    What is kept is one sparse row of statistics per row of the split, in float64 in host memory:
    macro F1 over a thousand labels has three thousand statistics, of which a row touches few. For
    measures of order it is the cells of each row. There is no running sum beside it. A row that a
    distributed sampler repeats as padding would be in the sum twice, and the scores would not be
    those of the table.

    Args:
        metrics: name to measure.

    Attributes:
        metrics: the same.
        reads_probabilities: whether one of them needs the probabilities of labels.
    """

    full_state_update = False
    rows: list[Tensor]
    filled: list[Tensor]
    columns: list[Tensor]
    values: list[Tensor]

    def __init__(self, metrics: Mapping[str, Measure]) -> None:
        super().__init__(dist_sync_fn=_gather)
        self.metrics = dict(metrics)
        self._sums = {n: m for n, m in metrics.items() if isinstance(m, Metric)}
        self._ranks = {n: m for n, m in metrics.items() if isinstance(m, RankMetric)}
        self._bounds = [0, *accumulate(metric.size for metric in self._sums.values())]
        self.reads_probabilities = any(m.reads_probabilities for m in metrics.values())
        # A compressed sparse matrix: the statistics of row rows[i] are the next filled[i] of
        # columns and values.
        for name in ("rows", "filled", "columns", "values"):
            self.add_state(name, default=[], dist_reduce_fx="cat")
        # For each measure of order: the cells of row rows[i] are the next counts_N[i] of cells_N,
        # which is flat, since a process without any knows no width.
        for number in range(len(self._ranks)):
            self.add_state(f"counts_{number}", default=[], dist_reduce_fx="cat")
            self.add_state(f"cells_{number}", default=[], dist_reduce_fx="cat")

    def update(self, prediction: Prediction, batch: Batch) -> None:
        """Add the rows of a batch that has gold values."""
        assert batch.target is not None, "a batch without gold values cannot be scored"
        target = batch.target.to("cpu")
        own = Prediction(prediction.value.detach().cpu())
        if self.reads_probabilities and prediction.probabilities is not None:
            own.probabilities = prediction.probabilities.detach().cpu()

        self.rows.append(batch.rows.cpu())
        statistics = torch.cat(
            [
                torch.zeros(len(batch.rows), 0, dtype=torch.float64),
                *(metric.row_statistics(own, target) for metric in self._sums.values()),
            ],
            dim=1,
        )  # [batch, size of all metrics]
        filled = statistics != 0
        self.filled.append(filled.sum(dim=1))
        self.columns.append(filled.nonzero()[:, 1])
        self.values.append(statistics[filled])
        for number, measure in enumerate(self._ranks.values()):
            cells = measure.row_cells(own, target)
            counts = torch.tensor([len(row) for row in cells], dtype=torch.int64)
            getattr(self, f"counts_{number}").append(counts)
            flat = [row.flatten() for row in cells]
            getattr(self, f"cells_{number}").append(torch.cat(flat) if flat else torch.empty(0))

    def compute(self) -> dict[str, float]:
        """Each score over all rows of all processes; NaN where one is not defined."""
        _, first = self._first()
        _, columns, values = self._statistics(first)
        total = torch.from_numpy(
            np.bincount(columns, weights=values, minlength=self._bounds[-1]).astype(np.float64)
        )
        found = {
            name: metric.score(total[begin:end])
            for (name, metric), (begin, end) in zip(
                self._sums.items(), pairwise(self._bounds), strict=True
            )
        }
        for number, (name, measure) in enumerate(self._ranks.items()):
            found[name] = measure.score(torch.from_numpy(self._cells(number, measure, first)[1]))
        return {name: found[name] for name in self.metrics}

    def row_table(self) -> dict[str, Any]:
        """``row``, the index of each row in ascending order; and what it gives, by measure.

        Statistics are ``[rows, size]`` in float64, and dense. Cells are a list with ``[cells,
        width]`` for each row. Where there are several processes, all of them have to call this.
        """
        with self.sync_context(dist_sync_fn=self.dist_sync_fn):
            rows, first = self._first()
            filled, columns, values = self._statistics(first)
            ranks = {
                name: self._cells(number, measure, first)
                for number, (name, measure) in enumerate(self._ranks.items())
            }
        statistics = np.zeros((len(rows), self._bounds[-1]))
        statistics[np.repeat(np.arange(len(rows)), filled), columns] = values
        bounds = dict(zip(self._sums, pairwise(self._bounds), strict=True))
        table: dict[str, Any] = {"row": rows}
        for name in self.metrics:
            if name in bounds:
                table[name] = statistics[:, slice(*bounds[name])]
            else:
                counts, cells = ranks[name]
                table[name] = np.split(cells, np.cumsum(counts)[:-1]) if len(rows) else []
        return table

    def _first(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows in ascending order, each once, and where each stands in the states."""
        rows, first = np.unique(_joined(self.rows, np.int64), return_index=True)
        return rows, first

    def _statistics(self, first: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """The sparse matrix of these rows: how many are filled, their columns and values."""
        filled, kept = _kept(_joined(self.filled, np.int64), first)
        return filled, _joined(self.columns, np.int64)[kept], _joined(self.values, np.float64)[kept]

    def _cells(self, number: int, measure: RankMetric, first: NDArray[Any]) -> tuple[Any, Any]:
        """How many cells each of these rows has, and the cells ``[n, width]``."""
        counts, kept = _kept(_joined(getattr(self, f"counts_{number}"), np.int64), first)
        cells = _joined(getattr(self, f"cells_{number}"), np.float64).reshape(-1, measure.width)
        return counts, cells[kept]


def _kept(sizes: NDArray[Any], first: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of entries that stand row by row: the sizes of the chosen rows, and where their entries are.

    Args:
        sizes: entries of each row.
        first: the rows that are chosen, in the order that is wanted.
    """
    begins = (np.cumsum(sizes) - sizes)[first]
    chosen = sizes[first]
    # The begin of each chosen row, and counting on from there.
    counting = np.arange(chosen.sum()) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    return chosen, np.repeat(begins, chosen) + counting


def _joined(state: list[Tensor] | Tensor, dtype: type[np.generic]) -> NDArray[Any]:
    """A list state as one array: a list of this process's, or a tensor once it is gathered."""
    parts = [state] if isinstance(state, Tensor) else state
    return np.concatenate([np.empty(0, dtype), *(part.cpu().numpy() for part in parts)])
