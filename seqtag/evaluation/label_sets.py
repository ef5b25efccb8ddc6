"""Scores of rows that have several labels, or none.

A set of labels is the ids of its labels with ``END`` behind them; see ``Target``.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.evaluation.labels import MacroF1
from seqtag.evaluation.metrics import ArithmeticMetric


def as_switches(value: Tensor, labels: int) -> Tensor:
    """Which of so many labels each set has, bool ``[batch, labels]``, from ``[batch, target]``."""
    switches = value.new_zeros(len(value), labels + 1, dtype=torch.bool)
    return switches.scatter_(1, value, True)[:, 1:]  # without the column of END


def as_sets(switches: Tensor) -> Tensor:
    """The reverse of ``as_switches``: ids in ascending order, ``[batch, target]``, int64."""
    labels = switches.shape[1]
    behind = labels + 1
    ids = torch.arange(1, behind, device=switches.device)
    longest = int(switches.sum(dim=1).max()) if len(switches) else 0
    ordered = torch.where(switches, ids, behind).sort(dim=1).values[:, :longest]
    ended = ordered.where(ordered < behind, END)
    return torch.cat([ended, ended.new_full((len(ended), 1), END)], dim=1)


def _counts(value: Tensor, target: Target, spec: TargetSpec) -> tuple[Tensor, Tensor, Tensor]:
    """Which rows have a gold set ``[batch]``, and both sets there ``[batch, labels]``."""
    labels = len(spec.labels) + len(spec.unseen)
    there = target.present.any(dim=1)
    gold = as_switches(target.value, labels) & there.unsqueeze(1)
    predicted = as_switches(value, labels) & there.unsqueeze(1)
    return there, predicted, gold


class MicroF1(ArithmeticMetric):
    """F1 of all labels of all rows counted together.

    A gold label which training lacks is one that no prediction finds.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sets of labels."""
        return spec.multi

    @property
    def size(self) -> int:
        """Correct, predicted and gold labels."""
        return 3

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Correct, predicted and gold labels of each row, ``[batch, 3]``."""
        _, predicted, gold = _counts(prediction.value, target, self.spec)
        parts = (predicted & gold, predicted, gold)
        return torch.stack([part.sum(dim=1) for part in parts], dim=1).double()

    def scores(self, totals: Tensor) -> Tensor:
        """F1; NaN where there is no gold label."""
        correct, predicted, gold = totals.unbind(dim=1)
        return (2 * correct / (predicted + gold)).where(gold > 0, torch.nan)

    def details(self, total: Tensor) -> dict[str, float]:
        """Precision and recall; 0 where there is nothing to divide by."""
        correct, predicted, gold = total.tolist()
        return {
            "precision": correct / predicted if predicted else 0.0,
            "recall": correct / gold if gold else 0.0,
        }


class LabelSetMacroF1(MacroF1):
    """Mean of the F1 of each label, over the labels that occur in gold or in prediction.

    Args:
        spec: see the base class.
    """

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sets of labels."""
        return spec.multi

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Whether each label is correct, predicted and gold in each row, ``[batch, size]``."""
        _, predicted, gold = _counts(prediction.value, target, self.spec)
        return torch.cat([predicted & gold, predicted, gold], dim=1).double()


class SubsetAccuracy(ArithmeticMetric):
    """Share of the rows whose set of labels is right, none too many and none missed.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sets of labels."""
        return spec.multi

    @property
    def size(self) -> int:
        """Right, and present."""
        return 2

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Whether each row is right and present, ``[batch, 2]``."""
        there, predicted, gold = _counts(prediction.value, target, self.spec)
        right = (predicted == gold).all(dim=1) & there
        return torch.stack([right, there], dim=1).double()

    def scores(self, totals: Tensor) -> Tensor:
        """Right over present; NaN where nothing is present."""
        return totals[:, 0] / totals[:, 1]
