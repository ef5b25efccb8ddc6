"""What a model must beat: answers that need no training."""

from __future__ import annotations

from seqtag.datamodule import DataModule
from seqtag.scoring import empty_scores


def score_floor(data: DataModule, split: str) -> dict[str, float]:
    """Scores of what is most frequent in training, or of the training mean, on a split."""
    scores = empty_scores(data, split)
    for batch in data.batches(split, shuffle=False):
        assert batch.target is not None
        scores.update(data.task.floor(batch.target, data.target), batch)
    return scores.compute()
