"""A linear model of a sequence's n-grams: hard to beat on short texts, and fitted in seconds."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.data.corpus import iterate
from seqtag.datamodule import DataModule
from seqtag.floors.floor import Floor, Tokens, score_each
from seqtag.floors.label_sets import LinearSets, fit_sets
from seqtag.scoring import empty_scores, selection_metric
from seqtag.split import Split
from seqtag.tasks.labels import majority

WORD_SIZES, SYMBOL_SIZES = (1, 2), (1, 4)
"""Fewest and most elements in an n-gram, where they are words and where they are less."""

MOST_NGRAMS = 4_000_000
"""N-grams that are read; of the rows of a larger training split, some are drawn."""

MOST_FEATURES, MOST_WEIGHTS = 200_000, 2_000_000
"""N-grams that get a weight, the most frequent ones; and weights, one for each class of each."""

INVERSE_PENALTIES = (1.0, 10.0, 100.0)
"""``C`` of logistic regression, from smooth to close; dev chooses."""

PENALTIES = (10.0, 1.0, 0.1)
"""``alpha`` of ridge regression, from smooth to close; dev chooses."""

STEPS, MOST_WORK = 100, 2_000_000_000
"""Steps of logistic regression; and products in all of them, which many classes may cut short."""

MANY = 500_000
"""N-grams that take seconds, so that it is said before."""

log = logging.getLogger(__name__)


@dataclass
class Linear:
    """Scores of a row's weighted n-grams.

    Attributes:
        weights: ``[classes or numbers, n-grams]``; of two classes only the second's.
        bias: one for each row of them.
        classes: label ids; None for numbers.
        labels: how many there are, those that no training row drawn has among them.
    """

    weights: NDArray[Any]
    bias: NDArray[Any]
    classes: NDArray[np.int64] | None
    labels: int

    def predict(self, features: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Of ``[batch, n-grams]``: label ids ``[batch]``, or numbers ``[batch, width]``.

        Of labels also the probabilities, ``[batch, labels]``.
        """
        from scipy.special import softmax

        scores: NDArray[Any] = features @ self.weights.T + self.bias
        if self.classes is None:
            return scores, None
        if scores.shape[1] == 1:
            # Of two classes the score is the second's; of a single one there is nothing to say.
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)[:, : len(self.classes)]
        chances = np.zeros((len(scores), self.labels))
        chances[:, self.classes] = softmax(scores, axis=1)
        return self.classes[scores.argmax(axis=1)], chances


