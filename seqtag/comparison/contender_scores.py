"""The scores of every contender with their intervals, and what else its runs say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqtag.comparison.comparison import Contender, Curve, Score
from seqtag.comparison.contenders import Group
from seqtag.comparison.entrants import Entrant
from seqtag.comparison.naming import differing
from seqtag.comparison.record import Record
from seqtag.evaluation.resampling import RankedRows, Sample, bootstrap, interval

RANKED_RESAMPLES = 400
"""For the interval of a measure of ranks that is not tested: each costs a pass over all rows."""

FEW_ROWS = 50
"""With fewer, the bootstrap's intervals are visibly too narrow."""

SHARE_UNDEFINED = 0.01
"""Of the resamples that may be without a score before it is said."""


def score_contenders(
    entrants: Mapping[str, Entrant],
    contenders: Mapping[str, Group],
    measures: Sequence[str],
    metric: str,
    resamples: int,
) -> tuple[list[Contender], dict[str, Sample], dict[str, NDArray[np.float64]], list[str]]:
    """Every contender with its scores; the rows and resampled scores of the tested measure.

    And what must be said of the intervals.

    Args:
        entrants: by name.
        contenders: those of them that are runs.
        measures: every measure that some have.
        metric: the tested one.
        resamples: of the bootstrap.
    """
    settings = dict(zip(contenders, _settings(contenders), strict=True))
    made = {
        name: _contender(entrant, settings.get(name, {}), metric, measures)
        for name, entrant in entrants.items()
    }
    kept: tuple[dict[str, Sample], dict[str, NDArray[np.float64]]] = ({}, {})
    fewer: list[str] = []
    undefined: list[str] = []
    rows = 0
    for measure in measures:
        samples = {n: e.sample(measure) for n, e in entrants.items() if e.has(measure)}
        ranked = any(isinstance(s[0][0], RankedRows) for s in samples.values())
        if ranked and measure != metric and resamples > RANKED_RESAMPLES:
            fewer.append(measure)
        count = RANKED_RESAMPLES if measure in fewer else resamples
        draws = dict(zip(samples, bootstrap(list(samples.values()), resamples=count), strict=True))
        for name, sample in samples.items():
            made[name].scores[measure] = _scores(sample, draws[name], entrants[name])
        if (share := _undefined(samples, draws)) > SHARE_UNDEFINED:
            undefined.append(f"{share:.0%} by {measure}")
        if measure == metric:
            kept = samples, draws
            rows = sum(map(len, next(iter(samples.values()))[0]))
    notes = []
    if 1 < rows < FEW_ROWS:
        notes.append(
            f"{rows} rows only: intervals of so few are too narrow (of 20 rows, some 92 in 100 "
            "hold the true score, rather than 95)"
        )
    if undefined:
        notes.append(
            f"of the resamples, {', '.join(undefined)} leave a contender without a score: its "
            "intervals and tests are of the others"
        )
    if fewer:
        notes.append(f"intervals of {', '.join(fewer)} are of {RANKED_RESAMPLES} resamples")
    return list(made.values()), *kept, notes


def _scores(sample: Sample, draws: NDArray[np.float64], entrant: Entrant) -> Score:
    seeds = [float(np.mean([rows.score() for rows in folds])) for folds in sample]
    mean = float(np.mean(seeds))
    # Of a score that is not defined an interval would be one of other rows.
    low, high = interval(draws) if mean == mean else (mean, mean)
    return Score(
        mean=mean,
        low=low,
        high=high,
        spread=float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None,
        seeds=seeds if entrant.floor is None else [],
    )


def _undefined(samples: Mapping[str, Sample], draws: Mapping[str, NDArray[np.float64]]) -> float:
    """The share of the resamples in which some contender has no score that otherwise has one."""
    lacking = [
        np.isnan(draws[name])
        for name, sample in samples.items()
        if not any(np.isnan(rows.score()) for folds in sample for rows in folds)
    ]
    return float(np.any(lacking, axis=0).mean()) if lacking else 0.0


def _settings(contenders: Mapping[str, Group]) -> list[dict[str, object]]:
    """The keys in which each contender differs from some other, with its values."""
    keys = differing([group.settings for group in contenders.values()])
    return [
        {key: group.settings[key] for key in keys if key in group.settings}
        for group in contenders.values()
    ]


def _contender(
    entrant: Entrant, settings: dict[str, object], metric: str, measures: Sequence[str]
) -> Contender:
    group = entrant.group
    if group is None:
        return Contender(
            name=entrant.name,
            floor=entrant.meaning,
            settings={},
            seeds=[],
            folds=len(entrant.runs[0]) if entrant.runs[0][0].record.folds else None,
            scores={},
        )
    records = [entry.record for entry in group.entries]

    def mean(key: str) -> float | None:
        found = [record.metrics[key] for record in records if key in record.metrics]
        return float(np.mean(found)) if found else None

    dev = {measure: mean(f"dev/{measure}") for measure in measures}
    parameters = mean("parameters")
    return Contender(
        name=entrant.name,
        floor=None,
        settings=settings,
        seeds=group.seeds,
        folds=records[0].folds,
        scores={},
        dev={measure: value for measure, value in dev.items() if value is not None},
        parameters=None if parameters is None else round(parameters),
        seconds=mean("train/seconds"),
        tokens_per_second=mean("train/tokens_per_second"),
        best_epochs=[int(r.metrics["best_epoch"]) for r in records if "best_epoch" in r.metrics],
        runs=[str(record.folder) for record in records],
        curves=[_curve(record, metric) for record in records],
    )


def _curve(record: Record, metric: str) -> Curve:
    rows = [row for row in record.epochs if "epoch" in row]
    return Curve(
        seed=record.seed,
        fold=record.fold,
        epochs=[int(row["epoch"]) for row in rows],
        loss=[row.get("train/loss") for row in rows],
        dev=[row.get(f"dev/{metric}") for row in rows],
    )
