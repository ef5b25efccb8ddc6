"""One element a line in columns: the CoNLL shared tasks, and vectors of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.readers.blocks import Block, is_blank, read_blocks
from seqtag.data.readers.columns import Table, find_column, find_target, listed
from seqtag.data.readers.lines import BLANKS, Line, bad_line, split_line_end
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.separators import BlankRuns, Exact, Separator
from seqtag.data.readers.values import parse_number, spell, spell_probability

SEPARATORS: dict[str, Separator] = {"tab": Exact("\t"), "blank": BlankRuns()}

# The marker of a new document; what follows it on its line differs from corpus to corpus.
DOCUMENT_START = re.compile(r"-DOCSTART-(?:[ \t]|$)")


@dataclass(kw_only=True)
class ConllReader(Reader):
    """One element a line, sentences between blank lines, columns numbered from 0 or from -1 back.

    Every line of a file has the same number of columns; anything else is an error, because a
    column counted wrongly is read as a label in silence. No line is a comment (``#tag`` is a
    token); lines that begin with ``-DOCSTART-`` are kept and not read. An empty target cell, as
    two tabs can leave one, is a missing target.

    Args:
        separator: ``tab``, ``blank`` (one or more blanks), or None: tab where the line has one,
            else blanks.
    """

    separator: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.separator is not None and self.separator not in SEPARATORS:
            raise ValueError(
                f"data.reader.separator={self.separator}: give one of {', '.join(SEPARATORS)}, "
                "or null to take tabs where a line has them"
            )
        for key, columns in (("input", self.input), ("target", self.target)):
            for column in listed(columns):
                if not isinstance(column, int):
                    raise ValueError(
                        f"data.{key}={column}: columns of this format are numbers, from 0; "
                        "a file with a header is data=tsv"
                    )

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per sentence."""
        leading, lines = self._lines(stream, name)
        layout: tuple[Separator, Table] | None = None
        for block in read_blocks(lines, leading, _is_document_start):
            if layout is None:
                layout = self._layout(block.lines[0], name)
            yield self._row(block, *layout, name)

    def _layout(self, line: Line, name: str) -> tuple[Separator, Table]:
        separator = self._separator_of(line.text)
        targets = listed(self.target) if self.read_target else []
        try:
            count = len(separator.cells(line.text))
            return separator, Table.of(line.number, count, None, listed(self.input), targets)
        except ValueError as error:
            raise bad_line(name, line.number, str(error), line.text) from None

    def _separator_of(self, text: str) -> Separator:
        if self.separator is None:
            return SEPARATORS["tab"] if "\t" in text else SEPARATORS["blank"]
        return SEPARATORS[self.separator]

    def _row(self, block: Block, separator: Separator, table: Table, name: str) -> Row:
        tokens: list[str] = []
        vectors: list[list[float]] = []
        targets: list[Any] = []
        for line in block.lines:
            try:
                cells = separator.cells(line.text)
                table.check(cells)
                if isinstance(self.input, list):
                    vectors.append([parse_number(cells[index]) for index in table.inputs])
                else:
                    tokens.append(_token(cells, table.inputs[0]))
            except ValueError as error:
                raise bad_line(name, line.number, str(error), line.text) from None
            values = [self._cell(cells[index]) for index in table.targets]
            targets.append(values if len(values) > 1 else next(iter(values), None))
        row = Row(
            target=targets if table.targets else None,
            file=name,
            line=block.lines[0].number,
            element_lines=[line.number for line in block.lines],
            leading=block.leading,
            raw=block.raw,
        )
        if isinstance(self.input, list):
            row["vectors"] = vectors
        else:
            row["tokens"] = tokens
        return row

    def write(self, row: Row, output: Output) -> str:
        """The sentence with predictions in the target's columns, or in new ones at the end.

        A label's probability, where there is one, follows in a column of its own.
        """
        pieces = row["raw"].split("\n")
        elements = [index for index, piece in enumerate(pieces) if _is_element(piece)]
        predictions = self._by_element(row, output)
        for index, (value, probabilities) in zip(elements, predictions, strict=True):
            text, end = split_line_end(pieces[index])
            text = self._with_prediction(text, value)
            if probabilities is not None:
                probability = spell_probability(value, probabilities)
                text = self._separator_of(text).append(text, probability)
            pieces[index] = text + end
        return row["leading"] + "\n".join(pieces)

    def _with_prediction(self, text: str, prediction: Any) -> str:
        separator = self._separator_of(text)
        cells = separator.cells(text)
        inputs = [find_column(column, len(cells), None) for column in listed(self.input)]
        known = [index for index in inputs if index is not None]
        targets = listed(self.target)
        values = prediction if isinstance(prediction, list) else [prediction]
        changed = {}
        added = []
        for column, value in zip(targets or [len(cells)], values, strict=True):
            spelled = self.missing if value is None else spell(value)
            index = find_target(column, len(cells), None, known)
            if index is None:
                added.append(spelled)
            elif self._cell(cells[index]) != value:
                changed[index] = spelled
        text = separator.replace(text, changed)
        for spelled in added:
            text = separator.append(text, spelled)
        return text


def _is_document_start(text: str, inside: bool) -> bool:
    return DOCUMENT_START.match(text) is not None


def _is_element(piece: str) -> bool:
    text, _ = split_line_end(piece)
    return not is_blank(text) and not DOCUMENT_START.match(text)


def _token(cells: list[str], index: int) -> str:
    token = cells[index].strip(BLANKS)
    if not token:
        raise ValueError(f"the input's column, {index}, is empty")
    return token
