"""CoNLL-U, the format of Universal Dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import Beside, fresh_names
from seqtag.data.readers.blocks import Block, is_blank, read_blocks
from seqtag.data.readers.columns import Column, counted, listed, refuse
from seqtag.data.readers.conllu_rules import (
    COMMENT,
    EMPTY,
    NAMES,
    NO_WORD,
    is_suspect,
    sentence_oddities,
    text_oddities,
)
from seqtag.data.readers.lines import BYTE_ORDER_MARK, Line, bad_line, split_line_end
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.separators import Exact
from seqtag.data.readers.values import spell, spell_probability
from seqtag.data.readers.writer import TextWriter

MISC = NAMES.index("MISC")
PROBABILITY = "Probability="
PREDICTED = "Predicted"
ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t"}
"""How what MISC cannot hold is spelled there, as UDPipe does in SpacesAfter."""
TABS = Exact("\t")
ANY_NUMBER = -1
"""The number of the next word where a line before it could not be read."""


@dataclass(kw_only=True)
class ConlluReader(Reader):
    """One word a line in ten columns, named as CoNLL-U does or numbered from 0.

    Multiword ranges, empty nodes and comments are kept for writing and are not read. A ``_`` in
    the input's column is a word like any other, in a feature's a category.

    Of what the format's rules forbid, that is an error which leaves a doubt about the words or
    what is said of them: another number of columns, a word's id other than the next number, a
    column that is read and empty, a sentence without words. The rest is a warning: ranges and
    empty nodes that stand in the wrong place, comments inside or after a sentence, blanks around
    a field or in an empty line, an empty field that is not read, no blank line at the end.

    Source: https://universaldependencies.org/format.html
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(
            "CoNLL-U has",
            {
                "references": self.references,
                "further_input": self.further_input,
                "mask": listed(self.mask),
            },
            "take data=conll for a mask, else data=tsv",
        )
        self._input = _column("input", self.input)
        self._target = None if self.target is None else _column("target", self.target)
        self._feature_columns = {
            column: _column(key, column)
            for key, columns in (
                ("features", self.features),
                ("numeric_features", self.numeric_features),
            )
            for column in columns
        }

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per sentence."""
        leading, lines = self._every_line(stream, name)
        for block in read_blocks(lines, leading, _is_comment_between):
            row = self._row(block, name)
            if self._report is not None:
                self._warn_of(block, row, name)
            if row is not None:
                yield row

    def _row(self, block: Block, name: str) -> Row | None:
        """The sentence; None where a fault of it was told of."""
        tokens: list[str] = []
        targets: list[str | None] = []
        numbers: list[int] = []
        features: dict[Column, list[Any]] = {column: [] for column in self._feature_columns}
        column, target = self._input, self._target if self.read_target else None
        whole = True
        expected = 1
        for line in block.lines:
            fields = line.text.split("\t")
            if (
                len(fields) == len(NAMES)
                and fields[0] == str(expected)
                and fields[column]
                and (target is None or fields[target])
                and line.readable
            ):
                tokens.append(fields[column])
                numbers.append(line.number)
                expected += 1
                if target is not None:
                    targets.append(self.values.cell(fields[target]))
                problem = self._add_features(features, fields) if features else None
            elif line.readable and _stands_for_no_word(line.text, fields):
                continue
            else:
                problem = self._problem(fields, expected) if line.readable else ""
                expected = _following(line, fields[0], expected)
            if problem is not None:
                whole = False
                if problem:
                    self._fault(bad_line(name, line.number, problem, line.text))
        first = block.lines[0]
        if whole and not tokens:
            self._fault(bad_line(name, first.number, "a sentence without words", first.text))
        if not whole or not tokens:
            return None
        row = Row(
            tokens=tokens,
            target=None if target is None else targets,
            file=name,
            line=first.number,
            element_lines=numbers,
            leading=block.leading,
            raw=block.raw,
        )
        if features:
            row["features"] = {str(column): values for column, values in features.items()}
        return row

    def _add_features(self, features: dict[Column, list[Any]], fields: list[str]) -> str | None:
        """Add what a word's line says, and return what is wrong with it."""
        for column, values in features.items():
            cell = fields[self._feature_columns[column]]
            if not cell:
                return f"column {column} is empty; CoNLL-U writes {EMPTY!r}"
            try:
                values.append(self.values.feature(cell, column in self.numeric_features, column))
            except ValueError as error:
                return str(error)
        return None

    def _problem(self, fields: list[str], expected: int) -> str | None:
        """Why a line is not the next word."""
        if len(fields) != len(NAMES):
            return f"{counted(len(fields))} between tabs where CoNLL-U has {len(NAMES)}"
        if fields[0] != str(expected):
            if expected == ANY_NUMBER:
                return None
            hint = "; is a blank line missing before it?" if fields[0] == "1" else ""
            return f"id {fields[0]!r} where the next word is {expected}{hint}"
        if not fields[self._input]:
            return f"column {NAMES[self._input]} is empty"
        assert self._target is not None
        return f"column {NAMES[self._target]} is empty; CoNLL-U writes {EMPTY!r}"

    def _warn_of(self, block: Block, row: Row | None, name: str) -> None:
        first, last = block.lines[0].number, block.lines[-1].number
        before = block.leading.removeprefix(BYTE_ORDER_MARK)
        for number, text in text_oddities(before, first - before.count("\n"), at_end=False):
            self._warn(name, number, text)
        # Most sentences are looked at once for all their lines.
        if row is None or len(row["tokens"]) < len(block.lines) or is_suspect(row["raw"]):
            read = {self._input, *self._feature_columns.values()}
            if self._target is not None and self.read_target:
                read.add(self._target)
            for number, text in sentence_oddities(block.lines, read):
                self._warn(name, number, text)
        if not block.trailing and block.lines[-1].readable:
            self._warn(name, last, "no blank line after the last sentence")
        if block.trailing != "\n":
            for number, text in text_oddities(block.trailing, last + 1, at_end=True):
                self._warn(name, number, text)

    def beside(self, rows: Iterable[Row]) -> Beside:
        """An attribute of MISC."""
        taken = {name for row in rows if PREDICTED in row["raw"] for name in _attributes(row)}
        [name] = fresh_names(None, taken, PREDICTED)
        return Beside(
            f"{name}= in MISC",
            lambda stream: TextWriter(stream, partial(self._write_beside, name), self.encoding),
        )

    def _write_beside(self, name: str, row: Row, output: Output) -> str:
        """The sentence with each word's prediction under this name in MISC."""
        pieces = row["raw"].split("\n")
        words = [index for index, piece in enumerate(pieces) if _is_word(piece)]
        predictions = self.values.by_element(row, output)
        for index, (value, _) in zip(words, predictions, strict=True):
            text, end = split_line_end(pieces[index])
            spelled = "".join(ESCAPES.get(c, c) for c in spell(value))
            misc = _with_part(text.split("\t")[MISC], f"{name}={spelled}")
            pieces[index] = TABS.replace(text, {MISC: misc}) + end
        return row["leading"] + "\n".join(pieces)

    def write(self, row: Row, output: Output) -> str:
        """The sentence with predictions in the target's column; probabilities go to MISC."""
        if self._target is None:
            raise ValueError("data.target is null: CoNLL-U needs a column for the prediction")
        pieces = row["raw"].split("\n")
        words = [index for index, piece in enumerate(pieces) if _is_word(piece)]
        predictions = self.values.by_element(row, output)
        for index, (value, probabilities) in zip(words, predictions, strict=True):
            text, end = split_line_end(pieces[index])
            fields = text.split("\t")
            cells = {}
            if self.values.cell(fields[self._target]) != value:
                cells[self._target] = self.missing if value is None else spell(value)
            if probabilities is not None and value is not None:
                misc = cells.get(MISC, fields[MISC])
                cells[MISC] = _with_probability(misc, spell_probability(value, probabilities))
            pieces[index] = TABS.replace(text, cells) + end
        return row["leading"] + "\n".join(pieces)


