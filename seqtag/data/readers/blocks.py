"""Sentences of formats that write one element a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from seqtag.data.readers.lines import BLANKS, Line


@dataclass
class Block:
    """The lines of one sentence.

    Attributes:
        leading: text of the file before it that belongs to no sentence.
        lines: its lines, comments within it included.
        trailing: blank lines that follow; after the last sentence, the rest of the file.
    """

    leading: str
    lines: list[Line] = field(default_factory=list)
    trailing: str = ""

    @property
    def raw(self) -> str:
        """The verbatim text of the sentence, with what follows it."""
        return "".join(line.raw for line in self.lines) + self.trailing


def is_blank(text: str) -> bool:
    """Whether a line holds nothing but blanks and tabs; an NBSP is a token."""
    return not text.strip(BLANKS)


def read_blocks(
    lines: Iterator[Line], leading: str, passes_over: Callable[[str, bool], bool]
) -> Iterator[Block]:
    """Cut lines into sentences at blank lines.

    A sentence is given once the line after its blank lines is known, because the end of the file
    belongs to the last one. Blank lines belong to the sentence before them, so that any choice
    of sentences, written in any order, stays separated.

    Args:
        lines: of the file.
        leading: text before the first line.
        passes_over: told a line and whether it stands inside a sentence, says whether the line
            is kept without being read; it then ends the sentence.
    """
    block: Block | None = None
    inside = False
    between = [leading]
    for line in lines:
        if not line.text.strip(BLANKS) and line.readable:
            inside = False
            if block is not None and not between:
                block.trailing += line.raw
            else:
                between.append(line.raw)
        elif passes_over(line.text, inside):
            inside = False
            between.append(line.raw)
        else:
            if block is None or not inside:
                if block is not None:
                    yield block
                block = Block("".join(between))
                between = []
                inside = True
            block.lines.append(line)
    if block is not None:
        block.trailing += "".join(between)
        yield block
