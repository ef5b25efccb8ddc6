"""The temperature that makes probabilities of labels as sure as they should be."""

from __future__ import annotations

import math

from torch import Tensor

LOWEST, HIGHEST = 0.1, 10.0
"""Bounds of a fitted temperature. On labels that are all right the best one would be 0, and its
model would be certain of everything."""

_HALVINGS = 40


def best_temperature(logits: Tensor, gold: Tensor) -> float:
    """The temperature with the least mean negative log likelihood (Guo et al. 2017).

    As a function of the inverse temperature the likelihood has one optimum: the slope is sought
    where it is 0, by halving, so that the answer does not depend on where a search begins.

    Args:
        logits: ``[n, labels]`` in float64, of temperature 1.
        gold: ids of the right labels, ``[n]``, all below ``labels``.

    Returns:
        Between ``LOWEST`` and ``HIGHEST``; 1 where the labels say nothing of it.
    """
    wanted = logits.gather(1, gold.unsqueeze(1)).squeeze(1)

    def slope(log_temperature: float) -> float:
        """Of the likelihood by the inverse temperature, in logits."""
        expected = ((logits / math.exp(log_temperature)).softmax(dim=1) * logits).sum(dim=1)
        return float((expected - wanted).sum())

    low, high = math.log(LOWEST), math.log(HIGHEST)
    if slope(low) == 0 == slope(high):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # Less likely as it gets colder: the optimum is at a higher temperature.
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return math.exp((low + high) / 2)
