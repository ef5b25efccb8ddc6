"""Scores as sums of per-row statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor

from seqtag.batch import Target


class Metric(ABC):
    """A score of a whole split that is a function of a sum over its rows.

    Batch size, processes, bootstrap and paired tests all follow from that: add up the rows you
    like, in any grouping, and ask for the score of the sum.
    """

    @abstractmethod
    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """Statistics of each row, ``[batch, size]`` in float64."""

    @abstractmethod
    def score(self, total: Tensor) -> float:
        """The score of summed statistics ``[size]``; NaN where it is not defined."""
