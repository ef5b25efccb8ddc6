"""What training says of a word, wherever it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.data.corpus import iterate
from seqtag.datamodule import DataModule
from seqtag.floors.floor import Floor, Tokens
from seqtag.split import Split
from seqtag.tasks.labels import majority


class WordFloor(Floor):
    """For every element the most frequent label of that word, or the mean of its numbers.

    Args:
        answers: by word, a label id, or a list of numbers.
        other: the same for words that training never saw with a target.
    """

    name = "floor_word"
    heading = "words"
    meaning = "the most frequent label of the word, or its mean; for unseen words, the constant"

    def __init__(self, answers: dict[str, Any], other: Any) -> None:
        self._answers, self._other = answers, other

    @classmethod
    def fit(cls, data: DataModule) -> WordFloor:
        """What the training split of a task with a target for each element teaches."""
        train, spec = data.splits["train"], data.target
        if spec.width:
            return cls(_means(train, spec), list(spec.mean))
        return cls(_most_frequent(train, spec), majority(spec))

    def predict(self, target: Target, tokens: Tokens) -> Prediction:
        """See the base class."""
        value = torch.zeros_like(target.value)  # [batch, source] or [batch, source, width]
        for row, words in enumerate(tokens):
            said = [self._answers.get(word, self._other) for word in words]
            if said:
                value[row, : len(said)] = torch.tensor(said, dtype=value.dtype)
        return Prediction(value)


def _elements(split: Split) -> Iterator[tuple[str, Any, Any]]:
    """Every word of a split with its encoded target, and whether that is there."""
    tokens = split.rows.select_columns(["tokens"])
    for row, encoded in zip(iterate(tokens), split.encoded, strict=True):
        yield from zip(
            row["tokens"], encoded["target"].tolist(), encoded["present"].tolist(), strict=True
        )


def _most_frequent(train: Split, spec: TargetSpec) -> dict[str, int]:
    """The label that each word has most often; of equals the one more frequent everywhere."""
    counts = Counter((word, label) for word, label, present in _elements(train) if present)
    # In ascending order, so that the best label of a word overwrites its others.
    return dict(sorted(counts, key=lambda key: (counts[key], spec.counts[key[1]], -key[1])))


def _means(train: Split, spec: TargetSpec) -> dict[str, list[float]]:
    """The mean of each number of a word's targets; over all words where it never has that one."""
    totals: dict[str, list[list[float]]] = {}
    for word, numbers, present in _elements(train):
        total = totals.setdefault(word, [[0.0, 0] for _ in spec.mean])
        for column, number, there in zip(total, numbers, present, strict=True):
            column[0] += number if there else 0.0
            column[1] += there
    return {
        word: [
            added / count if count else mean
            for (added, count), mean in zip(total, spec.mean, strict=True)
        ]
        for word, total in totals.items()
    }
