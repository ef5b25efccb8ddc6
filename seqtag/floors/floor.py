"""What a model must beat: answers that need no training of ours, scored by the same metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from seqtag.batch import WORD, Batch, Prediction, Target
from seqtag.datamodule import DataModule
from seqtag.evaluation.scores import Scores
from seqtag.scoring import empty_scores

Tokens = Sequence[Sequence[str]]
"""The tokens of several rows."""


class Floor(ABC):
    """An answer for every row."""

    name: ClassVar[str]
    """``metrics.json`` has its scores as ``<name>/<split>/<metric>``."""
    heading: ClassVar[str]
    """What a table calls it."""
    meaning: ClassVar[str]
    """What the legend of a table says of it."""

    @abstractmethod
    def predict(self, target: Target, tokens: Tokens) -> Prediction:
        """What it says of the rows of a batch.

        Args:
            target: gold values, which give the answer its shape and nothing else.
            tokens: of each row; no row at all where the elements are vectors.
        """


class ConstantFloor(Floor):
    """What needs no look at the input.

    Args:
        data: with what training taught about the targets.
    """

    name = "floor"
    heading = "constant"
    meaning = "the most frequent label, labels or symbols, or the mean, everywhere"

    def __init__(self, data: DataModule) -> None:
        self._task, self._spec = data.task, data.target

    def predict(self, target: Target, tokens: Tokens) -> Prediction:
        """See the base class."""
        return self._task.floor(target, self._spec)


def score_each(data: DataModule, split: str, floors: Sequence[Floor]) -> list[Scores]:
    """The scores of each on a split, from one pass over it."""
    scores = [empty_scores(data, split) for _ in floors]
    rows = data.splits[split].rows
    for batch in data.batches(split, shuffle=False):
        assert batch.target is not None
        tokens = _tokens(rows, batch)
        for floor, score in zip(floors, scores, strict=True):
            score.update(floor.predict(batch.target, tokens), batch)
    return scores


def _tokens(rows: Any, batch: Batch) -> Tokens:
    if WORD not in batch.inputs:
        return []
    found: Tokens = rows.select_columns(["tokens"])[batch.rows.tolist()]["tokens"]
    return found
