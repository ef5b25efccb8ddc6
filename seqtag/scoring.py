"""A model's predictions for a whole split, batch by batch, and what they score."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from seqtag.batch import Batch, Prediction
from seqtag.datamodule import DataModule
from seqtag.evaluation.scores import Scores
from seqtag.model import Model
from seqtag.stretches import predict


@torch.inference_mode()
def predict_batches(
    model: Model, data: DataModule, split: str, device: torch.device
) -> Iterator[tuple[Batch, Prediction]]:
    """Yield every batch of a split with the values that the model predicts, in host memory."""
    model = model.to(device).eval()
    for batch in data.batches(split, shuffle=False):
        prediction = predict(model, batch.to(device), data.long_rows)
        complete = prediction.complete
        yield (
            batch,
            Prediction(
                prediction.value.cpu(), complete=None if complete is None else complete.cpu()
            ),
        )


def empty_scores(data: DataModule, split: str) -> Scores:
    """The metrics that apply to a split, with nothing in them yet."""
    return Scores(data.task.metrics(data.splits[split].spec))


def selection_metric(data: DataModule, split: str) -> str:
    """Name of the metric that chooses by this split: the first preferred one that is defined.

    Span F1 has no value where the gold has no span, nor a correlation where it is constant: asked
    of the gold itself, such a metric is undefined.

    Raises:
        ValueError: none of the preferred metrics is defined.
    """
    scores = empty_scores(data, split)
    known = data.target.classes
    for batch in data.batches(split, shuffle=False):
        assert batch.target is not None
        gold = batch.target.value
        scores.update(Prediction(gold.clamp(max=known - 1) if known else gold), batch)
    return data.task.selection([n for n, value in scores.compute().items() if value == value])
