"""The probability from which on a label is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_threshold(
    probabilities: NDArray[np.float32], gold: NDArray[np.bool_], *, missed: int, default: float
) -> float:
    """The threshold whose labels have the best micro F1, by trying every one that differs.

    A label is given where its probability is greater than the threshold. That lies in the middle
    between two probabilities, so that a rounding elsewhere changes no label; of equally good ones
    it is the one nearest to ``default``.

    Args:
        probabilities: of each label of each row, in any order, ``[n]``.
        gold: which of them are right, ``[n]``.
        missed: further gold labels, which have no probability.
        default: the answer where no threshold finds anything.
    """
    order = np.argsort(-probabilities, kind="stable")
    chances = probabilities[order]
    # After each place the ones before it are given, if the next one differs; none of them is 0,
    # since no threshold is less than that.
    following = np.append(chances[1:], np.float32(0))
    places = np.flatnonzero(chances > following)
    found = np.cumsum(gold[order])[places]
    if not found.any():
        return default
    scores = 2 * found / (places + 1 + gold.sum() + missed)
    best = places[scores == scores.max()]
    middles = ((chances[best].astype(np.float64) + following[best]) / 2).astype(np.float32)
    # Between neighbours in 32 bits there is no middle, and it may be rounded to the upper one.
    thresholds = np.where(middles < chances[best], middles, following[best])
    return float(thresholds[np.argmin(np.abs(thresholds - default))])
