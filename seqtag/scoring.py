"""A model's predictions for a whole split, batch by batch, and what they score."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.datamodule import DataModule
from seqtag.evaluation.label_sets import as_switches
from seqtag.evaluation.scores import Scores
from seqtag.model import Model
from seqtag.stretches import predict


@torch.inference_mode()
def predict_batches(
    model: Model, data: DataModule, split: str, device: torch.device
) -> Iterator[tuple[Batch, Prediction]]:
    """Yield every batch of a split with what the model predicts, in host memory.

    Probabilities of labels come along where a measure of the task reads them: of ten thousand
    labels for every element they are larger than all the rest.
    """
    model = model.to(device).eval()
    wanted = empty_scores(data, split).reads_probabilities
    for batch in data.batches(split, shuffle=False):
        prediction = predict(model, batch.to(device), data.long_rows)
        yield (
            batch,
            Prediction(
                prediction.value.cpu(),
                probabilities=_fetched(prediction.probabilities) if wanted else None,
                complete=_fetched(prediction.complete),
                candidates=_fetched(prediction.candidates),
            ),
        )


def _fetched(values: Tensor | None) -> Tensor | None:
    return None if values is None else values.cpu()


def empty_scores(data: DataModule, split: str) -> Scores:
    """The measures that apply to a split, with nothing in them yet."""
    return Scores(data.task.metrics(data.splits[split].spec))


def selection_metric(data: DataModule, split: str) -> str:
    """Name of the measure that chooses by this split: the first preferred one that is defined.

    Span F1 has no value where the gold has no span, nor a correlation where it is constant: asked
    of the gold itself, such a measure is undefined. One of probabilities is asked of gold that is
    certain.

    Raises:
        ValueError: none of the preferred measures is defined.
    """
    scores = empty_scores(data, split)
    classes = data.target.classes
    for batch in data.batches(split, shuffle=False):
        assert batch.target is not None
        gold = batch.target.value
        sure = Prediction(gold.clamp(max=classes - 1) if classes else gold)
        if scores.reads_probabilities:
            sure.probabilities = _certainty(sure.value, data.target)
        scores.update(sure, batch)
    return data.task.selection([n for n, value in scores.compute().items() if value == value])


def _certainty(value: Tensor, spec: TargetSpec) -> Tensor:
    """A probability of 1 for what is predicted, ``[..., labels]``."""
    if spec.multi:
        return as_switches(value, len(spec.labels)).float()
    return functional.one_hot(value, spec.classes).float()
