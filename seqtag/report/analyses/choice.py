"""Which analysis suits which target."""

from __future__ import annotations

from seqtag.batch import WORD
from seqtag.data.readers.columns import Column, listed
from seqtag.data.vocabulary import Vocabulary
from seqtag.datamodule import DataModule
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.label_sets import LabelSetAnalysis
from seqtag.report.analyses.labels import LabelAnalysis
from seqtag.report.analyses.numbers import NumberAnalysis
from seqtag.report.analyses.sequences import SequenceAnalysis
from seqtag.report.analyses.spans import SpanAnalysis
from seqtag.report.analyses.words import WordAnalysis
from seqtag.split import Split


def choose_analysis(
    data: DataModule, split: Split, targets: Column | list[Column] | None
) -> Analysis:
    """The analysis of a split's targets.

    Args:
        data: with what training taught.
        split: that is to be scored.
        targets: columns of the target, as the config names them.
    """
    spec = split.spec
    if spec.sequence:
        return SequenceAnalysis(spec)
    if spec.multi:
        return LabelSetAnalysis(spec)
    if not spec.labels:
        columns = [
            column if isinstance(column, str) else f"column {column}" for column in listed(targets)
        ]
        named = len(columns) == spec.width
        return NumberAnalysis(
            columns if named else [f"value {n}" for n in range(1, spec.width + 1)]
        )
    has_words = isinstance(data.inputs.fields.get(WORD), Vocabulary)
    words = WordAnalysis(data.inputs, split) if data.task.per_element and has_words else None
    if spec.scheme is not None:
        return SpanAnalysis(spec, words=words)
    return LabelAnalysis(spec, words=words)
