"""Errors of sequences that have their own length: edits, unknown input, the best of several."""

from __future__ import annotations

from typing import Any, ClassVar

from rapidfuzz.distance import Levenshtein

from seqtag.batch import UNKNOWN, WORD, Batch, Prediction, TargetSpec
from seqtag.evaluation.oracle import Oracle
from seqtag.evaluation.sequences import Edits, pairs
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.table import Table
from seqtag.report.label_tables import counts_table, frequent_table


class SequenceAnalysis(Analysis):
    """Which symbols are taken for which, left out and put in; and whether unknown input matters.

    Args:
        spec: of the split, of sequences.
    """

    worst_by: ClassVar[str | None] = "symbol_error_rate"

    def __init__(self, spec: TargetSpec) -> None:
        self._edits = Edits((*spec.labels, *spec.unseen))
        self._oracle: Oracle | None = None
        self._inputs = {"known": [0, 0, 0, 0], "unknown": [0, 0, 0, 0]}
        self._cut = 0

    def update(self, batch: Batch, prediction: Prediction) -> None:
        """See the base class."""
        assert batch.target is not None
        self._edits.update(prediction.value, batch.target)
        if prediction.complete is not None:
            self._cut += int((~prediction.complete).sum())
        if prediction.candidates is not None:
            self._oracle = self._oracle or Oracle()
            self._oracle.update(prediction.candidates, batch.target)
        if WORD not in batch.inputs:
            return
        unknown = (batch.inputs[WORD] == UNKNOWN).any(dim=1).tolist()
        for lacks, pair in zip(unknown, pairs(prediction.value, batch.target), strict=True):
            if pair is not None:
                predicted, gold = pair
                sums = self._inputs["unknown" if lacks else "known"]
                sums[0] += 1
                sums[1] += predicted == gold
                sums[2] += Levenshtein.distance(predicted, gold)
                sums[3] += len(gold)

    def tables(self) -> list[Table]:
        """See the base class."""
        counts = self._edits.counts()
        found = [
            frequent_table("edits", "most frequent edits", counts),
            counts_table("all_edits", counts),
            Table(
                name="inputs",
                title="inputs whose elements the vocabulary all has, and not all",
                columns=("elements", "exact_match", "symbol_error_rate", "count"),
                rows=[
                    (name, right / rows, edits / symbols if symbols else float("nan"), rows)
                    for name, (rows, right, edits, symbols) in self._inputs.items()
                    if rows
                ],
                keyed=True,
            ),
        ]
        if self._oracle is not None:
            found.append(
                Table(
                    name="oracle",
                    title="were the best of the first n candidates known",
                    columns=("n", "exact_match", "symbol_error_rate"),
                    rows=self._oracle.scores(),
                    note="the best is the one with the fewest edits to gold",
                )
            )
        return found

    def facts(self) -> dict[str, Any]:
        """See the base class."""
        return {"cut_at_limit": self._cut}

    def remarks(self) -> list[str]:
        """See the base class."""
        return [f"outputs that the search ended at its limit: {self._cut:,}"]
