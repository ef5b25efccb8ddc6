"""CoNLL-U, the format of Universal Dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.readers.blocks import Block, is_blank, read_blocks
from seqtag.data.readers.columns import Column, counted
from seqtag.data.readers.lines import bad_line, split_line_end
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.separators import Exact
from seqtag.data.readers.values import spell, spell_probability

NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
MISC = NAMES.index("MISC")
COMMENT = "#"
EMPTY = "_"
PROBABILITY = "Probability="
TABS = Exact("\t")

# A multiword range (1-2) or an empty node (1.1): lines that stand for no word.
NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


@dataclass(kw_only=True)
class ConlluReader(Reader):
    """One word a line in ten columns, named as CoNLL-U does or numbered from 0.

    Multiword ranges, empty nodes and comments are kept for writing and are not read. A ``_`` in
    the input's column is a word like any other.

    Source: https://universaldependencies.org/format.html
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._input = _column("input", self.input)
        self._target = None if self.target is None else _column("target", self.target)

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per sentence."""
        leading, lines = self._lines(stream, name)
        for block in read_blocks(lines, leading, _is_comment_between):
            yield self._row(block, name)

    def _row(self, block: Block, name: str) -> Row:
        tokens: list[str] = []
        targets: list[str | None] = []
        numbers: list[int] = []
        target = self._target if self.read_target else None
        for line in block.lines:
            if line.text.startswith(COMMENT):
                continue
            fields = line.text.split("\t")
            if len(fields) != len(NAMES):
                problem = f"{counted(len(fields))} between tabs where CoNLL-U has {len(NAMES)}"
                raise bad_line(name, line.number, problem, line.text)
            identifier = fields[0]
            if identifier != str(len(tokens) + 1):
                if NO_WORD.fullmatch(identifier):
                    continue
                problem = f"id {identifier!r} where the next word is {len(tokens) + 1}"
                raise bad_line(name, line.number, problem, line.text)
            if not fields[self._input]:
                problem = f"column {NAMES[self._input]} is empty"
                raise bad_line(name, line.number, problem, line.text)
            tokens.append(fields[self._input])
            numbers.append(line.number)
            if target is not None:
                if not fields[target]:
                    problem = f"column {NAMES[target]} is empty; CoNLL-U writes {EMPTY!r}"
                    raise bad_line(name, line.number, problem, line.text)
                targets.append(self._cell(fields[target]))
        first = block.lines[0]
        if not tokens:
            raise bad_line(name, first.number, "a sentence without words", first.text)
        return Row(
            tokens=tokens,
            target=None if target is None else targets,
            file=name,
            line=first.number,
            element_lines=numbers,
            leading=block.leading,
            raw=block.raw,
        )

    def write(self, row: Row, output: Output) -> str:
        """The sentence with predictions in the target's column; probabilities go to MISC."""
        if self._target is None:
            raise ValueError("data.target is null: CoNLL-U needs a column for the prediction")
        pieces = row["raw"].split("\n")
        words = [index for index, piece in enumerate(pieces) if _is_word(piece)]
        predictions = self._by_element(row, output)
        for index, (value, probabilities) in zip(words, predictions, strict=True):
            text, end = split_line_end(pieces[index])
            fields = text.split("\t")
            cells = {}
            if self._cell(fields[self._target]) != value:
                cells[self._target] = self.missing if value is None else spell(value)
            if probabilities is not None and value is not None:
                misc = cells.get(MISC, fields[MISC])
                cells[MISC] = _with_probability(misc, spell_probability(value, probabilities))
            pieces[index] = TABS.replace(text, cells) + end
        return row["leading"] + "\n".join(pieces)


def _column(key: str, column: Column | list[Column]) -> int:
    if isinstance(column, str) and column.upper() in NAMES:
        return NAMES.index(column.upper())
    if isinstance(column, int) and 0 <= column < len(NAMES):
        return column
    raise ValueError(
        f"data.{key}={column}: a CoNLL-U file has one column for it, 0 to {len(NAMES) - 1} or one "
        f"of {', '.join(NAMES)}"
    )


def _is_comment_between(text: str, inside: bool) -> bool:
    return text.startswith(COMMENT) and not inside


def _is_word(piece: str) -> bool:
    if is_blank(split_line_end(piece)[0]) or piece.startswith(COMMENT):
        return False
    return not NO_WORD.fullmatch(piece.partition("\t")[0])


def _with_probability(misc: str, probability: str) -> str:
    parts = misc.split("|")
    kept = [part for part in parts if part != EMPTY and not part.startswith(PROBABILITY)]
    return "|".join([*kept, PROBABILITY + probability])
