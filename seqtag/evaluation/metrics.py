"""Scores as sums of per-row statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from torch import Tensor

from seqtag.batch import Target, TargetSpec


class Metric(ABC):
    """A score of a whole split that is a function of a sum over its rows.

    Batch size, processes, bootstrap and paired tests all follow from that: add up the rows you
    like, in any grouping, and ask for the score of the sum.

    Args:
        spec: what training taught about the target, with the labels that the scored split has
            besides as ``unseen``.

    Raises:
        ValueError: the metric does not apply to such a target.
    """

    higher_is_better: ClassVar[bool]
    """Whether the better of two scores is the larger one."""

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
        """Whether the metric means something for such a target."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many statistics a row has."""

    @abstractmethod
    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """Statistics of each row, ``[batch, size]`` in float64.

        Args:
            value: what is predicted, of the shape of ``target.value``, but for sequences, which
                have their own length. Label ids are below ``spec.classes``, so that a gold label
                which training lacks is always wrong.
            target: gold values; only what is present counts.
        """

    @abstractmethod
    def score(self, total: Tensor) -> float:
        """The score of summed statistics ``[size]``; NaN where it is not defined."""

    def details(self, total: Tensor) -> dict[str, float]:
        """Further numbers from the same sums, by name; none unless a metric has some."""
        return {}
