"""From encoded elements to a loss and a prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import END, Batch, Layout, Prediction, Target, TargetSpec
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.padding import zero_padding
from seqtag.nn.pooling import Pooling
from seqtag.nn.search import Search


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


class Readout(nn.Module):
    """A linear map of every element, or of one vector per row.

    Args:
        input_dim: width of the elements.
        width: how many numbers come out for each.
        pooling: builds what makes one vector of a row, ``pooling(input_dim)``; None to keep every
            element.
        dropout: share of what is mapped set to zero in training.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        width: int,
        pooling: Callable[[int], Pooling] | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.pooling = None if pooling is None else pooling(input_dim)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(
            input_dim if self.pooling is None else self.pooling.output_dim, width
        )

    def forward(self, states: Tensor, layout: Layout) -> Tensor:
        """Maps ``[batch, source, input_dim]`` to ``[batch, source, width]`` or ``[batch, width]``.

        Padding is zeroed first, so that it gives the weights no gradient, not even NaN.
        """
        states = zero_padding(states, layout.valid)
        if self.pooling is not None:
            states = self.pooling(states, layout)
        numbers: Tensor = self.linear(self.dropout(states))
        return numbers


class LabelHead(Head):
    """A label for every element, or for every row.

    Args:
        input_dim: width of the elements.
        target: what training taught about the labels.
        pooling: builds what makes one vector of a row; None for a label per element.
        dropout: share of what is mapped set to zero in training.
        label_smoothing: share of the gold probability spread over all labels (Szegedy et al. 2016).
    """

    def __init__(
        self,
        input_dim: int,
        *,
        target: TargetSpec,
        pooling: Callable[[int], Pooling] | None,
        dropout: float,
        label_smoothing: float,
    ) -> None:
        super().__init__()
        if target.sequence or not target.labels:
            raise ValueError("this head gives labels, and the task's targets are none")
        _check_smoothing(label_smoothing)
        self.label_smoothing = label_smoothing
        self.readout = Readout(input_dim, width=target.classes, pooling=pooling, dropout=dropout)

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean cross entropy over gold labels that training has seen; see ``Head.loss``."""
        target = _gold(batch)
        logits = self.readout(states, batch.layout)
        return _cross_entropy(logits, target, self.label_smoothing)

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """The most probable label, and the probability of each; see ``Head.predict``."""
        logits = self.readout(states, batch.layout)
        return Prediction(value=logits.argmax(dim=-1), probabilities=logits.softmax(dim=-1))


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
        self.readout = Readout(input_dim, width=target.width, pooling=pooling, dropout=dropout)
        self.register_buffer("mean", torch.tensor(target.mean, dtype=torch.float32))
        self.register_buffer("deviation", torch.tensor(target.deviation, dtype=torch.float32))

    def loss(self, states: Tensor, batch: Batch) -> Tensor:
        """Mean squared error over gold numbers, in standard units; see ``Head.loss``."""
        target = _gold(batch)
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
        target = _gold(batch)
        before = functional.pad(target.value[:, :-1], (1, 0), value=END)
        known = before.where(before < self.classes, END)
        logits = self.decoder(known, states, batch.layout)
        return _cross_entropy(logits, target, self.label_smoothing)

    def predict(self, states: Tensor, batch: Batch) -> Prediction:
        """The sequence that the search finds, and its probability; see ``Head.predict``."""
        found = self.search.search(self.decoder, states, batch.layout)
        return Prediction(found.symbols, found.log_probability.exp(), found.complete)


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"head.label_smoothing is {label_smoothing}; it must lie in [0, 1)")


def _cross_entropy(logits: Tensor, target: Target, label_smoothing: float) -> Tensor:
    """The mean over gold labels that training has seen; ``logits [..., classes]``."""
    known = target.present & (target.value < logits.shape[-1])
    loss = functional.cross_entropy(
        logits.flatten(0, -2),  # [batch * source, classes] or [batch, classes]
        target.value.where(known, 0).flatten(),
        label_smoothing=label_smoothing,
        reduction="none",
    )
    # Divided here, because the mean over no label at all would be 0/0.
    total = loss.where(known.flatten(), 0).sum()
    return total / known.sum().clamp(min=1)


def _gold(batch: Batch) -> Target:
    assert batch.target is not None, "a loss needs a batch with gold values"
    return batch.target
