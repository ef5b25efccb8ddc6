"""Whether predicted numbers are in the order of the gold ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import RankMetric, cells_by_row


class SpearmanCorrelation(RankMetric):
    """Correlation of the ranks of prediction and gold; equal numbers share their mean rank.

    A target of several numbers is scored number by number, and the score is the plain mean over
    them. As with ``PearsonCorrelation``, numbers whose gold values are all the same are left out of
    the mean; a prediction that is the same everywhere, or no number, leaves the score undefined.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for numbers."""
        return spec.width > 0

    @property
    def width(self) -> int:
        """Each predicted number, and each gold one."""
        return 2 * self.spec.width

    def row_cells(self, prediction: Prediction, target: Target) -> list[Tensor]:
        """A cell for each row or element with a gold number; a missing number in it is NaN."""
        there = target.present.any(dim=-1)
        gold = torch.where(target.present, target.value.double(), torch.nan)
        cells = torch.cat([prediction.value.double(), gold], dim=-1)[there]
        return cells_by_row(cells, there)

    def score(self, cells: Tensor) -> float:
        """Mean over the numbers of a target; NaN where gold or prediction does not vary."""
        predicted, gold = cells.numpy().reshape(-1, 2, self.spec.width).transpose(1, 2, 0)
        scores = []
        for guesses, truths in zip(predicted, gold, strict=True):
            there = ~np.isnan(truths)
            if np.unique(truths[there]).size > 1:
                scores.append(_correlation(guesses[there], truths[there]))
        return float(np.mean(scores)) if scores else float("nan")


def _correlation(predicted: NDArray[Any], gold: NDArray[Any]) -> float:
    if np.isnan(predicted).any():
        return float("nan")
    ranks, wanted = (_ranks(values) - (len(values) + 1) / 2 for values in (predicted, gold))
    spread = np.sqrt((ranks**2).sum() * (wanted**2).sum())
    return float((ranks * wanted).sum() / spread) if spread else float("nan")


def _ranks(values: NDArray[Any]) -> NDArray[Any]:
    """The place of each value in ascending order, from 1; the mean place of equal ones."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[Any] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks
