"""Several labels for every row, each by itself."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from seqtag.batch import Batch, Prediction, Target, TargetSpec
from seqtag.evaluation.label_sets import as_sets, as_switches
from seqtag.evaluation.threshold import best_threshold
from seqtag.nn.class_weights import ClassWeights, label_weights
from seqtag.nn.heads import Head, gold
from seqtag.nn.held import Held
from seqtag.nn.pooling import Pooling
from seqtag.nn.readout import Readout

EVEN = 0.5
"""The threshold until dev has been scored."""


class MultiLabelHead(Head):
    """A probability for every label, and a threshold above which a row has it.

    The threshold is one for all labels, and part of the weights. Whenever dev has been scored, it
    becomes the one that gives dev the best micro F1, and dev is scored with it. For that the
    probabilities of dev are kept in host memory, four bytes for each label of each row.

    Args:
        input_dim: width of the elements.
        target: what training taught about the labels.
        pooling: builds what makes one vector of a row.
        dropout: share of what is mapped set to zero in training.
        class_weights: how much a label counts in the loss of the rows that have it; a label that a
            row does not have counts 1. See ``label_weights``.
        threshold: a fixed one; None for the best on dev.

    Raises:
        ValueError: the targets are no sets of labels, a setting is out of range.
    """

    threshold: Tensor
    weights: Tensor | None

    def __init__(
        self,
        input_dim: int,
        *,
        target: TargetSpec,
        pooling: Callable[[int], Pooling],
        dropout: float,
        class_weights: ClassWeights,
        threshold: float | None,
    ) -> None:
        super().__init__()
        if not target.multi:
            raise ValueError("this head gives several labels, and the task's targets are none such")
        if threshold is not None and not 0 < threshold < 1:
            raise ValueError(f"head.threshold is {threshold}; it must lie between 0 and 1")
        self.labels = len(target.labels)
        self.fixed = threshold
        self.readout = Readout(input_dim, width=self.labels, pooling=pooling, dropout=dropout)
        self.register_buffer("threshold", torch.tensor(EVEN if threshold is None else threshold))
        self.register_buffer("weights", label_weights(class_weights, target), persistent=False)
        self._held = Held()

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean binary cross entropy over the labels that training has seen; see ``Head.loss``."""
        target = gold(batch)
        logits = self.readout(states, batch.layout)
        has = self._has(target)
        each = functional.binary_cross_entropy_with_logits(
            logits, has.to(logits.dtype), reduction="none"
        )
        weight = self._weight(target, has)
        total = torch.where(weight > 0, each * weight, 0).sum()
        return total / weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)

    def loss_weight(self, batch: Batch) -> Tensor:
        """See the base class."""
        target = gold(batch)
        return self._weight(target, self._has(target)).sum()

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """The labels above the threshold, and the probability of each; see ``Head.predict``."""
        return self._decide(self.readout(states, batch.layout).float().sigmoid())

    def hold(self, prediction: Prediction, batch: Batch) -> list[tuple[Prediction, Batch]]:
        """Keep what dev says until the threshold is known; see ``Head.hold``."""
        if self.fixed is not None:
            return [(prediction, batch)]
        self._held.add(prediction, batch)
        return []

    def release(self) -> list[tuple[Prediction, Batch]]:
        """Choose the threshold, and give what was kept anew; see ``Head.release``."""
        held = self._held.take()
        if not held:
            return []
        chances, right, missed = [], [], 0
        for prediction, batch in held:
            target = gold(batch)
            there = target.present.any(dim=1)
            assert prediction.probabilities is not None
            chances.append(prediction.probabilities[there].flatten())
            right.append(self._has(target)[there].flatten())
            missed += int((target.present & (target.value > self.labels)).sum())
        chosen = best_threshold(
            torch.cat(chances).numpy(), torch.cat(right).numpy(), missed=missed, default=EVEN
        )
        self.threshold.fill_(chosen)
        return [
            (self._decide(prediction.probabilities), batch)
            for prediction, batch in held
            if prediction.probabilities is not None
        ]

    def _decide(self, probabilities: Tensor) -> Prediction:
        threshold = self.threshold.to(probabilities.device) if self.fixed is None else self.fixed
        return Prediction(as_sets(probabilities > threshold), probabilities)

    def _has(self, target: Target) -> Tensor:
        """Which rows have which label, bool ``[batch, labels]``; unseen labels are left out."""
        known = target.value.where(target.value <= self.labels, 0)
        return as_switches(known, self.labels)

    def _weight(self, target: Target, has: Tensor) -> Tensor:
        """How much each label of each row counts, ``[batch, labels]``; 0 without a target."""
        there = target.present.any(dim=1, keepdim=True).float().expand(has.shape)
        return there if self.weights is None else torch.where(has, self.weights, 1.0) * there
