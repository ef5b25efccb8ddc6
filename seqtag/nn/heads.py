"""From encoded elements to a loss and a prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import END, Batch, Prediction, Target, TargetSpec
from seqtag.nn.class_weights import ClassWeights, label_weights
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.pooling import Pooling
from seqtag.nn.readout import Readout
from seqtag.nn.search import Search
from seqtag.nn.temperature import Temperature


class Head(nn.Module, ABC):
    """Built as ``head(input_dim, target=spec)``."""

    @abstractmethod
    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """The mean loss over the targets that there are.

        Args:
            states: ``[batch, source, input_dim]``; anything at padding.
            batch: with gold values.

        Returns:
            A number; zero, with a gradient of zero, where the batch has no target to learn from.
        """

    @abstractmethod
    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """What the model says of every element or row; unspecified at padding.

        Args:
            states: ``[batch, source, input_dim]``; anything at padding.
            batch: with or without gold values.

        Returns:
            Label ids or numbers, as ``Prediction`` describes them.
        """

    def loss_weight(self, batch: Batch) -> Tensor:
        """What the loss of a batch counts in a mean over batches: its targets, unless weighted."""
        return gold(batch).present.sum()

    def hold(self, prediction: Prediction, batch: Batch) -> list[tuple[Prediction, Batch]]:
        """What of dev can be scored now, given a batch more: that batch.

        A head that learns from the whole of dev keeps it back until ``release``.
        """
        return [(prediction, batch)]

    def release(self) -> list[tuple[Prediction, Batch]]:
        """What ``hold`` kept back, with predictions as they are now that all of dev was there."""
        return []


class LabelHead(Head):
    """A label for every element, or for every row.

    Args:
        input_dim: width of the elements.
        target: what training taught about the labels.
        pooling: builds what makes one vector of a row; None for a label per element.
        dropout: share of what is mapped set to zero in training.
        label_smoothing: share of the gold probability spread over all labels (Szegedy et al. 2016).
        class_weights: how much each label counts in the loss; see ``label_weights``.
        temperature: what logits are divided by where they become probabilities, or ``fit``; the
            loss is without it. See ``Temperature``.

    Raises:
        ValueError: the targets are no labels, a setting is out of range.
    """

    weights: Tensor | None

    def __init__(
        self,
        input_dim: int,
        *,
        target: TargetSpec,
        pooling: Callable[[int], Pooling] | None,
        dropout: float,
        label_smoothing: float,
        class_weights: ClassWeights,
        temperature: float | str,
    ) -> None:
        super().__init__()
        if not target.single:
            raise ValueError("this head gives one label, and the task's targets are none such")
        _check_smoothing(label_smoothing)
        self.label_smoothing = label_smoothing
        # Not in the checkpoint: its config and its labels say it all.
        self.register_buffer("weights", label_weights(class_weights, target), persistent=False)
        self.readout = Readout(input_dim, width=target.classes, pooling=pooling, dropout=dropout)
        self.temperature = Temperature(temperature)

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean cross entropy over gold labels that training has seen; see ``Head.loss``."""
        logits = self.readout(states, batch.layout)
        return _cross_entropy(logits, gold(batch), self.label_smoothing, self.weights)

    def loss_weight(self, batch: Batch) -> Tensor:
        """See the base class."""
        return _weight(gold(batch), self.readout.linear.out_features, self.weights).sum()

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """The most probable label, and the probability of each; see ``Head.predict``."""
        logits = self.readout(states, batch.layout)
        return Prediction(value=logits.argmax(dim=-1), probabilities=self.temperature(logits))

    def hold(self, prediction: Prediction, batch: Batch) -> list[tuple[Prediction, Batch]]:
        """Keep what dev says where the temperature is fitted; see ``Head.hold``."""
        return self.temperature.hold(prediction, batch)

    def release(self) -> list[tuple[Prediction, Batch]]:
        """Fit the temperature, and give what was kept anew; see ``Head.release``."""
        return self.temperature.release()


