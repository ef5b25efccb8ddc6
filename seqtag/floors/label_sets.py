"""Linear models of several labels per row, each label by itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.evaluation.label_sets import as_sets, as_switches

THRESHOLDS = (0.5, 0.3, 0.15)
"""Probabilities above which a label is given; dev chooses, as it does for a trained model."""

CERTAIN = 100.0
"""The score, with its sign, of a label that every training row has, or none."""


@dataclass
class LinearSets:
    """Scores of a row's weighted n-grams, one for each label.

    Attributes:
        weights: ``[labels, n-grams]``.
        bias: ``[labels]``.
        threshold: probability above which a label is given.
    """

    weights: NDArray[Any]
    bias: NDArray[Any]
    threshold: float

    def predict(self, features: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Of ``[batch, n-grams]``: the set of each row, ``[batch, target]``.

        And the probability of each label, ``[batch, labels]``.
        """
        from scipy.special import expit

        scores = features @ self.weights.T + self.bias
        given = scores > np.log(self.threshold / (1 - self.threshold))
        return as_sets(torch.from_numpy(given)).numpy(), expit(scores)


def fit_sets(
    features: Any,
    encoded: Sequence[Mapping[str, NDArray[Any]]],
    *,
    labels: int,
    inverse_penalties: Sequence[float],
    steps: int,
) -> list[LinearSets]:
    """Logistic regression of each label by each penalty, with each threshold.

    Args:
        features: weighted n-grams of the training rows.
        encoded: these rows, with ``target`` and ``present``.
        labels: how many there are.
        inverse_penalties: ``C`` of the regression.
        steps: of each regression, at most.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    there = np.array([bool(row["present"].any()) for row in encoded])
    has = np.zeros((len(encoded), labels), dtype=bool)
    for number, row in enumerate(encoded):
        ids = torch.from_numpy(row["target"].astype(np.int64)).unsqueeze(0)
        has[number] = as_switches(ids, labels).numpy()[0]
    features, has = features[there], has[there]
    models = []
    for strength in inverse_penalties:
        weights, bias = np.zeros((labels, features.shape[1])), np.zeros(labels)
        for label, rows in enumerate(has.T):
            if rows.all() or not rows.any():
                bias[label] = CERTAIN if rows.any() else -CERTAIN
                continue
            with warnings.catch_warnings():
                # A floor may stop short of its best; it is scored as it is.
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = LogisticRegression(C=strength, max_iter=steps).fit(features, rows)
            weights[label], bias[label] = model.coef_[0], model.intercept_[0]
        models += [LinearSets(weights, bias, threshold) for threshold in THRESHOLDS]
    return models
