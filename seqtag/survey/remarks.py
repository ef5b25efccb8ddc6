"""The facts that nobody should have to look for, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seqtag.data.shares import share
from seqtag.survey.facts import Overlap, SplitFacts

PLACES = 2
"""Places that a remark names; the facts hold more."""


def remark_on_split(split: SplitFacts) -> Iterator[str]:
    """Yield what is to be known of a split."""
    measured, long_rows, repeats = split.measured, split.long_rows, split.measured.repeats
    if long_rows.rows:
        done = {
            "error": "training refuses them",
            "split": "they are read in overlapping windows, and each target is scored once",
            "truncate": f"{long_rows.elements:,} of their elements are left out",
        }[long_rows.handling]
        yield (
            f"{split.name}: rows of more than {long_rows.limit:,} elements: {long_rows.rows:,}; "
            f"{done} (data.too_long={long_rows.handling})"
        )
    if repeats.rows:
        first = shorten(repeats.first[:PLACES], repeats.rows)
        yield (
            f"{split.name}: rows that repeat the input of an earlier one: {repeats.rows:,} "
            f"({share(repeats.rows, split.counts['rows'])}), of {repeats.groups:,} different "
            f"inputs: {first}"
        )
    if repeats.conflicts:
        first = shorten(repeats.first_conflicts[:PLACES], repeats.conflicts)
        yield (
            f"{split.name}: inputs that stand in several rows with different targets: "
            f"{repeats.conflicts:,}, in {repeats.conflict_rows:,} rows: {first}"
        )
    if measured.several_references:
        yield f"{split.name}: {measured.several_references:,} rows have several right targets"
    for feature in measured.features:
        if feature.unknown:
            yield (
                f"{split.name}: {feature.unknown:,} values of the feature {feature.column} are "
                "unknown to training"
            )


def remark_on_overlap(overlap: Overlap) -> str:
    """How much of a split stands in another."""
    first = shorten(overlap.first[:PLACES], overlap.rows)
    return (
        f"{overlap.split}: rows with an input that {overlap.other} has too: {overlap.rows:,} "
        f"({share(overlap.rows, overlap.of_rows)}), with the same target: "
        f"{overlap.same_target:,}; their median length is {overlap.median:g}: {first}"
    )


def spell_label(label: str) -> str:
    """A label as it stands, or quoted with escapes where something in it cannot be seen."""
    return label if label and label == label.strip() and label.isprintable() else repr(label)


def shorten(names: Iterable[str], total: int, *, between: str = "; ") -> str:
    """The names and how many more there are."""
    shown = list(names)
    rest = total - len(shown)
    return between.join(shown) + (f" and {rest:,} more" if rest > 0 else "")
