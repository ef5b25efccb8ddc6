"""Pronouncing dictionaries in the format of CMUdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from seqtag.batch import Output, Row, place
from seqtag.data.readers.blocks import is_blank
from seqtag.data.readers.cell_reader import CellReader
from seqtag.data.readers.columns import refuse
from seqtag.data.readers.lines import LINE_ENDS, Line, bad_line, excerpt, split_line_end
from seqtag.data.readers.values import spell

COMMENTS = (";;;", "##")
"""How the lines begin that are comments, in later and earlier versions."""

HEAD = re.compile(r"[ \t]*([^ \t]+)[ \t]*")
VARIANT = re.compile(r"(.+)\(([0-9]+)\)")
REMARK = re.compile(r"(?:^|[ \t]+)#")
LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Entry(NamedTuple):
    """A line of the dictionary, taken apart."""

    word: str
    """Without the number of a variant."""
    variant: bool
    """Whether it has one, as ``word(2)``."""
    start: int
    """Where its pronunciation begins in the line."""
    end: int


@dataclass
class Group:
    """The lines of one word, comments among them."""

    entry: Entry
    leading: str
    lines: list[Line] = field(default_factory=list)
    pronunciations: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class CmudictReader(CellReader):
    """A word with all its pronunciations: ``word P R O N # remark``, then ``word(2) P R O N``.

    Lines of the same word with numbers in parentheses, one after the other, are one row: the first
    pronunciation is the target, all of them are references. Remarks, blank lines and lines that
    begin with ``;;;`` or ``##`` are kept and not read. A word without a pronunciation is a missing
    target, and ``word(2)`` without ``word`` before it a row of its own; a warning tells of both.

    Source: https://github.com/cmusphinx/cmudict
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.input != 0 or self.target not in (None, 1):
            raise ValueError(
                f"data.input={self.input} data.target={self.target}: column 0 of a dictionary is "
                "the word, column 1 its pronunciations"
            )
        refuse("a dictionary has", self._other_columns(), "take data=tsv")

    @property
    def several_references(self) -> bool:
        """A word may have several pronunciations."""
        return True

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per word, once the next one begins."""
        leading, lines = self._lines(stream, name)
        group: Group | None = None
        for line in lines:
            entry = parse_entry(line.text)
            if entry is None:
                if group is None:
                    leading += line.raw
                else:
                    group.lines.append(line)
                continue
            if group is None or not (entry.variant and entry.word == group.entry.word):
                if group is not None:
                    yield from self._rows(group, name)
                group, leading = Group(entry, leading), ""
                if entry.variant:
                    self._warn(name, line.number, f"a variant of {entry.word!r} without the word")
            if entry.start == entry.end:
                self._warn(name, line.number, f"no pronunciation of {entry.word!r}")
            group.lines.append(line)
            group.pronunciations.append(line.text[entry.start : entry.end])
        if group is not None:
            yield from self._rows(group, name)

    def _rows(self, group: Group, name: str) -> Iterator[Row]:
        """The row of a word, or none where a fault of it was told of."""
        first = group.lines[0]
        row = Row(
            target=None,
            file=name,
            line=first.number,
            leading=group.leading,
            raw="".join(line.raw for line in group.lines),
        )
        found = [text for text in group.pronunciations if self.values.cell(text) is not None]
        try:
            self._fill(row, {0: group.entry.word, 1: found[0] if found else ""})
        except ValueError as error:
            self._fault(bad_line(name, first.number, str(error), first.text))
            return
        references = list(dict.fromkeys(found))
        if self.read_target and self.target is not None and len(references) > 1:
            row["references"] = references
        yield row

    def write(self, row: Row, output: Output) -> str:
        """The word's lines, where the prediction is one of its pronunciations; else one line.

        The prediction then stands in the first line in place of its pronunciation, and the lines
        of the others go. Comments and remarks of the first line stay.
        """
        if output.probabilities:
            raise ValueError(
                f"{place(row)}: a dictionary has no place for probabilities; predict raw lines "
                "(data=lines)"
            )
        lines = LINES.findall(row["raw"])
        entries = [parse_entry(split_line_end(line)[0]) for line in lines]
        held = [
            line[entry.start : entry.end]
            for line, entry in zip(lines, entries, strict=True)
            if entry is not None
        ]
        if any(self._holds([text], row, output.value) for text in held):
            return row["leading"] + row["raw"]
        pieces = [line for line, entry in zip(lines, entries, strict=True) if entry is None]
        return row["leading"] + self._replaced(lines[0], row, output.value) + "".join(pieces)

    def _replaced(self, line: str, row: Row, value: Any) -> str:
        """The word's first line with another pronunciation."""
        text, end = split_line_end(line)
        entry = parse_entry(text)
        assert entry is not None
        if isinstance(value, list):
            value = self.values.join(value)
        spelled = self.missing if value is None else spell(value)
        before, after = text[: entry.start], text[entry.end :]
        if spelled and not before.endswith((" ", "\t")):
            before += " "
        if spelled and after.startswith("#"):
            after = " " + after
        again = parse_entry(before + spelled + after)
        if set(LINE_ENDS) & set(spelled) or again is None or not _is_at(again, before, spelled):
            raise ValueError(
                f"{place(row)}: the prediction {excerpt(spelled)} cannot be told from the rest of "
                "the line; write it as jsonl"
            )
        return before + spelled + after + end


def parse_entry(text: str) -> Entry | None:
    """What a line of the dictionary says; None for a comment or a blank line."""
    if is_blank(text) or text.startswith(COMMENTS):
        return None
    head = HEAD.match(text)
    assert head is not None
    remark = REMARK.search(text, head.end())
    # At the start of what follows the word "^" does not fit, for search() sees the whole text.
    stop = head.end() if text[head.end() :].startswith("#") else remark.start() if remark else None
    pronunciation = text[head.end() : stop].rstrip(" \t")
    variant = VARIANT.fullmatch(head[1])
    word = variant[1] if variant else head[1]
    return Entry(word, variant is not None, head.end(), head.end() + len(pronunciation))


def _is_at(entry: Entry, before: str, spelled: str) -> bool:
    return (entry.start, entry.end) == (len(before), len(before) + len(spelled.rstrip(" \t")))
