"""How often labels are right that were given such a probability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import torch

from seqtag.evaluation.calibration import CalibrationError
from seqtag.evaluation.metrics import Measure
from seqtag.report.analyses.table import Table
from seqtag.report.plots.picture import Picture
from seqtag.report.plots.reliability import draw_reliability
from seqtag.training.results import ScoredSplit


def reliability(
    scored: ScoredSplit, measures: Mapping[str, Measure]
) -> Iterator[tuple[Table, Picture]]:
    """The bins of the calibration error, where the task has that measure and anything is scored."""
    for name, measure in measures.items():
        if not isinstance(measure, CalibrationError):
            continue
        bins = measure.bins(torch.from_numpy(scored.table[name].sum(axis=0)))
        filled = [each for each in bins if each.count]
        if not filled:
            continue
        table = Table(
            name="reliability",
            title="by the probability of the predicted label",
            columns=("above", "up_to", "count", "mean_probability", "accuracy"),
            rows=[(b.low, b.high, b.count, b.confidence, b.accuracy) for b in filled],
        )
        error = scored.metrics[f"{scored.split.name}/{name}"]
        yield table, Picture("reliability", partial(draw_reliability, bins, name, error))
        return