def _attributes(row: Row) -> Iterator[str]:
    """The names of what the words of a sentence have in MISC."""
    for piece in row["raw"].split("\n"):
        if _is_word(piece):
            for part in split_line_end(piece)[0].split("\t")[MISC].split("|"):
                yield part.partition("=")[0]


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


def _stands_for_no_word(text: str, fields: list[str]) -> bool:
    if text.startswith(COMMENT):
        return True
    return len(fields) == len(NAMES) and NO_WORD.fullmatch(fields[0]) is not None


def _following(line: Line, identifier: str, expected: int) -> int:
    """The number after a faulty line, such that the next line is not called faulty for it."""
    if not line.readable:
        return ANY_NUMBER
    # A longer number than any sentence has words would cost int() its time.
    if identifier.isascii() and identifier.isdecimal() and len(identifier) < 10:
        return int(identifier) + 1
    unchanged = expected == ANY_NUMBER or NO_WORD.fullmatch(identifier)
    return expected if unchanged else expected + 1


def _is_word(piece: str) -> bool:
    if is_blank(split_line_end(piece)[0]) or piece.startswith(COMMENT):
        return False
    return not NO_WORD.fullmatch(piece.partition("\t")[0])


def _with_probability(misc: str, probability: str) -> str:
    parts = misc.split("|")
    kept = [part for part in parts if not part.startswith(PROBABILITY)]
    return _with_part("|".join(kept) or EMPTY, PROBABILITY + probability)


def _with_part(misc: str, part: str) -> str:
    return part if misc == EMPTY else f"{misc}|{part}"
