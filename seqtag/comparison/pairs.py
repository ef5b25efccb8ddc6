"""Tests of every two contenders on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from seqtag.comparison.comparison import Contender, Pair
from seqtag.comparison.entrants import Entrant
from seqtag.comparison.row_tests import draw
from seqtag.comparison.words import Evidence, verdict
from seqtag.evaluation.resampling import Sample, interval
from seqtag.evaluation.significance import (
    BOOTSTRAP,
    RANDOMISATION,
    bootstrap_test,
    constant_test,
    holm,
    seeds_test,
)


def compare_pairs(
    contenders: Sequence[Contender],
    entrants: Mapping[str, Entrant],
    samples: Mapping[str, Sample],
    draws: Mapping[str, NDArray[np.float64]],
    metric: str,
    *,
    higher_is_better: bool,
) -> tuple[list[Pair], list[str]]:
    """Every two contenders but two floors, in their order, and what must be said of the tests.

    Args:
        contenders: the best first.
        entrants: by name.
        samples: their rows under the metric.
        draws: their scores on resampled rows.
        metric: that is tested.
        higher_is_better: of it.
    """
    ordered = {contender.name: contender for contender in contenders}
    pairs = [
        pair
        for pair in combinations(ordered, 2)
        if any(ordered[name].floor is None for name in pair)
    ]
    if not pairs:
        return [], []
    randomised, further, notes = draw(pairs, entrants, samples, draws, metric)
    made: list[Pair] = []
    for first, second in pairs:
        difference = _ahead(ordered[first], ordered[second], metric, higher_is_better)
        found = draws if (first, second) in randomised else further
        ahead = found[first] - found[second] if higher_is_better else found[second] - found[first]
        low, high = interval(ahead)
        if difference != difference:
            low = high = float("nan")
        if (first, second) in randomised:
            p, test = randomised[first, second], RANDOMISATION
        else:
            p, test = bootstrap_test(difference, ahead), BOOTSTRAP
        made.append(
            Pair(
                first=first,
                second=second,
                difference=difference,
                low=low,
                high=high,
                p=p,
                corrected=float("nan"),
                p_seeds=_over_seeds(ordered[first], ordered[second], metric),
                test=test,
                words="",
            )
        )
    _correct(made)
    for pair in made:
        pair.words = verdict(pair.second, _evidence(pair, ordered), ahead=True)
    return made, notes


def say_of_each(contenders: Sequence[Contender], pairs: Sequence[Pair]) -> None:
    """Fill in the words of every contender, those on the closest other first."""
    ordered = {contender.name: contender for contender in contenders}
    said: dict[str, list[tuple[float, str]]] = {name: [] for name in ordered}
    for pair in pairs:
        distance = pair.difference if pair.difference == pair.difference else float("inf")
        said[pair.first].append((distance, pair.words))
        behind = verdict(pair.first, _evidence(pair, ordered), ahead=False)
        said[pair.second].append((distance, behind))
    for name, contender in ordered.items():
        contender.words = [words for _, words in sorted(said[name], key=lambda one: one[0])]


def _correct(pairs: Sequence[Pair]) -> None:
    """Correct p for the number of pairs that have one, over the rows and over the seeds."""
    nothing = float("nan")
    seeds = holm([nothing if pair.p_seeds is None else pair.p_seeds for pair in pairs])
    for pair, corrected, of_seeds in zip(pairs, holm([p.p for p in pairs]), seeds, strict=True):
        pair.corrected = corrected
        pair.p_seeds = None if pair.p_seeds is None else of_seeds


def _evidence(pair: Pair, contenders: Mapping[str, Contender]) -> Evidence:
    trained = [
        contenders[name] for name in (pair.first, pair.second) if contenders[name].floor is None
    ]
    return Evidence(
        corrected=pair.corrected,
        p_seeds=pair.p_seeds,
        one_seed=any(len(contender.seeds) == 1 for contender in trained),
    )


def _ahead(first: Contender, second: Contender, metric: str, higher_is_better: bool) -> float:
    """By how much the first is better."""
    gain = first.scores[metric].mean - second.scores[metric].mean
    return gain if higher_is_better else 0.0 - gain


def _over_seeds(first: Contender, second: Contender, metric: str) -> float | None:
    """The p over the seeds of two by themselves."""
    one, other = first.scores[metric], second.scores[metric]
    if first.floor is None and second.floor is None:
        return seeds_test(one.seeds, other.seeds)
    if first.floor is None:
        return constant_test(one.seeds, other.mean)
    return constant_test(other.seeds, one.mean)
