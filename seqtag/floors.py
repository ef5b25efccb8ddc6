"""What a model must beat: answers that need no training."""

from __future__ import annotations

from seqtag.datamodule import DataModule
from seqtag.evaluation.scores import Scores


def score_floor(data: DataModule, split: str) -> dict[str, float]:
    """Scores of the most frequent training label, or the training mean, on a split."""
    spec = data.splits[split].spec
    scores = Scores(data.task.metrics(spec))
    for batch in data.batches(split, shuffle=False):
        assert batch.target is not None
        scores.update(data.task.floor(batch.target, spec), batch)
    return scores.compute()
