"""Scores of a whole split, each from what its rows give one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec


class Measure(ABC):
    """A score of a whole split, from numbers that every row gives without looking at the others.

    Batch size, processes, bootstrap and paired tests all follow from that: take together the rows
    you like, and ask for the score of what they give.

    Args:
        spec: what training taught about the target, with the labels that the scored split has
            besides as ``unseen``.

    Raises:
        ValueError: the measure does not apply to such a target.
    """

    higher_is_better: ClassVar[bool]
    """Whether the better of two scores is the larger one."""
    reads_probabilities: ClassVar[bool] = False
    """Whether it needs the probabilities of labels; of predictions without any the score is NaN."""

    def __init__(self, spec: TargetSpec) -> None:
        if not self.applies(spec):
            raise ValueError(
                f"{type(self).__name__} does not apply to a target of {len(spec.labels)} labels "
                f"(span scheme: {spec.scheme}) and {spec.width} numbers; choose another metric"
            )
        self.spec = spec

    @classmethod
    @abstractmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """Whether the measure means something for such a target."""


class Metric(Measure):
    """A score that is a function of a sum over rows.

    Args:
        spec: see the base class.
    """

    counts_of: ClassVar[tuple[str, ...]] = ("labels", "unseen", "scheme", "mean")
    """What of ``spec`` decides what the statistics are counts of: where two models have these
    alike, one's statistics of a row may stand for the other's."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many statistics a row has."""

    @abstractmethod
    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Statistics of each row, ``[batch, size]`` in float64.

        Args:
            prediction: its ``value`` is of the shape of ``target.value``, but for sequences, which
                have their own length. Label ids are below ``spec.classes``, so that a gold label
                which training lacks is always wrong.
            target: gold values; only what is present counts.
        """

    @abstractmethod
    def score(self, total: Tensor) -> float:
        """The score of summed statistics ``[size]``; NaN where it is not defined."""

    def scores(self, totals: Tensor) -> Tensor:
        """The score of each of several sums, from ``[sums, size]``, float64 ``[sums]``."""
        return torch.tensor([self.score(total) for total in totals], dtype=torch.float64)

    def details(self, total: Tensor) -> dict[str, float]:
        """Further numbers from the same sums, by name; none unless a metric has some."""
        return {}


class ArithmeticMetric(Metric):
    """A metric whose score is plain arithmetic, done for thousands of sums at once.

    Args:
        spec: see the base class.
    """

    @abstractmethod
    def scores(self, totals: Tensor) -> Tensor:
        """See the base class."""

    def score(self, total: Tensor) -> float:
        """See the base class."""
        return float(self.scores(total.unsqueeze(0)))


class RankMetric(Measure):
    """A score that is no function of a sum, such as one of the order that rows are put in.

    Args:
        spec: see the base class.
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a cell has."""

    @abstractmethod
    def row_cells(self, prediction: Prediction, target: Target) -> list[Tensor]:
        """Of each row, what its present gold values give, ``[cells, width]`` in float64.

        Args:
            prediction: see ``Metric.row_statistics``.
            target: gold values; only what is present counts.
        """

    @abstractmethod
    def score(self, cells: Tensor) -> float:
        """The score of the cells of all rows, ``[n, width]``; NaN where it is not defined."""

    def scores(self, cells: Tensor, times: Tensor) -> Tensor:
        """The score of several selections of the cells, float64 ``[selections]``.

        Args:
            cells: as for ``score``.
            times: how often each cell is in, ``[selections, n]`` in float64.
        """
        selections = (cells.repeat_interleave(often.long(), dim=0) for often in times)
        return torch.tensor([self.score(chosen) for chosen in selections], dtype=torch.float64)

    def details(self, cells: Tensor) -> dict[str, float]:
        """Further numbers from the same cells, by name; none unless a measure has some."""
        return {}


def cells_by_row(cells: Tensor, there: Tensor) -> list[Tensor]:
    """The cells of each row.

    Args:
        cells: of all rows, one behind the other, ``[n, width]``.
        there: where a cell comes from, bool ``[batch]`` or ``[batch, source]``.
    """
    counts = there.sum(dim=1) if there.dim() == 2 else there.long()
    return list(torch.split(cells, counts.tolist()))
