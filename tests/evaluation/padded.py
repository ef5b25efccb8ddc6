"""Ragged rows as padded tensors, with values at padding that would show if they counted."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target
from seqtag.evaluation.metrics import Metric

NOWHERE = 10**6


def padded_labels(
    predicted: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int | None]],
    source: int | None = None,
) -> tuple[Tensor, Target]:
    """Label ids ``[batch, source]``; a gold None is missing."""
    source = max((len(row) for row in gold), default=0) if source is None else source
    value = torch.full((len(gold), source), NOWHERE)
    target = Target(
        value=torch.zeros(len(gold), source, dtype=torch.int64),
        present=torch.zeros(len(gold), source, dtype=torch.bool),
    )
    for row, (ids, labels) in enumerate(zip(predicted, gold, strict=True)):
        for element, (label, truth) in enumerate(zip(ids, labels, strict=True)):
            value[row, element] = label
            if truth is not None:
                target.value[row, element] = truth
                target.present[row, element] = True
    return value, target


def padded_numbers(
    predicted: Sequence[Sequence[Sequence[float]]],
    gold: Sequence[Sequence[Sequence[float | None]]],
    *,
    width: int,
) -> tuple[Tensor, Target]:
    """Numbers ``[batch, source, width]``; a gold None is missing."""
    source = max((len(row) for row in gold), default=0)
    value = torch.full((len(gold), source, width), torch.nan)
    target = Target(
        value=torch.zeros(len(gold), source, width),
        present=torch.zeros(len(gold), source, width, dtype=torch.bool),
    )
    for row, (guesses, cells) in enumerate(zip(predicted, gold, strict=True)):
        for element, (guess, cell) in enumerate(zip(guesses, cells, strict=True)):
            value[row, element] = torch.tensor(guess)
            for place, truth in enumerate(cell):
                if truth is not None:
                    target.value[row, element, place] = truth
                    target.present[row, element, place] = True
    return value, target


def score(metric: Metric, value: Tensor, target: Target) -> float:
    """The score of one batch."""
    return metric.score(metric.row_statistics(Prediction(value), target).sum(dim=0))
