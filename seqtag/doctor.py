"""What is to be said of a data set before it is trained on, in few lines."""

from __future__ import annotations

from collections.abc import Iterator

from seqtag.batch import TargetSpec
from seqtag.datamodule import DataModule
from seqtag.split import Split
from seqtag.survey.facts import Problem, Survey
from seqtag.survey.remarks import shorten, spell_label
from seqtag.survey.survey import survey

NAMED = 20
"""Labels named in one line; the others are counted."""


def examine(data: DataModule) -> Iterator[str]:
    """Yield what was read and what looks wrong, a line each: the short form of ``check``."""
    found = survey(data)
    yield from found.notes
    for split in data.splits.values():
        yield describe(split)
    if found.labels:
        yield describe_labels(found)
    yield from found.remarks
    for problem in found.warnings:
        yield f"warning: {first_of(problem)}"


def describe(split: Split) -> str:
    """The counts of a split in one line."""
    counts = split.counts
    parts = [
        f"{split.name}: {counts['rows']:,} rows",
        f"{counts['elements']:,} elements",
        f"longest {counts['longest']:,}",
    ]
    if counts["unknown"]:
        parts.append(f"{counts['unknown'] / counts['elements']:.1%} of the elements unknown")
    if counts["missing"]:
        parts.append(f"{counts['missing']:,} targets missing")
    if counts["empty"]:
        parts.append(f"{counts['empty']:,} empty rows left out")
    return ", ".join(parts) + f" ({split.given})"


def describe_labels(found: Survey) -> str:
    """The labels that the model learns, in one line."""
    scheme = f", spans in the scheme {found.scheme}" if found.scheme else ""
    if found.file_scheme:
        scheme += f" (the files have {found.file_scheme})"
    kind = "target symbols" if found.sequence else "labels"
    return f"{len(found.labels)} {kind}{scheme}: {_name(tuple(found.labels))}"


def name_unseen(split: Split) -> Iterator[str]:
    """Yield the labels that only this split has, in one line, if there are any."""
    if split.spec.unseen:
        yield (
            f"warning: {split.name} has {_kind(split.spec)} that training lacks, which always "
            f"count as wrong: {_name(split.spec.unseen)}"
        )


def first_of(problem: Problem) -> str:
    """The first message of a kind, and how many more there are."""
    rest = problem.count - 1
    return problem.messages[0] + (f" (and {rest:,} more such)" if rest else "")


def _kind(spec: TargetSpec) -> str:
    return "target symbols" if spec.sequence else "labels"


def _name(labels: tuple[str, ...]) -> str:
    return shorten(map(spell_label, labels[:NAMED]), len(labels), between=" ")
