"""Errors of single labels: by label, by pair of labels, by word, and how far to trust them."""

from __future__ import annotations

from functools import partial

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.evaluation.errors import Confusion
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.table import Table
from seqtag.report.analyses.words import WordAnalysis
from seqtag.report.label_tables import counts_table, frequent_table, report_table
from seqtag.report.plots.confusion import draw_confusion
from seqtag.report.plots.picture import Picture


class LabelAnalysis(Analysis):
    """Errors by label, and by what training knows of the word.

    Args:
        spec: of the split.
        words: of labels that every word has; None where the row has the label, or has no words.
    """

    def __init__(self, spec: TargetSpec, *, words: WordAnalysis | None) -> None:
        self._confusion = Confusion((*spec.labels, *spec.unseen))
        self._words = words

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._confusion.update(prediction.value, batch.target)
        if self._words is not None:
            self._words.update(batch, prediction)

    def tables(self) -> list[Table]:
        """See the base class."""
        counts = self._confusion.counts()
        return [
            report_table("labels", "labels", self._confusion.report()),
            frequent_table("confusions", "most frequent confusions", counts),
            counts_table("confusion", counts),
            *(self._words.tables() if self._words is not None else []),
        ]

    def pictures(self) -> list[Picture]:
        """See the base class."""
        counts = self._confusion.counts()
        return [Picture("confusion", partial(draw_confusion, counts))] if counts else []
