"""Measures the tests and intervals of a comparison on simulated models, whose truth is known.

    python scripts/measure_tests.py [PAIRS]

Two models that answer every row by the same distribution are alike: the share of such pairs with
p < 0.05 is that of false alarms, which should be 5 per cent, and 95 per cent of the intervals
should hold the true value. Then one of the two is made worse, and the share is the power. With
2,000 pairs a share of 5 per cent is known to within 1 (two standard errors).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from seqtag.batch import TargetSpec
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.randomisation import randomise
from seqtag.evaluation.resampling import SummedRows, bootstrap, interval, score_sums
from seqtag.evaluation.sequences import ExactMatch
from seqtag.evaluation.significance import LEVEL, bootstrap_test
from seqtag.evaluation.spans import SpanF1Strict

PAIRS = 2000
AT_ONCE = 40
"""Pairs that share the draws of their tests."""
RESAMPLES = 1000
SHUFFLES = 2 * RESAMPLES
TRUTH_ROWS = 2_000_000
LABELS = 6

Statistics = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int, Sequence[float]], Statistics]
"""Statistics ``[models, seeds, rows, size]``; of each model, what share of its right answers is
made wrong is given."""


def token_accuracy(
    rng: np.random.Generator, rows: int, seeds: int, damage: Sequence[float]
) -> Statistics:
    """Sentences of 3 to 40 tokens, of which some are easy throughout and some hard."""
    length = rng.integers(3, 41, size=rows)
    ease = rng.beta(6, 1.5, size=rows)
    right = [rng.binomial(length, ease * (1 - lost), (seeds, rows)) for lost in damage]
    return np.stack([np.stack(right), np.broadcast_to(length, np.shape(right))], axis=-1).astype(
        float
    )


def span_f1(rng: np.random.Generator, rows: int, seeds: int, damage: Sequence[float]) -> Statistics:
    """Sentences with none to several spans, of which some are missed and some made up."""
    gold = rng.poisson(1.5, size=rows)
    ease = rng.beta(5, 1.5, size=rows)
    shape = (len(damage), seeds, rows)
    right = np.stack([rng.binomial(gold, ease * (1 - lost), (seeds, rows)) for lost in damage])
    predicted = right + rng.poisson(0.6 * (1 - ease), shape)
    return np.stack([right, predicted, np.broadcast_to(gold, shape)], axis=-1).astype(float)


def exact_match(
    rng: np.random.Generator, rows: int, seeds: int, damage: Sequence[float]
) -> Statistics:
    """Words that are right or wrong, most of them by all models alike."""
    ease = rng.beta(1.5, 0.8, size=rows)
    right = np.stack([rng.random((seeds, rows)) < ease * (1 - lost) for lost in damage])
    return np.stack([right, np.ones_like(right)], axis=-1).astype(float)


def macro_f1(
    rng: np.random.Generator, rows: int, seeds: int, damage: Sequence[float]
) -> Statistics:
    """Sequences with one of six labels, the rarest of which one in 25 has."""
    shares = np.array([0.35, 0.25, 0.16, 0.12, 0.08, 0.04])
    gold = rng.choice(LABELS, size=rows, p=shares)
    ease = rng.beta(4, 1, size=rows)
    found = []
    for lost in damage:
        right = rng.random((seeds, rows)) < ease * (1 - lost)
        other = rng.choice(LABELS, size=(seeds, rows), p=shares)
        answer = np.where(right, gold, other)
        one_hot = np.eye(LABELS)[answer]
        truth = np.broadcast_to(np.eye(LABELS)[gold], one_hot.shape)
        found.append(np.concatenate([one_hot * truth, one_hot, truth], axis=-1))
    return np.stack(found)


_NAMES = tuple("ABCDEF"[:LABELS])
KINDS: dict[str, tuple[Draw, Metric, float]] = {
    "token accuracy": (token_accuracy, Accuracy(TargetSpec(labels=_NAMES)), 0.02),
    "span F1": (span_f1, SpanF1Strict(TargetSpec(labels=("O", "B-X", "I-X"), scheme="IOB2")), 0.05),
    "macro F1": (macro_f1, MacroF1(TargetSpec(labels=_NAMES)), 0.08),
    "exact match": (exact_match, ExactMatch(TargetSpec(labels=_NAMES, sequence=True)), 0.08),
}
"""How to draw, the metric, and which share of right answers the worse of two models loses."""

CASES = [
    ("token accuracy", 300, 1, 1),
    ("token accuracy", 300, 3, 1),
    ("span F1", 300, 1, 1),
    ("span F1", 300, 3, 1),
    ("macro F1", 500, 1, 1),
    ("macro F1", 500, 3, 1),
    ("exact match", 100, 1, 1),
    ("exact match", 100, 3, 1),
    ("exact match", 1000, 1, 1),
    ("exact match", 1000, 3, 1),
    ("exact match", 500, 3, 5),
]
"""Kind, rows, seeds, folds."""


@dataclass(kw_only=True)
class Measured:
    """Shares of the pairs of a case.

    Attributes:
        false_alarms: of models that are alike, p < 0.05 by randomisation.
        bootstrap_alarms: the same by the paired bootstrap.
        coverage: intervals of a score that hold the true one.
        difference_coverage: intervals of a difference that hold the true one, 0.
        loss: the true difference of the models that are not alike.
        power: of these, p < 0.05 by randomisation.
        bootstrap_power: by the paired bootstrap.
    """

    false_alarms: float
    bootstrap_alarms: float
    coverage: float
    difference_coverage: float
    loss: float
    power: float
    bootstrap_power: float


def measure(kind: str, rows: int, seeds: int, folds: int, pairs: int) -> Measured:
    """Simulate a case."""
    draw, metric, damage = KINDS[kind]
    rng = np.random.default_rng([rows, seeds, folds, len(kind)])
    truth = [_truth(draw, metric, lost) for lost in (0.0, damage)]
    alike = _simulate(draw, metric, rng, rows, seeds, folds, [0.0, 0.0], pairs, truth[0])
    few = max(1, pairs // 4)  # a power need not be known as well
    unlike = _simulate(draw, metric, rng, rows, seeds, folds, [0.0, damage], few, truth[0])
    return Measured(
        false_alarms=float(np.mean(alike[0])),
        bootstrap_alarms=float(np.mean(alike[1])),
        coverage=float(np.mean(alike[2])),
        difference_coverage=float(np.mean(alike[3])),
        loss=truth[0] - truth[1],
        power=float(np.mean(unlike[0])),
        bootstrap_power=float(np.mean(unlike[1])),
    )


def _truth(draw: Draw, metric: Metric, lost: float) -> float:
    """The score on rows without end, or nearly so."""
    rng = np.random.default_rng(0)
    total = sum(draw(rng, TRUTH_ROWS // 20, 1, [lost])[0, 0].sum(axis=0) for _ in range(20))
    return float(score_sums(metric, np.asarray(total)[None])[0])


def _simulate(
    draw: Draw,
    metric: Metric,
    rng: np.random.Generator,
    rows: int,
    seeds: int,
    folds: int,
    damage: Sequence[float],
    pairs: int,
    truth: float,
) -> tuple[list[bool], list[bool], list[bool], list[bool]]:
    """Of each pair: told apart, told apart by the bootstrap, and what the two intervals hold."""
    told, told_too, held, held_difference = [], [], [], []
    for begin in range(0, pairs, AT_ONCE):
        count = min(AT_ONCE, pairs - begin)
        samples = {}
        for pair in range(count):
            parts = [draw(rng, rows // folds, seeds, damage) for _ in range(folds)]
            for side in (0, 1):
                samples[f"{pair}/{side}"] = [
                    [SummedRows(metric=metric, statistics=part[side, seed]) for part in parts]
                    for seed in range(seeds)
                ]
        both = [(f"{pair}/0", f"{pair}/1") for pair in range(count)]
        found = randomise(samples, both, shuffles=SHUFFLES, seed=begin)
        told += [p < LEVEL for p in found.values()]
        drawn = bootstrap(list(samples.values()), resamples=RESAMPLES, seed=begin)
        scores = [
            np.mean([[rows.score() for rows in seed] for seed in sample])
            for sample in samples.values()
        ]
        for pair in range(count):
            one, other = drawn[2 * pair], drawn[2 * pair + 1]
            ahead = float(scores[2 * pair] - scores[2 * pair + 1])
            told_too.append(bootstrap_test(ahead, one - other) < LEVEL)
            low, high = interval(one)
            held.append(low <= truth <= high)
            low, high = interval(one - other)
            held_difference.append(low <= 0 <= high)
    return told, told_too, held, held_difference


def main() -> None:
    """Simulate every case and print the table."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    table = Table(title=f"{pairs:,} simulated pairs each, in per cent")
    for heading in (
        "score",
        "rows",
        "seeds",
        "folds",
        "false alarms",
        "by bootstrap",
        "interval holds",
        "of difference",
        "true loss",
        "power",
        "by bootstrap",
    ):
        table.add_column(heading, justify="left" if heading == "score" else "right")
    for kind, rows, seeds, folds in CASES:
        found = measure(kind, rows, seeds, folds, pairs)
        shares = [
            found.false_alarms,
            found.bootstrap_alarms,
            found.coverage,
            found.difference_coverage,
            found.loss,
            found.power,
            found.bootstrap_power,
        ]
        spelled = [f"{100 * share:.1f}" for share in shares]
        table.add_row(kind, str(rows), str(seeds), str(folds), *spelled)
        print(kind, rows, seeds, folds, *spelled, file=sys.stderr, flush=True)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