class NgramFloor(Floor):
    """TF-IDF of n-grams, and on them logistic regression for labels, ridge regression for numbers.

    Where a row has several labels, each has a regression of its own.

    The n-grams are of the elements as the model has them: single words and pairs where the input
    tokenizer makes words, and one to four elements where it makes less. Counts, weights and models
    are scikit-learn's (``CountVectorizer``, ``TfidfTransformer``, ``LogisticRegression``,
    ``Ridge``) at their defaults but for the penalty, which is that of three that scores best on
    dev, by the metric that also chooses the best epoch of a training.

    Args:
        counter: a fitted ``CountVectorizer``.
        weighting: a fitted ``TfidfTransformer``.
        model: what is made of them.
    """

    name = "floor_ngrams"
    heading = "n-grams"
    meaning = "a linear model of n-grams, weighted by TF-IDF, fitted to the training split"

    def __init__(self, counter: Any, weighting: Any, model: Linear | LinearSets) -> None:
        self._counter, self._weighting, self.model = counter, weighting, model

    @classmethod
    def fit(cls, data: DataModule) -> NgramFloor:
        """The best on dev of several that are fitted to the training split."""
        # Takes a second to import, and is in no other use.
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

        train, spec = data.splits["train"], data.target
        sizes = WORD_SIZES if data.input_tokenizer.words else SYMBOL_SIZES
        rows = _drawn(train, sizes[1])
        table = train.rows.select_columns(["tokens"]).select(rows)
        tokens = [row["tokens"] for row in iterate(table)]
        encoded = [train.encoded[row] for row in rows]
        target = np.concatenate([row["target"] for row in encoded])
        present = np.concatenate([row["present"] for row in encoded]).astype(bool)
        counter = CountVectorizer(
            analyzer="word",
            tokenizer=list,
            preprocessor=list,  # rows are split already
            token_pattern=None,
            lowercase=False,
            ngram_range=sizes,
            max_features=min(MOST_FEATURES, max(1, MOST_WEIGHTS // max(1, spec.classes))),
        )
        weighting = TfidfTransformer()
        features = weighting.fit_transform(counter.fit_transform(tokens))
        models: Sequence[Linear | LinearSets]
        if spec.multi:
            models = fit_sets(
                features,
                encoded,
                labels=len(spec.labels),
                inverse_penalties=INVERSE_PENALTIES,
                steps=_steps(features, len(spec.labels)),
            )
        elif spec.width:
            models = _ridge(features, target, present, spec.mean)
        else:
            models = _logistic(features[present], target[present], spec)
        return _best(data, [cls(counter, weighting, model) for model in models])

    def predict(self, target: Target, tokens: Tokens) -> Prediction:
        """See the base class."""
        features = self._weighting.transform(self._counter.transform(tokens))
        said, chances = self.model.predict(features)
        return Prediction(
            torch.from_numpy(np.asarray(said)).to(target.value.dtype),
            None if chances is None else torch.from_numpy(np.asarray(chances)),
        )


def _best(data: DataModule, floors: list[NgramFloor]) -> NgramFloor:
    if len(floors) == 1:
        return floors[0]
    metric = selection_metric(data, "dev")
    sign = 1 if empty_scores(data, "dev").metrics[metric].higher_is_better else -1
    scores = [sign * each.compute()[metric] for each in score_each(data, "dev", floors)]
    # The smoothest of equals; one whose score is not defined (NaN) only where none is.
    defined = [score if score == score else -np.inf for score in scores]
    return floors[defined.index(max(defined))]


def _drawn(train: Split, sizes: int) -> NDArray[np.int64]:
    """All rows, or so many, drawn at random, as have few enough n-grams."""
    ngrams = train.encoded.lengths() * sizes
    order = np.random.default_rng(0).permutation(len(ngrams))
    kept = max(1, int(np.searchsorted(np.cumsum(ngrams[order]), MOST_NGRAMS, side="right")))
    if kept < len(order):
        log.info("floor of n-grams: fitted to %s of %s rows", f"{kept:,}", f"{len(order):,}")
    elif ngrams.sum() > MANY:
        log.info("floor of n-grams: fitting to %s n-grams", f"{ngrams.sum():,}")
    return np.sort(order[:kept])


def _steps(features: Any, scores: int) -> int:
    """Steps of a regression that gives so many scores of each row."""
    work = 2 * int(features.nnz) * scores
    return max(10, min(STEPS, MOST_WORK // max(1, work)))


def _logistic(features: Any, labels: NDArray[Any], spec: TargetSpec) -> list[Linear]:
    """Logistic regression by each penalty; one answer where there is one label, or none."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    classes = np.unique(labels).astype(np.int64)
    if len(classes) < 2:
        only = classes if len(classes) else np.array([majority(spec)])
        weights = np.zeros((1, features.shape[1]))
        return [Linear(weights, np.zeros(1), only, len(spec.labels))]
    steps = _steps(features, len(classes) if len(classes) > 2 else 1)
    model = LogisticRegression(max_iter=steps, warm_start=True)
    models = []
    for strength in INVERSE_PENALTIES:
        with warnings.catch_warnings():
            # A floor may stop short of its best; it is scored as it is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=strength).fit(features, labels)
        weights, bias = model.coef_.copy(), model.intercept_.copy()
        models.append(Linear(weights, bias, classes, len(spec.labels)))
    return models


def _ridge(
    features: Any, targets: NDArray[Any], present: NDArray[np.bool_], means: tuple[float, ...]
) -> list[Linear]:
    """Ridge regression of each number on the rows that have it; its mean where too few do."""
    from sklearn.linear_model import Ridge

    models = []
    for penalty in PENALTIES:
        weights, bias = np.zeros((len(means), features.shape[1])), np.array(means)
        for column, there in enumerate(present.T):
            if there.sum() > 1:
                model = Ridge(alpha=penalty).fit(
                    features[there], targets[there, column].astype(np.float64)
                )
                weights[column], bias[column] = model.coef_, model.intercept_
        models.append(Linear(weights, bias, None, 0))
    return models
