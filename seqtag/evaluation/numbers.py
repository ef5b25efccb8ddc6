"""Scores of numbers, in the target's own units.

A target of several numbers is scored number by number, and the score is the plain mean over them.
Numbers for which the gold values leave a score undefined (none is present, or no two differ where
their spread is asked for) are left out of the mean; a prediction that is not finite is not.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import ArithmeticMetric

_ROUNDING = 1e-12
"""A spread below this share of the squares it is the difference of is rounding."""


def _row_sums(present: Tensor, *terms: Tensor) -> Tensor:
    """The count of gold numbers and the sum of each term over them, ``[batch, sums * width]``.

    Args:
        present: ``[batch, width]`` or ``[batch, source, width]``.
        *terms: of the same shape, in float64.
    """
    # A mask by multiplication would let a NaN at padding through.
    kept = [present.double(), *(torch.where(present, term, 0.0) for term in terms)]
    rows = [values.sum(dim=1) if values.dim() == 3 else values for values in kept]
    return torch.stack(rows, dim=1).flatten(1)


def _spread(count: Tensor, total: Tensor, squares: Tensor) -> Tensor:
    """Squared distances from the mean, summed; 0 where rounding drowns them, ``[sums, width]``."""
    spread = squares - total**2 / count
    return torch.where(spread <= _ROUNDING * squares, 0.0, spread)


def _mean(scores: Tensor, defined: Tensor) -> Tensor:
    """Mean over the numbers of a target whose score is defined, ``[sums]``; NaN where none is."""
    return torch.where(defined, scores, 0.0).sum(dim=1) / defined.sum(dim=1)


class _Centre:
    """Subtracts the training mean, without which squares of large numbers lose their digits.

    Args:
        mean: of each number of a target.
    """

    def __init__(self, mean: tuple[float, ...]) -> None:
        self._mean = torch.tensor(mean, dtype=torch.float64)

    def __call__(self, values: Tensor) -> Tensor:
        """``[..., width]`` as float64 around the mean."""
        return values.double() - self._mean.to(values.device)


class RootMeanSquaredError(ArithmeticMetric):
    """Square root of the mean squared error of each number.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False
    counts_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for numbers."""
        return spec.width > 0

    @property
    def size(self) -> int:
        """Count and squared error of each number."""
        return 2 * self.spec.width

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Count and sum of squared errors of each number in each row, ``[batch, size]``."""
        return _row_sums(target.present, (prediction.value.double() - target.value.double()) ** 2)

    def scores(self, totals: Tensor) -> Tensor:
        """Mean over the numbers of a target; NaN where nothing is present."""
        count, squares = totals.chunk(2, dim=1)
        return _mean((squares / count).sqrt(), count > 0)


class MeanAbsoluteError(ArithmeticMetric):
    """Mean size of the error of each number.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False
    counts_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for numbers."""
        return spec.width > 0

    @property
    def size(self) -> int:
        """Count and absolute error of each number."""
        return 2 * self.spec.width

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Count and sum of absolute errors of each number in each row, ``[batch, size]``."""
        return _row_sums(target.present, (prediction.value.double() - target.value.double()).abs())

    def scores(self, totals: Tensor) -> Tensor:
        """Mean over the numbers of a target; NaN where nothing is present."""
        count, size = totals.chunk(2, dim=1)
        return _mean(size / count, count > 0)


class R2(ArithmeticMetric):
    """Coefficient of determination: 1 less the squared error over the spread of the gold values.

    The spread is around the mean of the scored rows themselves. Gold values that are all the same
    have none, and leave the score undefined.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    def __init__(self, spec: TargetSpec) -> None:
        super().__init__(spec)
        self._centre = _Centre(spec.mean)

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for numbers."""
        return spec.width > 0

    @property
    def size(self) -> int:
        """Count, squared error, gold and squared gold of each number."""
        return 4 * self.spec.width

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Sums of each number in each row, gold around the training mean, ``[batch, size]``."""
        gold = self._centre(target.value)
        squared_error = (prediction.value.double() - target.value.double()) ** 2
        return _row_sums(target.present, squared_error, gold, gold**2)

    def scores(self, totals: Tensor) -> Tensor:
        """Mean over the numbers of a target; NaN where gold has no spread."""
        count, squared_error, gold, squares = totals.chunk(4, dim=1)
        spread = _spread(count, gold, squares)
        return _mean(1 - squared_error / spread, spread > 0)


class PearsonCorrelation(ArithmeticMetric):
    """Linear correlation of prediction and gold.

    A prediction that is the same everywhere leaves it undefined: the score is then NaN.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    def __init__(self, spec: TargetSpec) -> None:
        super().__init__(spec)
        self._centre = _Centre(spec.mean)

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for numbers."""
        return spec.width > 0

    @property
    def size(self) -> int:
        """Count, both sums, both sums of squares and the sum of products of each number."""
        return 6 * self.spec.width

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Sums of each number in each row, all around the training mean, ``[batch, size]``."""
        predicted, gold = self._centre(prediction.value), self._centre(target.value)
        terms = (predicted, gold, predicted**2, gold**2, predicted * gold)
        return _row_sums(target.present, *terms)

    def scores(self, totals: Tensor) -> Tensor:
        """Mean over the numbers of a target; NaN where gold or prediction has no spread."""
        parts = totals.chunk(6, dim=1)
        count, predicted, gold, predicted_squares, gold_squares, products = parts
        gold_spread = _spread(count, gold, gold_squares)
        spread = _spread(count, predicted, predicted_squares) * gold_spread
        correlation = (products - predicted * gold / count) / spread.sqrt()
        # Without spread the numerator is rounding, and the quotient would be an infinity.
        correlation = torch.where(spread == 0, torch.nan, correlation.clamp(-1, 1))
        return _mean(correlation, gold_spread > 0)
