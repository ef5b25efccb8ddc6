"""Precision, recall and F1 of each label, and their averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Counts = tuple[int, int, int]
"""How often something is correct, predicted, and gold."""


@dataclass(frozen=True, kw_only=True)
class LabelScores:
    """Scores of one label, or of an average over labels; 0 where there is nothing to divide by.

    Attributes:
        precision: share of the predictions that are correct.
        recall: share of the gold ones that are predicted.
        f1: harmonic mean of both; in an average, the mean of the labels' F1.
        support: how many gold ones there are.
    """

    precision: float
    recall: float
    f1: float
    support: int

    @classmethod
    def of(cls, counts: Counts) -> LabelScores:
        """From the counts of a label."""
        correct, predicted, gold = counts
        return cls(
            precision=_share(correct, predicted),
            recall=_share(correct, gold),
            f1=_share(2 * correct, predicted + gold),
            support=gold,
        )


@dataclass(frozen=True, kw_only=True)
class LabelReport:
    """Scores of each label and their averages, with the numbers of scikit-learn and seqeval.

    Attributes:
        labels: by name, the labels that occur in gold or in prediction, in order of their names.
        micro: all labels counted together.
        macro: plain mean over the labels.
        weighted: mean over the labels, weighted by support.
    """

    labels: Mapping[str, LabelScores]
    micro: LabelScores
    macro: LabelScores
    weighted: LabelScores

    @classmethod
    def of(cls, counts: Mapping[str, Counts]) -> LabelReport:
        """From the counts of each label by name."""
        labels = {
            name: LabelScores.of(counts[name])
            for name in sorted(counts)
            if counts[name][1] or counts[name][2]
        }
        correct, predicted, gold = (
            sum(column) for column in zip((0, 0, 0), *counts.values(), strict=True)
        )
        scores = list(labels.values())
        return cls(
            labels=labels,
            micro=LabelScores.of((correct, predicted, gold)),
            macro=_average(scores, [1] * len(scores)),
            weighted=_average(scores, [score.support for score in scores]),
        )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _average(scores: Sequence[LabelScores], weights: Sequence[int]) -> LabelScores:
    weighted = list(zip(scores, weights, strict=True))
    whole = sum(weights)
    return LabelScores(
        precision=_share(sum(score.precision * weight for score, weight in weighted), whole),
        recall=_share(sum(score.recall * weight for score, weight in weighted), whole),
        f1=_share(sum(score.f1 * weight for score, weight in weighted), whole),
        support=sum(score.support for score in scores),
    )
