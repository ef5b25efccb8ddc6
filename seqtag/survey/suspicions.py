"""What can be read and is likely not meant; every threshold stands here with its name."""

from __future__ import annotations

from collections.abc import Iterator

from seqtag.data.shares import share
from seqtag.survey.facts import Overlap, SplitFacts, Survey
from seqtag.survey.measured import SHOWN
from seqtag.survey.remarks import shorten, spell_label

RUN_TOGETHER = 50
"""A row so many times as long as the median one, or a split of one row with so many elements, is
likely several rows that nothing separates."""

TORN_APART = 0.95
"""If so many rows have one element, words were likely taken for rows, or symbols for a word."""

FEW = 20
"""Rows, or labels, below which nothing is concluded from shares."""

LIKE_WORDS = 0.5
"""Labels are likely words if there are so many per target, or so many of them occur once."""

WHOLE = 1.5
"""Symbols of a target sequence, on average, up to which it was likely not split."""

LEAKED = 0.5
"""If so many rows of a split stand in training with the same target, its scores tell of memory."""

CONTRADICTORY = 0.1
"""If so many rows contradict another row of the same input, they likely lack a column."""

MARK = "U+FEFF"

DOCUMENT = 5
"""So many rows one behind the other that repeat others are likely a document's second copy."""

GARBLED = 3
"""So many elements must look garbled before it is said."""


def suspect_split(split: SplitFacts, survey: Survey, *, words: bool) -> Iterator[str]:
    """Yield what looks wrong with a split.

    Args:
        split: that is looked at.
        survey: that it belongs to.
        words: whether its elements are words.
    """
    yield from _lengths(split, survey, words=words)
    yield from _text(split, survey)
    yield from _repeats(split)
    labels = split.measured.labels
    if labels is not None and labels.odd:
        odd = [f"{label!r} ({place})" for label, place in labels.odd.items()]
        yield (
            f"{split.name} has labels with control characters, or with blanks at an end: "
            f"{', '.join(odd)}"
        )
    if labels is not None and labels.unseen:
        yield (
            f"{split.name} has {'target symbols' if survey.sequence else 'labels'} that training "
            f"lacks, which always count as wrong: {name_labels(labels.unseen)}"
        )
    for number, numbers in enumerate(split.measured.numbers, 1):
        if numbers.count > 1 and numbers.minimum == numbers.maximum:
            which = f"number {number} of " if len(split.measured.numbers) > 1 else ""
            yield f"{which}all targets of {split.name} are {numbers.minimum:g}"
    yield from _broken_spans(split)


def suspect_training(split: SplitFacts, survey: Survey) -> Iterator[str]:
    """Yield what leaves little to be learnt from the training split."""
    for number in split.measured.constant_vectors[:SHOWN]:
        yield f"number {number} of the training vectors (from 0) never varies"
    labels = split.measured.labels
    if labels is None:
        return
    total = sum(labels.counts.values())
    if survey.sequence:
        if (
            len(labels.counts) > LIKE_WORDS * split.counts["rows"]
            and total <= WHOLE * split.targets
        ):
            yield (
                "nearly every target is a symbol of its own; should they be split, with "
                "data/target_tokenizer=characters or words?"
            )
    elif len(labels.counts) == 1:
        yield "the training data has one label only; there is nothing to learn"
    elif len(labels.counts) >= FEW and (
        len(labels.counts) > LIKE_WORDS * total or labels.single > LIKE_WORDS * len(labels.counts)
    ):
        yield (
            f"the labels look like words: {len(labels.counts):,} different ones for {total:,} "
            f"targets, {labels.single:,} of them once; is data.target the right column?"
        )
    elif labels.once:
        rare = [f"{spell_label(label)} ({place})" for label, place in labels.once.items()]
        yield f"training has labels that occur once: {shorten(rare, labels.single, between=', ')}"


