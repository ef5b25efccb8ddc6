"""Draws for the tests over rows: which two can be swapped, and how many draws they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.comparison.entrants import Entrant
from seqtag.evaluation.randomisation import randomise, shuffle_cost
from seqtag.evaluation.resampling import Sample, SummedRows, bootstrap
from seqtag.evaluation.significance import BOOTSTRAP, LEVEL, RANDOMISATION

SHUFFLES = 5
"""Of the randomisation, for each resample of the bootstrap."""

FINEST = 4
"""How far below the level the smallest p can be that many pairs leave after correction."""

MOST_WORK = 5 * 10**11
"""Numbers to sum, about, for the tests of a kind: a minute of one core. More draws are not made."""

Two = tuple[str, str]

LEARNT = {
    "scheme": "learnt other span schemes",
    "labels": "learnt other labels",
    "unseen": "learnt other labels",
    "mean": "learnt from other numbers",
}
"""What is said of two that differ in what their statistics are counts of, by the field of spec."""

RANKED = "are ranked"
"""Why two cannot be swapped where the score is no function of a sum: nothing to remark on."""


def draw(
    pairs: Sequence[Two],
    entrants: Mapping[str, Entrant],
    samples: Mapping[str, Sample],
    draws: Mapping[str, NDArray[np.float64]],
    metric: str,
) -> tuple[dict[Two, float], Mapping[str, NDArray[np.float64]], list[str]]:
    """What the tests of pairs need: shuffles where two can be swapped, else resamples.

    Args:
        pairs: that are tested.
        entrants: by name.
        samples: their rows under the metric.
        draws: their scores on resampled rows.
        metric: that is tested.

    Returns:
        p of the pairs that can be swapped; scores on as many resamples as the other pairs need; and
        what must be said of it.
    """
    ranked = {name for name, sample in samples.items() if not _is_summed(sample)}
    apart = {
        (one, other): RANKED
        if {one, other} & ranked
        else _unlike(entrants[one], entrants[other], metric)
        for one, other in pairs
    }
    resamples = len(next(iter(draws.values())))
    notes = list(_say_why(apart))
    randomised = _randomise(samples, apart, resamples, notes)
    return randomised, _resample(samples, apart, draws, notes), notes


def _unlike(one: Entrant, other: Entrant, metric: str) -> str | None:
    """Why what two said of a row cannot be swapped; None where it can."""
    mine, theirs = one.columns(metric), other.columns(metric)
    assert mine is not None
    assert theirs is not None
    # A floor has no seeds: it stands beside each of the other's.
    if one.floor is None and other.floor is None and len(mine) != len(theirs):
        return "have not as many seeds"
    for columns in (*mine, *theirs):
        for here, there in zip(columns, mine[0], strict=True):
            for name, said in LEARNT.items():
                if here.get(name) != there.get(name):
                    return said
    return None


def _say_why(apart: Mapping[Two, str | None]) -> Iterator[str]:
    for reason, count in Counter(apart.values()).items():
        if reason not in (None, RANKED):
            yield (
                f"{count} of {len(apart)} pairs are tested by the {BOOTSTRAP}: the two {reason}, "
                "so that what they were scored by cannot be swapped"
            )


def _randomise(
    samples: Mapping[str, Sample],
    apart: Mapping[Two, str | None],
    resamples: int,
    notes: list[str],
) -> dict[Two, float]:
    """p of the pairs that can be swapped."""
    swapped = [pair for pair, reason in apart.items() if reason is None]
    names = dict.fromkeys(name for pair in swapped for name in pair)
    rows = {name: _summed(samples[name]) for name in names}
    wanted = max(SHUFFLES * resamples, _needed(len(apart)))
    count = _afford(wanted, resamples, shuffle_cost(rows, swapped))
    notes += _say_least(RANDOMISATION, len(swapped), count, len(apart))
    return randomise(rows, swapped, shuffles=count)


def _resample(
    samples: Mapping[str, Sample],
    apart: Mapping[Two, str | None],
    draws: Mapping[str, NDArray[np.float64]],
    notes: list[str],
) -> Mapping[str, NDArray[np.float64]]:
    """Scores on as many resamples as the other pairs need."""
    others = [pair for pair, reason in apart.items() if reason is not None]
    chosen = {name: samples[name] for name in dict.fromkeys(n for pair in others for n in pair)}
    resamples = len(next(iter(draws.values())))
    cost = sum(rows.cost for sample in chosen.values() for folds in sample for rows in folds)
    count = _afford(_needed(len(apart)), resamples, cost)
    notes += _say_least(BOOTSTRAP, len(others), count, len(apart))
    if not others or count == resamples:
        return draws
    return dict(zip(chosen, bootstrap(list(chosen.values()), resamples=count), strict=True))


def _needed(pairs: int) -> int:
    """The smallest p is one in all draws, and correction multiplies it by the number of pairs."""
    return int(FINEST / LEVEL * pairs)


def _afford(wanted: int, least: int, cost: int) -> int:
    """As many draws as are wanted and do not take too long, but no fewer than there are anyway."""
    return max(least, min(wanted, MOST_WORK // max(1, cost)))


def _say_least(test: str, tested: int, draws: int, pairs: int) -> list[str]:
    if not tested or draws >= _needed(pairs):
        return []
    return [
        f"the {test} has {draws:,} draws, as more would take too long: corrected for {pairs} "
        f"pairs, none of its p is below {min(1, pairs / (1 + draws)):.2g}"
    ]


def _is_summed(sample: Sample) -> bool:
    return all(isinstance(rows, SummedRows) for folds in sample for rows in folds)


def _summed(sample: Sample) -> list[list[SummedRows]]:
    return [[rows for rows in folds if isinstance(rows, SummedRows)] for folds in sample]
