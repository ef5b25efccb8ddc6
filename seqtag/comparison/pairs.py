"""Tests of every two contenders on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from seqtag.comparison.comparison import Contender, Pair
from seqtag.comparison.entrants import Entrant
from seqtag.comparison.words import Evidence, verdict
from seqtag.evaluation.resampling import Sample, SummedRows, interval
from seqtag.evaluation.significance import (
    BOOTSTRAP,
    LEVEL,
    RANDOMISATION,
    bootstrap_test,
    constant_test,
    holm,
    pool_folds,
    randomise,
    seeds_test,
)

SHUFFLES = 5
"""Of the randomisation, for each resample of the bootstrap."""

FINEST = 4
"""How far below the level the smallest p can be that many pairs leave after correction."""


def compare_pairs(
    contenders: Sequence[Contender],
    entrants: Mapping[str, Entrant],
    samples: Mapping[str, Sample],
    draws: Mapping[str, NDArray[np.float64]],
    metric: str,
    *,
    higher_is_better: bool,
) -> tuple[list[Pair], list[str]]:
    """Every two contenders, in their order, and what must be said of the tests.

    Args:
        contenders: the best first.
        entrants: by name.
        samples: their rows under the metric.
        draws: their scores on resampled rows.
        metric: that is tested.
        higher_is_better: of it.
    """
    ordered = {contender.name: contender for contender in contenders}
    pairs = list(combinations(ordered, 2))
    folds, swappable = _pooled(entrants, samples)
    swapped = [
        pair
        for pair in pairs
        if pair[0] in swappable and swappable[pair[0]] == swappable.get(pair[1])
    ]
    resamples = len(next(iter(draws.values())))
    # The smallest p is one in all shuffles, and correction multiplies it by the number of pairs.
    shuffles = max(SHUFFLES * resamples, int(FINEST / LEVEL * len(pairs)))
    randomised = randomise(folds, swapped, shuffles=shuffles)
    made: list[Pair] = []
    for first, second in pairs:
        difference = _ahead(ordered[first], ordered[second], metric, higher_is_better)
        ahead = draws[first] - draws[second] if higher_is_better else draws[second] - draws[first]
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
    for pair, corrected in zip(made, holm([pair.p for pair in made]), strict=True):
        pair.corrected = corrected
        pair.words = verdict(pair.second, _evidence(pair, ordered), ahead=True)
    notes = []
    if made and randomised and len(randomised) < len(made):
        notes.append(
            f"{len(made) - len(randomised)} of {len(made)} pairs are tested by the {BOOTSTRAP}: "
            "the two learnt from other data, so that what they were scored by cannot be swapped"
        )
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


def _evidence(pair: Pair, contenders: Mapping[str, Contender]) -> Evidence:
    trained = [
        contenders[name] for name in (pair.first, pair.second) if contenders[name].floor is None
    ]
    return Evidence(
        corrected=pair.corrected,
        p_seeds=pair.p_seeds,
        one_seed=any(len(contender.seeds) == 1 for contender in trained),
        seeds=bool(trained),
    )


def _pooled(
    entrants: Mapping[str, Entrant], samples: Mapping[str, Sample]
) -> tuple[dict[str, list[SummedRows]], dict[str, object]]:
    """What can be swapped: the rows of each fold pooled over seeds, and what their columns mean."""
    folds: dict[str, list[SummedRows]] = {}
    columns: dict[str, object] = {}
    for name, sample in samples.items():
        meaning = entrants[name].meaning_of_columns()
        if (pooled := pool_folds(sample, meaning)) is not None:
            folds[name], columns[name] = pooled, meaning
    return folds, columns


def _ahead(first: Contender, second: Contender, metric: str, higher_is_better: bool) -> float:
    """By how much the first is better."""
    gain = first.scores[metric].mean - second.scores[metric].mean
    return gain if higher_is_better else 0.0 - gain


def _over_seeds(first: Contender, second: Contender, metric: str) -> float | None:
    one, other = first.scores[metric], second.scores[metric]
    if first.floor is None and second.floor is None:
        return seeds_test(one.seeds, other.seeds)
    if first.floor is None:
        return constant_test(one.seeds, other.mean)
    return constant_test(other.seeds, one.mean) if second.floor is None else None
