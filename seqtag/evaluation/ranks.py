"""Scores of labels that depend on nothing but the order in which probabilities put the rows.

Each label is taken by itself against all others, and the score is the plain mean over the labels
that some of the scored rows (or elements) have and some have not: without both kinds there is no
order to be right or wrong. A gold label that training lacks has the probability 0 everywhere.

A cell says of every label whether gold has it, and then the probability of each known one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.label_sets import as_switches
from seqtag.evaluation.metrics import RankMetric, cells_by_row

MOST_LABELS = 100
"""Labels of a target that is scored: all probabilities are kept until the split is through."""


class _LabelRanks(RankMetric):
    """The mean of a score that each label has for itself.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True
    reads_probabilities: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for up to ``MOST_LABELS`` labels, one or several a row; not for sequences."""
        return 0 < len(spec.labels) <= MOST_LABELS and not spec.sequence

    @property
    def width(self) -> int:
        """Gold of each known and unseen label, and the probability of each known one."""
        return len(self._names) + len(self.spec.labels)

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.spec.labels, *self.spec.unseen)

    def row_cells(self, prediction: Prediction, target: Target) -> list[Tensor]:
        """A cell for each row or element that has a gold value; none without probabilities."""
        if self.spec.multi:
            there = target.present.any(dim=1)
            gold = as_switches(target.value, len(self._names))
        else:
            there = target.present
            gold = functional.one_hot(target.value, len(self._names))
        if prediction.probabilities is None:
            return list(torch.zeros(len(there), 0, self.width, dtype=torch.float64))
        cells = torch.cat([gold[there].double(), prediction.probabilities[there].double()], dim=1)
        return cells_by_row(cells, there)

    def score(self, cells: Tensor) -> float:
        """Mean over the labels that have a score; NaN where none has."""
        return float(self.scores(cells, torch.ones(1, len(cells), dtype=torch.float64)))

    def scores(self, cells: Tensor, times: Tensor) -> Tensor:
        """See the base class."""
        total, count = np.zeros(len(times)), np.zeros(len(times))
        for scores, defined in self._of_labels(cells.numpy(), times.numpy()).values():
            total += np.where(defined, scores, 0)
            count += defined
        with np.errstate(invalid="ignore"):
            return torch.from_numpy(total / count)

    def details(self, cells: Tensor) -> dict[str, float]:
        """The score of each label that has one, by its name."""
        found = self._of_labels(cells.numpy(), np.ones((1, len(cells))))
        return {name: float(scores[0]) for name, (scores, defined) in found.items() if defined[0]}

    def _of_labels(
        self, table: NDArray[Any], times: NDArray[Any]
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
        """The scores of each label on several selections, and where it has one."""
        found = {}
        names = self._names
        for number, name in enumerate(names):
            wanted = table[:, number] > 0
            if wanted.all() or not wanted.any():
                continue  # whatever is selected
            known = number < len(self.spec.labels)
            chances = table[:, len(names) + number] if known else np.zeros(len(table))
            hits, misses = _cut(chances, wanted, times)
            defined = (hits[:, -1] > 0) & (misses[:, -1] > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores = self._score_order(hits, misses)
            unknown = np.isnan(chances)
            if unknown.any():
                scores = np.where(times[:, unknown].any(axis=1), np.nan, scores)
            found[name] = scores, defined
        return found

    @staticmethod
    @abstractmethod
    def _score_order(hits: NDArray[Any], misses: NDArray[Any]) -> NDArray[Any]:
        """The score of one label on several selections.

        Args:
            hits: rows that have the label among those down to each probability that occurs, from
                the highest on, ``[selections, probabilities]``.
            misses: those among them that have it not.
        """


class RocAuc(_LabelRanks):
    """Area under the receiver operating characteristic of each label, averaged.

    The chance that of two rows, one with the label and one without, the former has the higher
    probability, equal ones counting half (Hanley and McNeil 1982). 0.5 is the score of an answer
    that is the same everywhere. With two labels both have the same area, but for rounding.

    Args:
        spec: see the base class.
    """

    @staticmethod
    def _score_order(hits: NDArray[Any], misses: NDArray[Any]) -> NDArray[Any]:
        # A step that adds both kinds is of equal probabilities: its triangle counts half.
        risen = np.diff(hits, prepend=0)
        moved = np.diff(misses, prepend=0)
        ordered = (moved * (hits - risen / 2)).sum(axis=1)
        areas: NDArray[Any] = ordered / (hits[:, -1] * misses[:, -1])
        return areas


class AveragePrecision(_LabelRanks):
    """Precision at each probability, weighted by the recall that it adds; averaged over labels.

    The sum without interpolation, as scikit-learn has it. The share of the rows that have the label
    is the score of an answer that is the same everywhere.

    Args:
        spec: see the base class.
    """

    @staticmethod
    def _score_order(hits: NDArray[Any], misses: NDArray[Any]) -> NDArray[Any]:
        gained = np.diff(hits, prepend=0)
        # Down to a probability that no selected row has yet reached there is nothing gained.
        precision = hits / np.maximum(hits + misses, 1)
        scores: NDArray[Any] = (gained * precision).sum(axis=1) / hits[:, -1]
        return scores


def _cut(
    chances: NDArray[Any], wanted: NDArray[np.bool_], times: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows with and without the label, down to each distinct probability from the highest on.

    Of several selections, ``[selections, probabilities]``.
    """
    order = np.argsort(-chances, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(chances[order])), len(chances) - 1)
    counted = times[:, order]
    hits = np.cumsum(counted * wanted[order], axis=1)[:, ends]
    return hits, np.cumsum(counted, axis=1)[:, ends] - hits
