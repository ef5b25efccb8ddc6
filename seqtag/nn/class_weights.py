"""How much each label counts in a loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from seqtag.batch import TargetSpec

BALANCED = "balanced"
KEY = "head.class_weights"
SINGLE = torch.finfo(torch.float32)

ClassWeights = str | Mapping[str, float] | None
"""``balanced``, a weight by label, or None for equal weights."""


def label_weights(given: Any, target: TargetSpec) -> Tensor | None:
    """The weight of each label ``[labels]``, or None where all count alike.

    Balanced weights are N / (K * count), for N labels of K kinds in training, as in scikit-learn:
    each kind then counts as much as every other. Labels that a mapping does not name have the
    weight 1.

    Args:
        given: see ``ClassWeights``.
        target: what training taught about the labels.

    Raises:
        ValueError: it is none of these, names a label that training lacks, or gives one a weight
            that is no positive number.
    """
    if given is None:
        return None
    if given == BALANCED:
        each = [sum(target.counts) / (len(target.counts) * count) for count in target.counts]
        return torch.tensor(each, dtype=torch.float32)
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{KEY} is {given!r}; it must be null, {BALANCED}, or a weight by label, {{LABEL: 2.0}}"
        )
    weights = torch.ones(len(target.labels))
    places = {label: place for place, label in enumerate(target.labels)}
    for key, weight in given.items():
        # A label of digits is a number in yaml; true and false are no such thing.
        label = str(key) if type(key) in (int, float) else key
        if label not in places:
            raise ValueError(
                f"{KEY} names {label!r}, which is no label of the training data: "
                f"{', '.join(target.labels):.200}"
            )
        # What is too large or too small for 32 bits would be none in the loss.
        if type(weight) not in (int, float) or not SINGLE.tiny <= weight <= SINGLE.max:
            raise ValueError(
                f"{KEY} gives {label!r} the weight {weight!r}; it must be a number greater than 0"
            )
        weights[places[label]] = weight
    return weights
