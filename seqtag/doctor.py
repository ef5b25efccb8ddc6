"""What is to be said of a data set before it is trained on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seqtag.batch import TargetSpec
from seqtag.datamodule import DataModule
from seqtag.split import Split

NAMED = 20
"""Labels named in one line; the others are counted."""

RUN_TOGETHER = 50
"""A row so many times as long as the median one is likely several that nothing separates."""


def examine(data: DataModule) -> Iterator[str]:
    """Yield what was read and what looks wrong, a line each."""
    yield from data.notes
    for split in data.splits.values():
        yield describe(split)
        lengths = split.encoded.lengths()
        longest, median = int(np.argmax(lengths)), np.median(lengths)
        if lengths[longest] > RUN_TOGETHER * median:
            yield (
                f"warning: {split.place(longest)} is a row of {lengths[longest]:,} elements, where "
                f"the median is {median:g}; are there several rows in it?"
            )
    spec = data.target
    if spec.labels:
        scheme = f", spans in the scheme {spec.scheme}" if spec.scheme else ""
        yield f"{len(spec.labels)} {_kind(spec)}{scheme}: {_name(spec.labels)}"
        targets = data.splits["train"].target_lengths() if spec.sequence else np.zeros(0)
        if len(spec.labels) > len(targets) / 2 and len(targets) and np.median(targets) <= 1:
            yield (
                "warning: nearly every target is a symbol of its own; should they be split, with "
                "data/target_tokenizer=characters or words?"
            )
        if len(spec.labels) == 1 and not spec.sequence:
            yield "warning: the training data has one label only; there is nothing to learn"
    for split in data.splits.values():
        yield from name_unseen(split)


def name_unseen(split: Split) -> Iterator[str]:
    """Yield the labels that only this split has, in one line, if there are any."""
    if split.spec.unseen:
        yield (
            f"warning: {split.name} has {_kind(split.spec)} that training lacks, which always "
            f"count as wrong: {_name(split.spec.unseen)}"
        )


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
    return ", ".join(parts) + f" ({split.path})"


def _kind(spec: TargetSpec) -> str:
    return "target symbols" if spec.sequence else "labels"


def _name(labels: tuple[str, ...]) -> str:
    rest = len(labels) - NAMED
    named = (label if label.strip() else repr(label) for label in labels[:NAMED])
    return " ".join(named) + (f" and {rest} more" if rest > 0 else "")
