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
        return float(self.scores(cells, torch.ones(1, len(cells), dtype=torch.float64)))

    def scores(self, cells: Tensor, times: Tensor) -> Tensor:
        """See the base class."""
        predicted, gold = cells.numpy().reshape(-1, 2, self.spec.width).transpose(1, 2, 0)
        total, count = np.zeros(len(times)), np.zeros(len(times))
        for guesses, truths in zip(predicted, gold, strict=True):
            there = ~np.isnan(truths)
            scores, defined = _correlations(guesses[there], truths[there], times.numpy()[:, there])
            total += np.where(defined, scores, 0)
            count += defined
        with np.errstate(invalid="ignore"):
            return torch.from_numpy(total / count)


def _correlations(
    predicted: NDArray[Any], gold: NDArray[Any], times: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Of several selections, ``[selections]``, and whether gold varies in each."""
    ranks, wanted = (_ranks(values, times) for values in (predicted, gold))
    spread = (times * wanted**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = (times * ranks * wanted).sum(axis=1) / np.sqrt(
            (times * ranks**2).sum(axis=1) * spread
        )
    undefined = np.isnan(predicted)
    return np.where(times[:, undefined].any(axis=1), np.nan, scores), spread > 0


def _ranks(values: NDArray[Any], times: NDArray[Any]) -> NDArray[Any]:
    """The place of each value in ascending order around the middle place, ``[selections, n]``.

    Equal values share their mean place.
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), len(times)))
    np.add.at(counts, inverse, times.T)
    places = np.cumsum(counts, axis=0) - (counts - 1) / 2
    ranks: NDArray[Any] = places[inverse].T - (times.sum(axis=1, keepdims=True) + 1) / 2
    return ranks
