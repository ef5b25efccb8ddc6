"""Whether the labels of a split are spans, and what breaks their scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from datasets import Dataset

from seqtag.evaluation.scheme_report import SchemeCensus
from seqtag.evaluation.schemes import OUTSIDE, position_and_type
from seqtag.survey.columns import blocks
from seqtag.survey.measured import SHOWN, Spans

SPELLED = 0.5
"""Share of the labels, O aside, that must be spelled as spans before a scheme is looked for."""


def look_like_spans(labels: Iterable[str]) -> bool:
    """Whether most distinct labels have the letter of a span before a type."""
    others = [label for label in labels if label != OUTSIDE]
    spelled = sum(position_and_type(label) is not None for label in others)
    return spelled > SPELLED * len(others)


def measure_spans(rows: Dataset, place: Callable[[int, int], str], *, learnt: str | None) -> Spans:
    """The census of all rows of a split.

    Args:
        rows: of the split.
        place: where an element is.
        learnt: the scheme of the training files; None where theirs are no spans.
    """
    census: SchemeCensus[int] = SchemeCensus()
    number = 0
    for (targets,) in blocks(rows, "target"):
        for labels in targets.to_pylist():
            census.add(labels, number)
            number += 1
    report = census.report()
    against = learnt or report.nearest
    fit = report.fits[against] if against is not None else None
    elsewhere: Counter[str] = Counter()
    for names, count in report.together.items():
        if against not in names:
            elsewhere.update(dict.fromkeys(names, count))
    return Spans(
        scheme=report.scheme,
        against=against,
        rows=report.rows,
        broken=fit.broken.total() if fit else 0,
        first=[
            f"{place(found.row, found.element)} {found.label} after {found.behind}"
            for found in (fit.first[:SHOWN] if fit else ())
        ],
        elsewhere=dict(elsewhere.most_common()),
        obstacle=report.obstacle,
    )
