"""What the rules of CoNLL-U forbid and a reader of words need not refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from seqtag.data.readers.lines import BLANKS, LINE_ENDS, Line

NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
COMMENT = "#"
EMPTY = "_"

# A multiword range (1-2) or an empty node (1.1): lines that stand for no word.
NO_WORD = re.compile(r"([0-9]+)([-.])([0-9]+)")
RANGE = "-"

ORPHAN = "a comment without a sentence right after it"

Oddity = tuple[int, str]
"""A line's number, and what is odd about it."""


def text_oddities(text: str, number: int, *, at_end: bool) -> Iterator[Oddity]:
    """What is odd in the comments and empty lines between two sentences.

    Args:
        text: that stands there.
        number: of its first line.
        at_end: whether no sentence follows.
    """
    comment = 0  # the first line of the comments just before
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith(COMMENT):
            comment = comment or number
        elif not line.strip(BLANKS + LINE_ENDS):
            if line.strip(LINE_ENDS):
                yield number, "blanks or tabs in an empty line"
            if comment:
                yield comment, ORPHAN
            comment = 0
        number += 1
    if at_end and comment:
        yield comment, ORPHAN


def is_suspect(raw: str) -> bool:
    """Whether a text of words alone may hold blanks around a field, or an empty field."""
    return " " in raw or "\t\t" in raw or "\t\n" in raw or "\t\r" in raw or raw.endswith("\t")


def sentence_oddities(lines: list[Line], read: AbstractSet[int]) -> Iterator[Oddity]:
    """What is odd in a sentence, its order apart.

    Args:
        lines: of the sentence.
        read: columns that may not be empty, so that their being so is an error told elsewhere.
    """
    rows = []
    for line in lines:
        fields = line.text.split("\t")
        if line.text.startswith(COMMENT):
            yield line.number, "a comment inside a sentence; CoNLL-U has them before it"
        elif len(fields) == len(NAMES) and line.readable:
            if "" in fields or " " in line.text:
                yield from _field_oddities(line.number, fields, read)
            rows.append((line.number, fields[0]))
    yield from _order_oddities(rows)


def _field_oddities(number: int, fields: list[str], read: AbstractSet[int]) -> Iterator[Oddity]:
    no_word = NO_WORD.fullmatch(fields[0])
    for column, (name, field) in enumerate(zip(NAMES, fields, strict=True)):
        if not field and column and (column not in read or no_word):
            yield number, f"column {name} is empty; CoNLL-U writes {EMPTY!r}"
        elif field != field.strip(BLANKS):
            yield number, f"a blank at the edge of column {name}: {field!r}"


def _order_oddities(rows: list[Oddity]) -> Iterator[Oddity]:
    """What is odd about the ids of ranges and empty nodes, each with its line's number."""
    word = empty = 0  # the last word, and the last empty node after it
    covered = (0, "")  # where the ranges so far end, and the one that ends there
    line = 0
    for number, identifier in rows:
        match = NO_WORD.fullmatch(identifier)
        if match is None:
            word, empty = int(identifier) if _is_number(identifier) else word + 1, 0
            continue
        if not (_is_number(match[1]) and _is_number(match[3])):
            yield number, f"{identifier} is no number that a sentence reaches"
            continue
        start, end = int(match[1]), int(match[3])
        if match[2] != RANGE:
            if (start, end) != (word, empty + 1):
                expected = f"{word}.{empty + 1}"
                yield number, f"empty node {identifier} where only {expected} could stand"
            empty = end
            continue
        if end <= start:
            yield number, f"range {identifier} does not go from a word to a later one"
        elif start <= covered[0]:
            yield number, f"range {identifier} overlaps the range {covered[1]}"
        elif start != word + 1:
            yield number, f"range {identifier} where the next word is {word + 1}"
        if end > covered[0]:
            covered, line = (end, identifier), number
    if covered[0] > word:
        yield line, f"range {covered[1]} reaches beyond the last word, {word}"


def _is_number(text: str) -> bool:
    # More digits would cost int() its time, and no sentence has as many words.
    return text.isascii() and text.isdecimal() and len(text) < 10