class NumberHead(Head):
    """One or more numbers for every element, or for every row.

    The model works in standard units, where training has mean 0 and deviation 1, so that targets in
    thousands and targets in thousandths learn alike.

    Args:
        input_dim: width of the elements.
        target: what training taught about the numbers.
        pooling: builds what makes one vector of a row; None for numbers per element.
        dropout: share of what is mapped set to zero in training.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        input_dim: int,
        *,
        target: TargetSpec,
        pooling: Callable[[int], Pooling] | None,
        dropout: float,
    ) -> None:
        super().__init__()
        if not target.width:
            raise ValueError("this head gives numbers, and the task's targets are none")
        self.readout = Readout(input_dim, width=target.width, pooling=pooling, dropout=dropout)
        self.register_buffer("mean", torch.tensor(target.mean, dtype=torch.float32))
        self.register_buffer("deviation", torch.tensor(target.deviation, dtype=torch.float32))

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean squared error over gold numbers, in standard units; see ``Head.loss``."""
        target = gold(batch)
        standard = (target.value - self.mean) / self.deviation
        error = self.readout(states, batch.layout) - standard
        squared = torch.where(target.present, error, 0).square()
        return squared.sum() / target.present.sum().clamp(min=1)

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """Numbers in the target's own units; see ``Head.predict``."""
        standard = self.readout(states, batch.layout)
        return Prediction(value=standard * self.deviation + self.mean)


class Seq2SeqHead(Head):
    """A new sequence: a decoder reads the encoded input, a search makes an output of its scores.

    Args:
        input_dim: width of the elements.
        target: what training taught about the target's symbols.
        decoder: builds the decoder, ``decoder(input_dim, classes=)``.
        search: finds outputs.
        label_smoothing: share of the gold probability spread over all symbols.

    Raises:
        ValueError: the targets are no sequences.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        target: TargetSpec,
        decoder: Callable[..., Decoder],
        search: Search,
        label_smoothing: float,
    ) -> None:
        super().__init__()
        if not target.sequence:
            raise ValueError("this head makes sequences, and the task's targets are none")
        _check_smoothing(label_smoothing)
        self.decoder = decoder(input_dim, classes=target.classes)
        self.search = search
        self.label_smoothing = label_smoothing
        self.classes = target.classes

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean cross entropy of each symbol and of the end, after the gold ones before it.

        Symbols that training has not seen are in no loss, and are read as ``END``.
        """
        target = gold(batch)
        before = functional.pad(target.value[:, :-1], (1, 0), value=END)
        known = before.where(before < self.classes, END)
        logits = self.decoder(known, states, batch.layout)
        return _cross_entropy(logits, target, self.label_smoothing, None)

    def loss_weight(self, batch: Batch) -> Tensor:
        """See the base class."""
        return _weight(gold(batch), self.classes, None).sum()

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """The sequences that the search finds, and their probability; see ``Head.predict``."""
        found = self.search.search(self.decoder, states, batch.layout)
        best = found.candidates
        if best is None:
            return Prediction(found.symbols, found.log_probability.exp(), found.complete)
        return Prediction(found.symbols, best.log_probability.exp(), found.complete, best.symbols)


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"head.label_smoothing is {label_smoothing}; it must lie in [0, 1)")


def _cross_entropy(
    logits: Tensor, target: Target, label_smoothing: float, weights: Tensor | None
) -> Tensor:
    """The mean over gold labels that training has seen; ``logits [..., classes]``."""
    weight = _weight(target, logits.shape[-1], weights)
    known = weight > 0
    loss = functional.cross_entropy(
        logits.flatten(0, -2),  # [batch * source, classes] or [batch, classes]
        target.value.where(known, 0).flatten(),
        weight=weights,
        label_smoothing=label_smoothing,
        reduction="none",
    )
    # Divided here, because the mean over no label at all would be 0/0.
    total = loss.where(known.flatten(), 0).sum()
    whole = weight.sum()
    return total / whole.where(whole > 0, 1)


def _weight(target: Target, classes: int, weights: Tensor | None) -> Tensor:
    """What each gold value counts, of the shape of them; 0 where training has not seen it."""
    known = target.present & (target.value < classes)
    return known if weights is None else weights[target.value.where(known, 0)] * known


def gold(batch: Batch) -> Target:
    """The gold values of a batch that has some."""
    assert batch.target is not None, "a loss needs a batch with gold values"
    return batch.target
