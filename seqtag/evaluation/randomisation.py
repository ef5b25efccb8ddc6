"""Whether two models would differ as much if it were chance which of the two said what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.resampling import SCORING, SEED, SummedRows, blocks, score_sums, sum_each

ROUNDING = 1e-9
"""Two differences are alike that differ by less than this share of the scores."""

Seeds = Sequence[Sequence[SummedRows]]
"""The rows of a contender: of each seed, of each fold."""


class _Rivals:
    """A contender and those that it is set against, all with as many seeds.

    Args:
        first: places of the contender's seeds among all models, ``[seeds]``.
        second: of those of the others, ``[others, seeds]``.
        metrics: of each fold.
        totals: sums of all models, of each fold ``[models, 1, size]``.
    """

    def __init__(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        metrics: Sequence[Metric],
        totals: Sequence[NDArray[np.float64]],
    ) -> None:
        self._first, self._second, self._metrics = first, second, metrics
        self._both = [(total[first] + total[second]) / 2 for total in totals]
        mine, theirs = self._means(totals)
        self.observed = np.abs(mine - theirs)[:, 0]
        # Rounding that is there must not make a difference.
        rounding = ROUNDING * np.maximum(np.abs(mine), np.abs(theirs))[:, 0]
        self._least = (self.observed - rounding)[:, None]
        self.larger = np.zeros(len(second), dtype=np.int64)

    def count(self, signed: Sequence[NDArray[np.float64]]) -> None:
        """Count the swaps that make the two differ as much.

        Args:
            signed: sums of all models where a row that is swapped counts -1, of each fold
                ``[models, swaps, size]``.
        """
        mine, theirs = self._means(signed)
        self.larger += mine.shape[1] - (np.abs(mine - theirs) < self._least).sum(axis=1)

    def _means(
        self, signed: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean score of both over seeds and folds, ``[others, swaps]`` each."""
        ahead, behind = [], []
        for metric, both, here in zip(self._metrics, self._both, signed, strict=True):
            # A pair's sums follow from those of each model, so that no pair has to go through the
            # rows by itself.
            swing = (here[self._first] - here[self._second]) / 2  # [others, seeds, swaps, size]
            ahead.append(_mean_over_seeds(metric, both + swing))
            behind.append(_mean_over_seeds(metric, both - swing))
        return np.mean(ahead, axis=0), np.mean(behind, axis=0)


def _mean_over_seeds(metric: Metric, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean score ``[others, swaps]`` of sums ``[others, seeds, swaps, size]``."""
    scores = score_sums(metric, sums.reshape(-1, sums.shape[-1])).reshape(sums.shape[:-1])
    mean: NDArray[np.float64] = scores.mean(axis=1)
    return mean


def randomise(
    contenders: Mapping[str, Seeds],
    pairs: Iterable[tuple[str, str]],
    *,
    shuffles: int,
    seed: int = SEED,
) -> dict[tuple[str, str], float]:
    """How often chance makes two contenders differ as much, by approximate randomisation.

    Of every row the two may swap what they said; were they alike, the difference after random swaps
    would be as large as the one that is there (Noreen 1989; Yeh 2000). A row is swapped with all
    seeds at once, each with the same one of the other, as seeds of one row are no independent
    evidence of it. The difference is that of the mean scores over seeds, as everywhere else.
    Two-sided, and with the arrangement that is there counted among the shuffled ones, so that p is
    never 0. A shuffled difference that is not defined counts as one as large.

    Args:
        contenders: of each, the rows of each seed and fold; statistics of a pair mean the same,
            column by column.
        pairs: which two are compared: they have as many seeds, or one of them has a single one,
            which then stands beside each of the other's, as what no seed changes may.
        shuffles: how many.
        seed: of the draws.

    Returns:
        Of each pair, p; NaN where the difference itself is not defined.
    """
    pairs = list(pairs)
    if not pairs:
        return {}
    models = [folds for sample in contenders.values() for folds in sample]
    ends = np.cumsum([len(sample) for sample in contenders.values()])
    places = {
        name: np.arange(end - len(contenders[name]), end)
        for name, end in zip(contenders, ends, strict=True)
    }
    against: dict[tuple[str, int], list[str]] = {}
    for one, other in pairs:
        counts = len(places[one]), len(places[other])
        assert min(counts) in (1, max(counts)), "seeds that have no partner"
        against.setdefault((one, max(counts)), []).append(other)
    by_fold = list(zip(*models, strict=True))
    rows = [len(fold[0]) for fold in by_fold]
    totals = [np.stack(sum_each(np.ones((1, len(fold[0]))), fold)) for fold in by_fold]
    rivals = {
        (one, seeds): _Rivals(
            np.broadcast_to(places[one], seeds),
            np.stack([np.broadcast_to(places[other], seeds) for other in others]),
            [rows.metric for rows in contenders[one][0]],
            totals,
        )
        for (one, seeds), others in against.items()
    }
    generator = np.random.default_rng(seed)
    wide = sum(total.shape[0] * total.shape[2] for total in totals)
    for size in blocks(max(sum(rows), wide), shuffles):
        signs = [2.0 * generator.integers(2, size=(size, fold)) - 1 for fold in rows]
        signed = [np.stack(sum_each(s, fold)) for s, fold in zip(signs, by_fold, strict=True)]
        for some in rivals.values():
            some.count(signed)
    found = {
        (one, other): (1 + int(count)) / (1 + shuffles) if seen == seen else float("nan")
        for (one, seeds), others in against.items()
        for other, count, seen in zip(
            others, rivals[one, seeds].larger, rivals[one, seeds].observed, strict=True
        )
    }
    return {pair: found[pair] for pair in pairs}


def shuffle_cost(contenders: Mapping[str, Seeds], pairs: Iterable[tuple[str, str]]) -> int:
    """Of a shuffle, in numbers that are summed, see ``Rows.cost``."""
    scored = {
        name: SCORING * sum(rows.metric.size for folds in sample for rows in folds)
        for name, sample in contenders.items()
    }
    summed = sum(rows.cost for sample in contenders.values() for folds in sample for rows in folds)
    return summed + 2 * sum(max(scored[one], scored[other]) for one, other in pairs)
