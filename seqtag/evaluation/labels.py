"""Scores of labels, one by one."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import ArithmeticMetric


def as_cells(values: Tensor) -> Tensor:
    """``[batch]`` or ``[batch, source]`` as ``[batch, labels]``."""
    return values.unsqueeze(1) if values.dim() == 1 else values


class Accuracy(ArithmeticMetric):
    """Share of the gold labels that are predicted.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True
    counts_of: ClassVar[tuple[str, ...]] = ("scheme",)

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return spec.single

    @property
    def size(self) -> int:
        """Correct, and present."""
        return 2

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Correct and present labels of each row, ``[batch, 2]``."""
        present = as_cells(target.present)
        correct = as_cells(prediction.value == target.value) & present
        return torch.stack([correct.sum(dim=1), present.sum(dim=1)], dim=1).double()

    def scores(self, totals: Tensor) -> Tensor:
        """Correct over present; NaN where nothing is present."""
        return totals[:, 0] / totals[:, 1]


class MacroF1(ArithmeticMetric):
    """Mean of the F1 of each label, over the labels that occur in gold or in prediction.

    A gold label which training lacks is a label like any other: its F1 is 0, as nothing can
    predict it, and it counts in the mean.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return spec.single

    @property
    def size(self) -> int:
        """Correct, predicted and gold, for each known and unseen label."""
        return 3 * (len(self.spec.labels) + len(self.spec.unseen))

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """How often each label is correct, predicted and gold in each row, ``[batch, size]``."""
        present = as_cells(target.present)
        gold = as_cells(target.value)
        # Heads may leave anything at padding, so that it is not a safe index.
        predicted = torch.where(present, as_cells(prediction.value), 0)
        counts = torch.zeros(
            len(gold), 3, self.size // 3, dtype=torch.float64, device=gold.device
        )  # [batch, 3, labels]
        counts[:, 0].scatter_add_(1, gold, ((predicted == gold) & present).double())
        counts[:, 1].scatter_add_(1, predicted, present.double())
        counts[:, 2].scatter_add_(1, gold, present.double())
        return counts.flatten(1)

    def scores(self, totals: Tensor) -> Tensor:
        """Mean F1; NaN where there is no gold label."""
        correct, predicted, gold = totals.chunk(3, dim=1)  # [sums, labels] each
        scores = _mean_over_labels(2 * correct, predicted + gold)
        return scores.where(gold.sum(dim=1) > 0, torch.nan)


class BalancedAccuracy(ArithmeticMetric):
    """Mean of the recall of each label, over the labels that gold has.

    Every label counts alike, so that always giving the most frequent of two scores 0.5. A gold
    label which training lacks has a recall of 0.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return spec.single

    @property
    def size(self) -> int:
        """Correct and gold, for each known and unseen label."""
        return 2 * (len(self.spec.labels) + len(self.spec.unseen))

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """How often each label is correct and gold in each row, ``[batch, size]``."""
        present, gold = as_cells(target.present), as_cells(target.value)
        correct = as_cells(prediction.value == target.value) & present
        counts = torch.zeros(len(gold), 2, self.size // 2, dtype=torch.float64, device=gold.device)
        counts[:, 0].scatter_add_(1, gold, correct.double())
        counts[:, 1].scatter_add_(1, gold, present.double())
        return counts.flatten(1)

    def scores(self, totals: Tensor) -> Tensor:
        """Mean recall; NaN where there is no gold label."""
        correct, gold = totals.chunk(2, dim=1)
        return _mean_over_labels(correct, gold)


def _mean_over_labels(part: Tensor, whole: Tensor) -> Tensor:
    """Mean of the shares of labels that have any, ``[sums]``; NaN where none has."""
    occurs = whole > 0
    return torch.where(occurs, part / whole, 0.0).sum(dim=1) / occurs.sum(dim=1)
