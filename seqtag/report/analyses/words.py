"""Accuracy by what training knows of the words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import UNKNOWN, WORD, Batch, Prediction
from seqtag.data.inputs import Inputs
from seqtag.data.vocabulary import SPECIAL, Vocabulary
from seqtag.evaluation.buckets import FREQUENCIES
from seqtag.evaluation.errors import GroupedAccuracy, Tally
from seqtag.nn.word_vectors import WORD_VECTORS
from seqtag.report.analyses.table import Table
from seqtag.split import Split

MEANINGS = {
    "known": "the model's vocabulary has the word",
    "unknown": "it has not",
    "seen": "training has the word",
    "unseen": "training has not",
    "unseen_with_vector": "of these, the word vectors have it",
    "unseen_without_vector": "and have not",
}


class WordAnalysis:
    """How many labels are right of words that are known, and of those that training has so often.

    A word is known where the vocabulary has it, and seen where the training split has it. The two
    are the same unless ``data.min_frequency`` leaves out rare words or ``data.vocabulary`` gives
    others; static word vectors may say something of a word that is unseen.

    Args:
        inputs: of the model, with a vocabulary of words.
        split: that is scored.
    """

    def __init__(self, inputs: Inputs, split: Split) -> None:
        vocabulary = inputs.fields[WORD]
        assert isinstance(vocabulary, Vocabulary)
        self._counts = vocabulary.counts
        self._outside = vocabulary.outside
        self._normalization = inputs.normalization
        self._rows = split.rows
        self._vectors = WORD_VECTORS in inputs.fields
        self._known = GroupedAccuracy(2)
        self._frequency = GroupedAccuracy(len(FREQUENCIES.names))
        self._static = GroupedAccuracy(3)

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """Count a batch of labels, one per element."""
        assert batch.target is not None
        ids = batch.inputs[WORD].numpy()
        self._known.update(prediction.value, batch.target, (ids == UNKNOWN).astype(np.int64))
        if self._counts is None:
            return
        counts = self._occurrences(batch, ids)
        self._frequency.update(prediction.value, batch.target, FREQUENCIES.of(counts))
        if self._vectors:
            lacks = batch.inputs[WORD_VECTORS].numpy() == UNKNOWN
            groups = np.where(counts > 0, 0, 1 + lacks)
            self._static.update(prediction.value, batch.target, groups)

    def _occurrences(self, batch: Batch, ids: NDArray[np.int32]) -> NDArray[np.int64]:
        """How often training has the word of each cell, ``[batch, source]``."""
        assert self._counts is not None
        counts = self._counts[ids]
        if not self._outside:
            return counts
        rows = np.flatnonzero((ids == UNKNOWN).any(axis=1))
        if not len(rows):
            return counts
        chosen = batch.rows[rows].tolist()
        tokens: Sequence[Sequence[str]] = self._rows.select_columns(["tokens"])[chosen]["tokens"]
        for row, words in zip(rows.tolist(), tokens, strict=True):
            for place in np.flatnonzero(ids[row] == UNKNOWN).tolist():
                [word] = self._normalization.each([words[place]])
                counts[row, place] = self._outside.get(word, 0)
        return counts

    def tables(self) -> list[Table]:
        """By known and seen words, and by how often training has the word."""
        tallies = dict(zip(("known", "unknown"), self._known.tallies(), strict=True))
        by_count = self._frequency.tallies()
        if self._counts is not None:
            tallies["seen"], tallies["unseen"] = _together(by_count[1:]), by_count[0]
        if self._vectors:
            names = ("unseen_with_vector", "unseen_without_vector")
            tallies |= zip(names, self._static.tallies()[1:], strict=True)
        if not any(tally.total for tally in tallies.values()):
            return []
        rows = [
            (name, MEANINGS[name], tally.accuracy, tally.total) for name, tally in tallies.items()
        ]
        # Where both divide the words alike, one pair says it on the terminal.
        same = (
            self._counts is not None
            and not self._outside
            and bool((self._counts[SPECIAL:] > 0).all())
        )
        alike = same and not self._vectors
        found = [
            Table(
                name="words",
                title="words by what the model and training know of them",
                columns=("words", "meaning", "accuracy", "count"),
                rows=rows,
                shown=2 if alike else None,
                note="the vocabulary has the words of training and no others" if same else "",
                keyed=True,
            )
        ]
        if self._counts is not None:
            ranges = [
                (name, tally.accuracy, tally.total)
                for name, tally in zip(FREQUENCIES.names, by_count, strict=True)
                if tally.total
            ]
            found.append(
                Table(
                    name="by_frequency",
                    title="by how often training has the word",
                    columns=("times_in_training", "accuracy", "count"),
                    rows=ranges,
                )
            )
        return found


def _together(tallies: Sequence[Tally]) -> Tally:
    return Tally(sum(t.correct for t in tallies), sum(t.total for t in tallies))
