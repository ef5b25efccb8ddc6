"""Scores of labels, one by one."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import Target, TargetSpec
from seqtag.evaluation.metrics import Metric


def _cells(values: Tensor) -> Tensor:
    """``[batch]`` or ``[batch, source]`` as ``[batch, cells]``."""
    return values.unsqueeze(1) if values.dim() == 1 else values


class Accuracy(Metric):
    """Share of the gold labels that are predicted.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return bool(spec.labels) and not spec.sequence and not spec.multi

    @property
    def size(self) -> int:
        """Correct, and present."""
        return 2

    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """Correct and present labels of each row, ``[batch, 2]``."""
        present = _cells(target.present)
        correct = _cells(value == target.value) & present
        return torch.stack([correct.sum(dim=1), present.sum(dim=1)], dim=1).double()

    def score(self, total: Tensor) -> float:
        """Correct over present; NaN where nothing is present."""
        correct, present = total.tolist()
        return correct / present if present else float("nan")


class MacroF1(Metric):
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
        return bool(spec.labels) and not spec.sequence and not spec.multi

    @property
    def size(self) -> int:
        """Correct, predicted and gold, for each known and unseen label."""
        return 3 * (len(self.spec.labels) + len(self.spec.unseen))

    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """How often each label is correct, predicted and gold in each row, ``[batch, size]``."""
        present = _cells(target.present)
        gold = _cells(target.value)
        # Heads may leave anything at padding, so that it is not a safe index.
        predicted = torch.where(present, _cells(value), 0)
        counts = torch.zeros(
            len(gold), 3, self.size // 3, dtype=torch.float64, device=gold.device
        )  # [batch, 3, labels]
        counts[:, 0].scatter_add_(1, gold, ((predicted == gold) & present).double())
        counts[:, 1].scatter_add_(1, predicted, present.double())
        counts[:, 2].scatter_add_(1, gold, present.double())
        return counts.flatten(1)

    def score(self, total: Tensor) -> float:
        """Mean F1; NaN where there is no gold label."""
        correct, predicted, gold = total.reshape(3, -1)
        if not gold.any():
            return float("nan")
        occurs = (predicted + gold) > 0
        return float((2 * correct[occurs] / (predicted + gold)[occurs]).mean())
