"""Errors of rows that have several labels."""

from __future__ import annotations

from typing import Any

import torch

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.evaluation.label_report import LabelReport
from seqtag.evaluation.label_sets import LabelSetMacroF1
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.table import Table
from seqtag.report.label_tables import report_table


class LabelSetAnalysis(Analysis):
    """Errors by label, and how many labels a row has and is given.

    Args:
        spec: of the split, of sets of labels.
    """

    def __init__(self, spec: TargetSpec) -> None:
        self._names = (*spec.labels, *spec.unseen)
        self._counter = LabelSetMacroF1(spec)
        self._counts = torch.zeros(self._counter.size, dtype=torch.float64)
        self._rows = 0

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._counts += self._counter.row_statistics(prediction, batch.target).sum(dim=0)
        self._rows += int(batch.target.present.any(dim=1).sum())

    def tables(self) -> list[Table]:
        """See the base class."""
        each = self._counts.long().reshape(3, -1).T.tolist()
        counts = {
            name: (right, given, wanted)
            for name, (right, given, wanted) in zip(self._names, each, strict=True)
        }
        return [report_table("labels", "labels", LabelReport.of(counts))]

    def facts(self) -> dict[str, Any]:
        """See the base class."""
        _, predicted, gold = self._counts.reshape(3, -1).sum(dim=1).tolist()
        return {
            "labels_per_row": {
                "gold": gold / max(1, self._rows),
                "predicted": predicted / max(1, self._rows),
            }
        }

    def remarks(self) -> list[str]:
        """See the base class."""
        mean = self.facts()["labels_per_row"]
        return [f"labels in a row: {mean['gold']:.2f} in gold, {mean['predicted']:.2f} predicted"]
