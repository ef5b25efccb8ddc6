"""One element a line in columns: the CoNLL shared tasks, and vectors of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import Beside, further_columns
from seqtag.data.readers.blocks import Block, is_blank, read_blocks
from seqtag.data.readers.cell_values import MASKED
from seqtag.data.readers.columns import Table, find_column, find_target, listed, refuse
from seqtag.data.readers.conll_layout import COMMENT_LIKE, Layout
from seqtag.data.readers.conllu_rules import NAMES, NO_WORD
from seqtag.data.readers.lines import BLANKS, bad_line, split_line_end
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.separators import BlankRuns, Exact, Separator
from seqtag.data.readers.values import parse_number, spell, spell_probability

SEPARATORS: dict[str, Separator] = {"tab": Exact("\t"), "blank": BlankRuns()}

# The marker of a new document; its case, the blanks before it and what follows it on its line
# differ from corpus to corpus.
DOCUMENT_START = re.compile(r"[ \t]*-DOCSTART-(?:[ \t]|$)", re.IGNORECASE)


@dataclass(kw_only=True)
class ConllReader(Reader):
    """One element a line, sentences between blank lines, columns numbered from 0 or from -1 back.

    Every line of a file has the same number of columns; anything else is an error, because a
    column counted wrongly is read as a label in silence. No line is a comment (``#tag`` is a
    token); lines that begin with ``-DOCSTART-``, in any case, are kept and not read. An empty
    target cell, as two tabs can leave one, is a missing target, and so is one whose mask is 0.

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
        refuse(
            "these files have",
            {"references": self.references, "further_input": self.further_input},
            "take data=tsv",
        )
        self._others = {
            "features": self.features,
            "numeric_features": self.numeric_features,
            "mask": listed(self.mask),
        }
        named = {"input": listed(self.input), "target": listed(self.target), **self._others}
        for key, columns in named.items():
            for column in columns:
                if not isinstance(column, int):
                    raise ValueError(
                        f"data.{key}={column}: columns of this format are numbers, from 0; "
                        "a file with a header is data=tsv"
                    )

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per sentence."""
        leading, lines = self._every_line(stream, name)
        layout = Layout(self._separator_of, self._table_of)
        first = True
        for block in read_blocks(lines, leading, _is_document_start):
            if self._report is not None:
                self._warn_of(block, name, first=first)
                first = False
            row = self._row(block, layout, name)
            if row is not None:
                yield row

    def _warn_of(self, block: Block, name: str, *, first: bool) -> None:
        comments = takewhile(lambda line: COMMENT_LIKE.match(line.text), block.lines)
        for line in comments:
            self._warn(
                name,
                line.number,
                "looks like a comment, and is read as an element, for this format has none; "
                "data=conllu has",
            )
        if first and _is_conllu(block):
            self._warn(
                name,
                block.lines[0].number,
                "ten columns between tabs and words counted from 1: is this data=conllu?",
            )

    def _table_of(self, line: int, count: int) -> Table:
        others = self._others if self.read_target else {**self._others, "mask": []}
        return Table.of(
            line,
            count,
            None,
            inputs=listed(self.input),
            targets=listed(self.target) if self.read_target else [],
            others=others,
        )

    def _separator_of(self, text: str) -> Separator:
        if self.separator is None:
            return SEPARATORS["tab"] if "\t" in text else SEPARATORS["blank"]
        return SEPARATORS[self.separator]

    def _row(self, block: Block, layout: Layout, name: str) -> Row | None:
        """The sentence; None where a fault of it was told of."""
        tokens: list[str] = []
        vectors: list[list[float]] = []
        targets: list[Any] = []
        features: dict[str, list[Any]] = {
            str(column): [] for column in (*self.features, *self.numeric_features)
        }
        whole = True
        found = layout.seek(block)
        for line in block.lines:
            if not line.readable:
                whole = False
                continue
            try:
                found = found or layout.find(line)
                if found is None:
                    whole = False
                    continue
                separator, table = found
                cells = separator.cells(line.text)
                if len(cells) != table.count:
                    table.check(cells)
                if isinstance(self.input, list):
                    vectors.append([parse_number(cells[index]) for index in table.inputs])
                else:
                    tokens.append(_token(cells, table.inputs[0]))
                target: Any = None
                if table.targets:
                    values = [self.values.cell(cells[index]) for index in table.targets]
                    target = values if len(values) > 1 else values[0]
                if table.others:
                    target = self._add_others(features, cells, table, target)
            except ValueError as error:
                whole = False
                self._fault(bad_line(name, line.number, str(error), line.text))
                continue
            targets.append(target)
        if not whole:
            return None
        row = Row(
            target=targets if self.target is not None and self.read_target else None,
            file=name,
            line=block.lines[0].number,
            element_lines=[line.number for line in block.lines],
            leading=block.leading,
            raw=block.raw,
        )
        if features:
            row["features"] = features
        if isinstance(self.input, list):
            row["vectors"] = vectors
        else:
            row["tokens"] = tokens
        return row

    def _add_others(
        self, features: dict[str, list[Any]], cells: list[str], table: Table, target: Any
    ) -> Any:
        """Add the features of an element, and return its target as the mask leaves it."""
        for column, index in table.others.items():
            if column in self.numeric_features or column in self.features:
                numeric = column in self.numeric_features
                features[str(column)].append(self.values.feature(cells[index], numeric, column))
        if self.mask in table.others:
            [target] = self.values.masked([target], cells[table.others[self.mask]].strip(BLANKS))
        return target

    def write(self, row: Row, output: Output) -> str:
        """The sentence with predictions in the target's columns, or in new ones at the end.

        A label's probability, where there is one, follows in a column of its own.
        """
        pieces = row["raw"].split("\n")
        elements = [index for index, piece in enumerate(pieces) if _is_element(piece)]
        predictions = self.values.by_element(row, output)
        for index, (value, probabilities) in zip(elements, predictions, strict=True):
            text, end = split_line_end(pieces[index])
            if not (value is None and self._is_masked(text)):
                text = self._with_prediction(text, value)
            if probabilities is not None:
                probability = spell_probability(value, probabilities)
                text = self._separator_of(text).append(text, probability)
            pieces[index] = text + end
        return row["leading"] + "\n".join(pieces)

    def beside(self, rows: Iterable[Row]) -> Beside:
        """Further columns at the end, where the script conlleval wants the prediction."""
        columns = further_columns(self.target)
        place = "a further last column" if len(columns) == 1 else "further last columns"
        return Beside(place, replace(self, target=columns, mask=None).writer)

    def _is_masked(self, text: str) -> bool:
        """Whether an element's own target was left unread, and is to be kept."""
        cells = self._separator_of(text).cells(text)
        index = None if self.mask is None else find_column(self.mask, len(cells), None)
        return index is not None and cells[index].strip(BLANKS) == MASKED

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
            elif self.values.cell(cells[index]) != value:
                changed[index] = spelled
        text = separator.replace(text, changed)
        for spelled in added:
            text = separator.append(text, spelled)
        return text


def _is_conllu(block: Block) -> bool:
    rows = [line.text.split("\t") for line in block.lines if not line.text.startswith("#")]
    if not rows or any(len(cells) != len(NAMES) for cells in rows):
        return False
    words = [cells[0] for cells in rows if not NO_WORD.fullmatch(cells[0])]
    return words == [str(number) for number in range(1, len(words) + 1)] != []


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
