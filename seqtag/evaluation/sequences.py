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

from seqtag.batch import END, Target, TargetSpec
from seqtag.evaluation.errors import most_frequent
from seqtag.evaluation.metrics import Metric


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
    rows = zip(value.tolist(), target.value.tolist(), target.present.any(dim=1), strict=True)
    others = repeat([]) if target.references is None else map(_accepted, target.references.tolist())
    for (predicted, gold, present), accepted in zip(rows, others, strict=False):
        found = until_end(predicted)
        nearest = min(accepted or [until_end(gold)], key=partial(Levenshtein.distance, found))
        yield (found, nearest) if present else None


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

    def most_frequent(self, limit: int) -> list[tuple[str | None, str | None, int]]:
        """Gold symbol, predicted symbol (None: nothing), and how often; the most frequent first."""
        return most_frequent(self._counts, limit)


class ExactMatch(Metric):
    """Share of the sequences that are right from their first symbol to their end.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sequences."""
        return spec.sequence

    @property
    def size(self) -> int:
        """Right, and present."""
        return 2

    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """Whether each row is right and present, ``[batch, 2]``."""
        return _count(value, target, lambda predicted, gold: (int(predicted == gold), 1))

    def score(self, total: Tensor) -> float:
        """Right over present; NaN where nothing is present."""
        return _share(total)


class WordErrorRate(ExactMatch):
    """Share of the sequences that are not right: 1 - ``ExactMatch``.

    The measure of the SIGMORPHON shared tasks, where each sequence is that of one word. It is not
    the one of speech recognition, which counts edits: see ``SymbolErrorRate``.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False

    def score(self, total: Tensor) -> float:
        """Wrong over present; NaN where nothing is present."""
        return 1 - super().score(total)


class SymbolErrorRate(Metric):
    """Edits that turn the predictions into gold, over the number of gold symbols.

    Edits are insertions, deletions and substitutions (Levenshtein 1966), so the rate may exceed 1.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = False

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sequences."""
        return spec.sequence

    @property
    def size(self) -> int:
        """Edits, and gold symbols."""
        return 2

    def row_statistics(self, value: Tensor, target: Target) -> Tensor:
        """Edits and gold symbols of each row, ``[batch, 2]``."""
        return _count(
            value,
            target,
            lambda predicted, gold: (Levenshtein.distance(predicted, gold), len(gold)),
        )

    def score(self, total: Tensor) -> float:
        """Edits over gold symbols; NaN where there is no gold symbol."""
        return _share(total)


def _count(
    value: Tensor, target: Target, count: Callable[[list[int], list[int]], tuple[int, int]]
) -> Tensor:
    """Two counts of each row, of its predicted and gold symbols, ``[batch, 2]``; 0 without gold."""
    counts = [(0, 0) if pair is None else count(*pair) for pair in pairs(value, target)]
    return torch.tensor(counts, dtype=torch.float64).reshape(-1, 2)


def _share(total: Tensor) -> float:
    """The first of two sums over the second; NaN where that is 0."""
    part, whole = total.tolist()
    return part / whole if whole else float("nan")
