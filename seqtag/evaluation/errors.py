"""Where the errors are: by label, by pair of labels, by kind of element, by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqtag.batch import Target
from seqtag.evaluation.label_report import Counts, LabelReport
from seqtag.evaluation.metrics import Metric

BLOCK = 1000
"""Rows that are left out, each by itself, at once."""

Name = TypeVar("Name", str, str | None)


class Confusion:
    """How often each label is predicted for each gold label.

    Only pairs that occur are kept: the square of ten thousand labels is too many.

    Args:
        labels: the name of each id, known labels and then unseen ones.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = tuple(labels)
        self._counts: Counter[tuple[int, int]] = Counter()

    def update(self, value: Tensor, target: Target) -> None:
        """Count a batch of predicted ids, of the shape of ``target.value``."""
        size = len(self._labels)
        pairs = target.value[target.present] * size + value[target.present]
        distinct, counts = np.unique(pairs.cpu().numpy(), return_counts=True)
        for pair, count in zip(distinct.tolist(), counts.tolist(), strict=True):
            self._counts[divmod(pair, size)] += count

    def report(self) -> LabelReport:
        """Precision, recall and F1 of the labels."""
        return LabelReport.of(_marginals(self.counts().items()))

    def most_frequent(self, limit: int) -> list[tuple[str, str, int]]:
        """Gold, predicted and count of the most frequent errors, by count and then by name."""
        return most_frequent(self.counts(), limit)

    def counts(self) -> dict[tuple[str, str], int]:
        """How often each label is predicted for each, by gold and predicted label."""
        return {
            (self._labels[gold], self._labels[predicted]): count
            for (gold, predicted), count in self._counts.items()
        }


class SpanConfusion:
    """How often spans are found, missed, made up, or given another type."""

    def __init__(self) -> None:
        self._spans: Counter[tuple[str | None, str | None]] = Counter()

    def update(
        self, pairs: Iterable[tuple[set[tuple[str, int, int]], set[tuple[str, int, int]]]]
    ) -> None:
        """Count the predicted and gold spans of rows: type, first element, element behind."""
        for predicted, gold in pairs:
            found = {span[1:]: span[0] for span in predicted}
            wanted = {span[1:]: span[0] for span in gold}
            for extent in found.keys() | wanted.keys():
                self._spans[wanted.get(extent), found.get(extent)] += 1

    def counts(self) -> dict[tuple[str | None, str | None], int]:
        """How often each type is predicted for each at the same begin and end; None for none."""
        return dict(self._spans)

    def report(self) -> LabelReport:
        """Precision, recall and F1 of the types."""
        return LabelReport.of(_marginals(self._spans.items()))

    def most_frequent(self, limit: int) -> list[tuple[str | None, str | None, int]]:
        """Gold and predicted type and count of the most frequent errors.

        None stands for no span with the same begin and end.
        """
        return most_frequent(self._spans, limit)


def _marginals(pairs: Iterable[tuple[tuple[str | None, str | None], int]]) -> dict[str, Counts]:
    """Correct, predicted and gold of each name, from counts of gold and predicted pairs."""
    correct: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    for (gold_name, predicted_name), count in pairs:
        if gold_name is not None:
            gold[gold_name] += count
        if predicted_name is not None:
            predicted[predicted_name] += count
            correct[predicted_name] += count * (gold_name == predicted_name)
    return {
        name: (correct[name], predicted[name], gold[name])
        for name in gold.keys() | predicted.keys()
    }


def most_frequent(
    counts: Mapping[tuple[Name, Name], int], limit: int
) -> list[tuple[Name, Name, int]]:
    """Gold, predicted and how often, where the two differ; the most frequent first."""
    errors = [
        (gold, predicted, count) for (gold, predicted), count in counts.items() if gold != predicted
    ]
    return sorted(errors, key=lambda error: (-error[2], str(error[0]), str(error[1])))[:limit]


@dataclass
class Tally:
    """Correct labels among those that were counted."""

    correct: int = 0
    total: int = 0

    @property
    def accuracy(self) -> float:
        """NaN where nothing was counted."""
        return self.correct / self.total if self.total else float("nan")


class GroupedAccuracy:
    """Accuracy of elements by the group that each belongs to.

    Args:
        groups: how many there are.
    """

    def __init__(self, groups: int) -> None:
        self._counts = np.zeros((2, groups), np.int64)

    def update(self, value: Tensor, target: Target, groups: NDArray[np.int64]) -> None:
        """Count a batch.

        Args:
            value: predicted ids, of the shape of ``target.value``.
            target: gold labels; only what is present counts.
            groups: of each, in the same shape.
        """
        present = target.present.numpy()
        right = (value == target.value).numpy()[present]
        size = self._counts.shape[1]
        self._counts[1] += np.bincount(groups[present], minlength=size)
        self._counts[0] += np.bincount(groups[present][right], minlength=size)

    def tallies(self) -> list[Tally]:
        """Of each group."""
        return [Tally(right, total) for right, total in self._counts.T.tolist()]


@dataclass(frozen=True, kw_only=True)
class WorstRow:
    """A row that costs the split some of its score.

    Attributes:
        row: its index.
        score: its own score, NaN where that is not defined.
        cost: how much better the score of the split would be without the row.
    """

    row: int
    score: float
    cost: float


def worst_rows(
    *, rows: NDArray[Any], statistics: NDArray[Any], metric: Metric, limit: int
) -> list[WorstRow]:
    """The rows that cost the split most, the worst first.

    Ranked by cost and not by their own score, which would list rows of one wrong label first.

    Args:
        rows: index of each row.
        statistics: of the metric, ``[rows, size]``.
        metric: the metric.
        limit: how many rows to give at most.
    """
    total = statistics.sum(axis=0)
    score = metric.score(torch.from_numpy(total))
    sign = 1 if metric.higher_is_better else -1
    # Some rows at a time, since there may be thousands of statistics in each.
    blocks = [statistics[begin : begin + BLOCK] for begin in range(0, len(statistics), BLOCK)]
    without = [metric.scores(torch.from_numpy(total - block)).numpy() for block in blocks]
    cost = sign * (np.concatenate([np.zeros(0), *without]) - score)
    order = np.argsort(-np.nan_to_num(cost), kind="stable")[:limit]
    return [
        WorstRow(
            row=int(rows[place]),
            score=metric.score(torch.from_numpy(statistics[place])),
            cost=float(cost[place]),
        )
        for place in order
        if cost[place] > 0
    ]
