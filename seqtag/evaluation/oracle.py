"""How good the best of several answers would be, were it known which that is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from seqtag.batch import Target
from seqtag.evaluation.sequences import pairs


class Oracle:
    """Exact match and symbol error rate of the best of the first n candidates, for each n.

    The best is the one with the fewest edits to the nearest accepted target, the first of them
    where several have as few.
    """

    def __init__(self) -> None:
        self._sums: NDArray[np.float64] = np.zeros((0, 3))
        self._rows = 0

    def update(self, candidates: Tensor, target: Target) -> None:
        """Count a batch.

        Args:
            candidates: ids ``[batch, n_best, target]``, the best by the model first.
            target: gold.
        """
        best: list[tuple[int, int] | None] = [None] * len(candidates)
        if candidates.shape[1] > len(self._sums):
            wider = np.zeros((candidates.shape[1], 3))
            wider[: len(self._sums)] = self._sums
            if len(self._sums):
                wider[len(self._sums) :] = self._sums[-1]
            self._sums = wider
        for number in range(len(self._sums)):
            if number < candidates.shape[1]:
                for row, pair in enumerate(pairs(candidates[:, number], target)):
                    if pair is not None:
                        predicted, gold = pair
                        edits = (Levenshtein.distance(predicted, gold), len(gold))
                        held = best[row]
                        if held is None or edits[0] < held[0]:
                            best[row] = edits
            scored = [edits for edits in best if edits is not None]
            self._sums[number] += (
                sum(not edits for edits, _ in scored),
                sum(edits for edits, _ in scored),
                sum(symbols for _, symbols in scored),
            )
        self._rows += sum(edits is not None for edits in best)

    def scores(self) -> list[tuple[int, float, float]]:
        """Of each n, n itself, exact match and symbol error rate; NaN where nothing was counted."""
        return [
            (
                number,
                right / self._rows if self._rows else float("nan"),
                edits / symbols if symbols else float("nan"),
            )
            for number, (right, edits, symbols) in enumerate(self._sums.tolist(), 1)
        ]