def suspect_overlap(overlap: Overlap, survey: Survey) -> Iterator[str]:
    """Yield what makes scores of a split say little."""
    split, other = survey.splits[overlap.split], survey.splits[overlap.other]
    whole = overlap.of_rows == other.counts["rows"] or split.given != other.given
    if split.sha256 == other.sha256 and whole:
        names = dict.fromkeys((split.given, other.given))
        yield f"{overlap.split} and {overlap.other} are the same: {' and '.join(names)}"
    elif overlap.rows == overlap.of_rows:
        yield f"all {overlap.rows:,} rows of {overlap.split} have an input that {overlap.other} has"
    elif overlap.same_target >= LEAKED * overlap.of_rows:
        yield (
            f"{share(overlap.same_target, overlap.of_rows)} of the rows of {overlap.split} stand "
            f"in {overlap.other} with the same target"
        )


def name_labels(labels: dict[str, int]) -> str:
    """The most frequent labels with their counts."""
    frequent = sorted(labels, key=lambda label: (-labels[label], label))[: 2 * SHOWN]
    named = [f"{spell_label(label)} ({labels[label]:,})" for label in frequent]
    return shorten(named, len(labels), between=", ")


def _lengths(split: SplitFacts, survey: Survey, *, words: bool) -> Iterator[str]:
    lengths, rows = split.measured.lengths, split.counts["rows"]
    median = lengths.quantiles["50%"]
    if rows == 1 and lengths.longest >= RUN_TOGETHER:
        yield (
            f"all of {split.given} is one row of {lengths.longest:,} elements; what separates the "
            "rows?"
        )
    elif lengths.longest > RUN_TOGETHER * median:
        yield (
            f"{lengths.longest_place} is a row of {lengths.longest:,} elements, where "
            f"the median is {median:g}; are there several rows in it?"
        )
    single = next((count for first, _, count in lengths.histogram if first == 1), 0)
    if words and rows >= FEW and single >= TORN_APART * rows:
        meant = (
            "should it be split further, with data/input_tokenizer=characters?"
            if survey.sequence
            else "are these the lines of a column file, which data=conll or data=conllu read?"
        )
        yield f"{single:,} of the {rows:,} rows of {split.name} are of one element; {meant}"


def _text(split: SplitFacts, survey: Survey) -> Iterator[str]:
    tokens = split.measured.tokens
    if tokens is None:
        return
    if tokens.garbled >= GARBLED:
        yield (
            f"{tokens.garbled:,} elements of {split.name} look like UTF-8 read as another "
            f"encoding, such as {tokens.garbled_example!r}; the file was likely converted wrongly"
        )
    told = any(MARK in message for problem in survey.warnings for message in problem.messages)
    if tokens.marked and not told:  # a reader tells of it with the line
        yield f"{tokens.marked:,} elements of {split.name} hold a byte order mark ({MARK})"


def _repeats(split: SplitFacts) -> Iterator[str]:
    repeats = split.measured.repeats
    if repeats.run >= DOCUMENT:
        yield (
            f"{repeats.run:,} rows of {split.name}, one behind the other, repeat others: "
            f"{repeats.run_places}; is a document there twice?"
        )
    rows = repeats.conflict_rows
    if split.counts["rows"] >= FEW and rows >= CONTRADICTORY * split.counts["rows"]:
        yield (
            f"{share(rows, split.counts['rows'])} of the rows of {split.name} have an input that "
            "stands in another row with another target; is a part of the input in a further "
            "column (data.features, data.further_input), or are several targets right "
            "(data.references)?"
        )


def _broken_spans(split: SplitFacts) -> Iterator[str]:
    spans = split.measured.spans
    if spans is None:
        return
    if spans.scheme is None and spans.obstacle is not None:
        yield (
            f"most labels of {split.name} are spelled as spans, and they are not read as such: "
            f"{spans.obstacle}"
        )
    elif spans.broken:
        fit = ", ".join(f"{name} {rows:,}" for name, rows in spans.elsewhere.items())
        mixed = f"; rows that fit another one: {fit}" if fit else ""
        times = "once" if spans.broken == 1 else f"{spans.broken:,} times"
        yield (
            f"the labels of {split.name} break the span scheme {spans.against} {times}{mixed}: "
            f"{shorten(spans.first, spans.broken)}"
        )
