"""A model's predictions for a whole split, batch by batch, and what they score."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from seqtag.batch import Batch, Prediction
from seqtag.datamodule import DataModule
from seqtag.evaluation.scores import Scores
from seqtag.model import Model


@torch.inference_mode()
def predict_batches(
    model: Model, data: DataModule, split: str, device: torch.device
) -> Iterator[tuple[Batch, Prediction]]:
    """Yield every batch of a split with the model's prediction, both in host memory."""
    model = model.to(device).eval()
    for batch in data.batches(split, shuffle=False):
        prediction = model.predict(batch.to(device))
        shares = prediction.probabilities
        yield (
            batch,
            Prediction(prediction.value.cpu(), shares.cpu() if shares is not None else None),
        )


def empty_scores(data: DataModule, split: str) -> Scores:
    """The metrics that apply to a split, with nothing in them yet."""
    return Scores(data.task.metrics(data.splits[split].spec))
