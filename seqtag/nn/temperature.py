"""From logits to probabilities, as sure as they should be."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqtag.batch import Batch, Prediction
from seqtag.evaluation.temperature import best_temperature
from seqtag.nn.held import Held

FIT = "fit"
"""The setting that has dev choose."""


class Temperature(nn.Module):
    """Divides logits by a number before the softmax, which changes no order of labels.

    A fitted temperature is part of the weights. Whenever dev has been scored, it becomes the one
    with which the gold labels of dev are most likely, and dev is scored with it. For that the
    probabilities of dev are kept in host memory, four bytes for each label of each row or element.

    Args:
        given: a number, or ``FIT``.

    Raises:
        ValueError: it is neither that nor a number above 0.
    """

    value: Tensor

    def __init__(self, given: float | str) -> None:
        super().__init__()
        self.fitted = given == FIT
        number = 1.0 if self.fitted else given
        if isinstance(number, str) or not number > 0:
            raise ValueError(
                f"head.temperature is {given}; it must be a number above 0, or {FIT}: the best on "
                "dev"
            )
        self.register_buffer("value", torch.tensor(float(number)))
        self._held = Held()

    def forward(self, logits: Tensor) -> Tensor:
        """Probabilities, of the shape of ``logits [..., labels]``."""
        return (logits.float() / self.value).softmax(dim=-1)

    def hold(self, prediction: Prediction, batch: Batch) -> list[tuple[Prediction, Batch]]:
        """Keep what dev says until the temperature is known; see ``Head.hold``."""
        if not self.fitted:
            return [(prediction, batch)]
        self._held.add(prediction, batch)
        return []

    def release(self) -> list[tuple[Prediction, Batch]]:
        """Choose the temperature, and give what was kept anew; see ``Head.release``."""
        held = [(p, b, self._logits(p)) for p, b in self._held.take()]
        if not held:
            return []
        logits, wanted = [], []
        for _, batch, each in held:
            assert batch.target is not None
            known = batch.target.present & (batch.target.value < each.shape[-1])
            logits.append(each[known])
            wanted.append(batch.target.value[known])
        self.value.fill_(best_temperature(torch.cat(logits).double(), torch.cat(wanted)))
        value = self.value.cpu()
        return [
            (replace(prediction, probabilities=(each / value).softmax(dim=-1)), batch)
            for prediction, batch, each in held
        ]

    def _logits(self, prediction: Prediction) -> Tensor:
        """Logits again, up to a number that is the same for all labels.

        A probability that is too small for 32 bits is taken for the smallest one.
        """
        assert prediction.probabilities is not None
        tiny = torch.finfo(torch.float32).tiny
        return prediction.probabilities.clamp(min=tiny).log() * self.value.cpu()
