"""Scores of sequences that have their own length, such as a pronunciation or a translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import ClassVar

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.evaluation.errors import most_frequent
from seqtag.evaluation.metrics import ArithmeticMetric


def until_end(ids: list[int]) -> list[int]:
    """Ids up to the first ``END``, which is not among them."""
    return ids[: ids.index(END)] if END in ids else ids


def pairs(value: Tensor, target: Target) -> Iterator[tuple[list[int], list[int]] | None]:
    """Yield the predicted and the gold symbols of each row; None where gold is missing.

    Of several accepted targets gold is the one that is nearest to what is predicted.

    Args:
        value: predicted ids ``[batch, target]``, whose length need not be that of gold.
        target: gold ids with ``END`` behind.
    """
    for row in references(value, target):
        if row is None:
            yield None
            continue
        found, accepted = row
        yield found, min(accepted, key=partial(Levenshtein.distance, found))


def references(value: Tensor, target: Target) -> Iterator[tuple[list[int], list[list[int]]] | None]:
    """Yield the predicted symbols of each row and all accepted ones; None where gold is missing."""
    rows = zip(value.tolist(), target.value.tolist(), target.present.any(dim=1), strict=True)
    others = repeat([]) if target.references is None else map(_accepted, target.references.tolist())
    for (predicted, gold, present), accepted in zip(rows, others, strict=False):
        yield (until_end(predicted), accepted or [until_end(gold)]) if present else None


def _accepted(ids: list[int]) -> list[list[int]]:
    """Target sequences that stand one behind the other, each with its ``END``; then padding."""
    accepted: list[list[int]] = []
    begin = 0
    for place, symbol in enumerate(ids):
        if symbol == END:
            if place > begin:
                accepted.append(ids[begin:place])
            begin = place + 1
    return accepted


class Edits:
    """Which symbols are taken for which, by an alignment with the fewest edits.

    Args:
        names: of the symbols, known and unseen, in the order of their ids.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._counts: Counter[tuple[str | None, str | None]] = Counter()

    def update(self, value: Tensor, target: Target) -> None:
        """Count the edits of a batch."""
        for pair in pairs(value, target):
            if pair is None:
                continue
            predicted, gold = ([self._names[symbol - 1] for symbol in ids] for ids in pair)
            for edit in Levenshtein.editops(gold, predicted):
                old = gold[edit.src_pos] if edit.tag != "insert" else None
                new = predicted[edit.dest_pos] if edit.tag != "delete" else None
                self._counts[old, new] += 1

    def counts(self) -> dict[tuple[str | None, str | None], int]:
        """How often, by gold and predicted symbol (None: nothing)."""
        return dict(self._counts)

    def most_frequent(self, limit: int) -> list[tuple[str | None, str | None, int]]:
        """Gold symbol, predicted symbol (None: nothing), and how often; the most frequent first."""
        return most_frequent(self._counts, limit)


class ExactMatch(ArithmeticMetric):
    """Share of the sequences that are right from their first symbol to their end.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True
    counts_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sequences."""
        return spec.sequence

    @property
    def size(self) -> int:
        """Right, and present."""
        return 2

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Whether each row is right and present, ``[batch, 2]``."""
        return _count(prediction.value, target, lambda predicted, gold: (int(predicted == gold), 1))

    def scores(self, totals: Tensor) -> Tensor:
        """Right over present; NaN where nothing is present."""
        return totals[:, 0] / totals[:, 1]


class WordErrorRate(ExactMatch):
    """Share of the sequences that are not right: 1 - ``ExactMatch``.

    The measure of the SIGMORPHON shared tasks, where each sequence is that of one word. It is not
    the one of speech recognition, which counts edits: see ``SymbolErrorRate``.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False

    def scores(self, totals: Tensor) -> Tensor:
        """Wrong over present; NaN where nothing is present."""
        return 1 - super().scores(totals)


class SymbolErrorRate(ArithmeticMetric):
    """Edits that turn the predictions into gold, over the number of gold symbols.

    Edits are insertions, deletions and substitutions (Levenshtein 1966), so the rate may exceed 1.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False
    counts_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sequences."""
        return spec.sequence

    @property
    def size(self) -> int:
        """Edits, and gold symbols."""
        return 2

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Edits and gold symbols of each row, ``[batch, 2]``."""
        return _count(
            prediction.value,
            target,
            lambda predicted, gold: (Levenshtein.distance(predicted, gold), len(gold)),
        )

    def scores(self, totals: Tensor) -> Tensor:
        """Edits over gold symbols; NaN where there is no gold symbol."""
        return (totals[:, 0] / totals[:, 1]).where(totals[:, 1] > 0, torch.nan)


def _count(
    value: Tensor, target: Target, count: Callable[[list[int], list[int]], tuple[int, int]]
) -> Tensor:
    """Two counts of each row, of its predicted and gold symbols, ``[batch, 2]``; 0 without gold."""
    counts = [(0, 0) if pair is None else count(*pair) for pair in pairs(value, target)]
    return torch.tensor(counts, dtype=torch.float64).reshape(-1, 2)
