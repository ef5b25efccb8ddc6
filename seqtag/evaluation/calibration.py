"""Whether labels are right as often as their probabilities say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.labels import as_cells
from seqtag.evaluation.metrics import ArithmeticMetric


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """The labels whose probability is more than ``low`` and at most ``high``.

    Attributes:
        low: the bound below.
        high: the bound above.
        count: how many labels there are.
        confidence: their mean probability; NaN without any.
        accuracy: the share of them that is right; NaN without any.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


class CalibrationError(ArithmeticMetric):
    """Expected calibration error (Naeini et al. 2015, Guo et al. 2017), from 0 to 1.

    Labels are put into bins of equal width by the probability of the predicted label. The error is
    the distance of mean probability and accuracy in a bin, averaged over all labels. A gold label
    that training lacks is one that is wrong.

    Args:
        spec: see the base class.
        bins: how many; 15 in the literature.
    """

    higher_is_better: ClassVar[bool] = False
    reads_probabilities: ClassVar[bool] = True

    def __init__(self, spec: TargetSpec, *, bins: int) -> None:
        super().__init__(spec)
        if bins < 1:
            raise ValueError(f"bins of the calibration error is {bins}; it must be at least 1")
        self._bins = bins

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return spec.single

    @property
    def size(self) -> int:
        """Count, right ones and sum of probabilities of each bin."""
        return 3 * self._bins

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Count, right ones and sum of probabilities by bin, ``[batch, size]``; 0 without any."""
        present = as_cells(target.present)
        sums = torch.zeros(len(present), 3, self._bins, dtype=torch.float64)
        if prediction.probabilities is None:
            return sums.flatten(1)
        right = as_cells(prediction.value == target.value) & present
        # Heads may leave anything at padding.
        chance = torch.where(present, as_cells(prediction.probabilities.amax(dim=-1).double()), 0.0)
        bins = (chance * self._bins).ceil().nan_to_num().long().clamp(1, self._bins) - 1
        for number, values in enumerate((present.double(), right.double(), chance)):
            sums[:, number].scatter_add_(1, bins, values)
        return sums.flatten(1)

    def scores(self, totals: Tensor) -> Tensor:
        """The error; NaN where nothing is present."""
        count, right, chance = totals.chunk(3, dim=1)
        return (right - chance).abs().sum(dim=1) / count.sum(dim=1)

    def bins(self, total: Tensor) -> list[CalibrationBin]:
        """The bins of a reliability diagram, from the lowest on."""
        count, right, chance = total.reshape(3, -1)
        columns = (count, chance / count, right / count)
        return [
            CalibrationBin(
                low=number / self._bins,
                high=(number + 1) / self._bins,
                count=int(size),
                confidence=confidence,
                accuracy=accuracy,
            )
            for number, (size, confidence, accuracy) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True)
            )
        ]

    def details(self, total: Tensor) -> dict[str, float]:
        """Count, mean probability and accuracy of each bin, named by its upper bound."""
        return {
            f"{name} up to {each.high:.3f}": getattr(each, name)
            for each in self.bins(total)
            for name in ("count", "confidence", "accuracy")
        }


class NegativeLogLikelihood(ArithmeticMetric):
    """Mean of minus the natural logarithm of the probability that gold was given.

    Gold labels that training lacks take no part, as they take none in the loss: their probability
    is 0, and one of them would make the mean infinite. Accuracy counts them as wrong. A probability
    of a known label that is too small for 32 bits counts as the smallest one (87.3).

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False
    reads_probabilities: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True where an element or a row has one label; not for sequences, nor for sets."""
        return spec.single

    @property
    def size(self) -> int:
        """Sum of the logarithms, and count."""
        return 2

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Sum of the logarithms and count of each row, ``[batch, 2]``; 0 without probabilities."""
        if prediction.probabilities is None:
            return torch.zeros(len(target.value), 2, dtype=torch.float64)
        known = target.present & (target.value < len(self.spec.labels))
        place = target.value.where(known, 0).unsqueeze(-1)
        chance = prediction.probabilities.double().gather(-1, place).squeeze(-1)
        surprise = -chance.clamp(min=torch.finfo(torch.float32).tiny).log()
        # A mask by multiplication would let a NaN at padding through.
        sums = as_cells(torch.where(known, surprise, 0.0)).sum(dim=1)
        return torch.stack([sums, as_cells(known).sum(dim=1).double()], dim=1)

    def scores(self, totals: Tensor) -> Tensor:
        """The mean; NaN where nothing is present."""
        return totals[:, 0] / totals[:, 1]
