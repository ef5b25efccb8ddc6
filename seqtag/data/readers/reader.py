"""What every reader does: rows out of a file, and rows with predictions back into its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol

from seqtag.batch import Output, Row, place
from seqtag.data.readers.columns import Column
from seqtag.data.readers.files import find_files, open_stream
from seqtag.data.readers.lines import (
    BYTE_ORDER_MARK,
    Line,
    check_encoding,
    excerpt,
    read_lines,
)
from seqtag.data.readers.values import parse_number, spell
from seqtag.data.readers.writer import TextWriter, Writer
from seqtag.data.tokenizers import BETWEEN_WORDS, Tokenizer

Cell = str | None
"""A target as text; None where it is missing."""


FURTHER = "+"
"""Stands before an element of a further input column, so that the tag V is not the letter V; the
mark that finite-state morphology puts before its tags."""

ODD_CHARACTERS = {
    "\0": "a NUL character; is this a text file?",
    BYTE_ORDER_MARK: "a byte order mark (U+FEFF) inside the file, which is read as text",
}
"""Characters that are read like any other, and are hardly ever meant."""

UNMASKED, MASKED = "1", "0"
SWITCHES = {UNMASKED: True, MASKED: False}


class Report(Protocol):
    """What is told of the faults of a file, where the reading shall go on after them."""

    def error(self, message: str) -> None:
        """Something that cannot be read."""

    def warning(self, message: str) -> None:
        """Something that can, and is likely not meant."""


def element_count(row: Row) -> int:
    """How many elements a row has; vectors where it has them, else tokens."""
    return len(row["vectors"] if "vectors" in row else row["tokens"])


@dataclass(kw_only=True)
class Reader(ABC):
    """Rows of one file format.

    Args:
        input: the column of the input; a list of columns where each element's numbers stand in
            columns.
        target: the column of the target; several for a target of several numbers; None where the
            file has no target.
        read_target: whether rows carry the file's targets. Without (prediction), the target's
            column need not exist and is not looked at; ``write`` fills it or adds it.
        input_tokenizer: splits an input that the format holds as one string.
        target_tokenizer: splits a target that the format holds as one string into one cell per
            element; None where the target is of the whole sequence.
        sequence_tokenizer: splits a target that is a sequence with a length of its own; None where
            it is none.
        label_tokenizer: splits a target that is several labels of the sequence; None where it is
            none.
        references: columns of further targets that are as right; only of sequences.
        features: columns with a category for each element, or one for all of them.
        numeric_features: the same with numbers.
        further_input: columns whose elements follow those of the input, with ``FURTHER`` before
            each; not where every element has a target.
        further_tokenizer: splits these.
        mask: column that says of each element, with 1 or 0, whether its target counts.
        missing: the cell that means "no target here".
        skip_lines: lines at the top of a file that are passed over and kept for writing.
        encoding: of the file; a byte order mark is dropped.
        max_line_bytes: a longer line is an error, so that a wrong file does not fill the memory.
    """

    reads_files: ClassVar[bool] = True
    """Whether what a split's key names is a file."""

    input: Column | list[Column]
    target: Column | list[Column] | None
    read_target: bool
    input_tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None
    sequence_tokenizer: Tokenizer | None
    label_tokenizer: Tokenizer | None
    references: list[Column]
    features: list[Column]
    numeric_features: list[Column]
    further_input: list[Column]
    further_tokenizer: Tokenizer
    mask: Column | None
    missing: str
    skip_lines: int
    encoding: str
    max_line_bytes: int

    def __post_init__(self) -> None:
        self._report: Report | None = None
        check_encoding(self.encoding)
        if self.max_line_bytes < 1:
            raise ValueError(f"data.max_line_bytes={self.max_line_bytes}: it must be 1 or more")
        if self.skip_lines < 0:
            raise ValueError(f"data.skip_lines={self.skip_lines}: it must be 0 or more")
        for key, columns in (("input", self.input), ("target", self.target)):
            if isinstance(columns, list) and not columns:
                raise ValueError(f"data.{key}=[]: the list names no column")
        one_column = self.sequence_tokenizer or self.label_tokenizer
        if one_column and isinstance(self.target, list) and len(self.target) > 1:
            raise ValueError(
                f"data.target={self.target}: a target that is a sequence, or a set of labels, "
                "stands in one column"
            )
        if self.references and not self.sequence_tokenizer:
            raise ValueError(
                f"data.references={self.references}: only a new sequence (task=seq2seq) has "
                "several right targets"
            )
        if self.mask is not None and not self.target_tokenizer:
            raise ValueError(
                f"data.mask={self.mask}: only tasks with a target for every element have a mask"
            )
        if self.further_input and (self.target_tokenizer or isinstance(self.input, list)):
            raise ValueError(
                f"data.further_input={self.further_input}: elements that follow the input's have "
                "no target of their own and are no vectors; name the columns in data.features"
            )

    def paths(self, given: str) -> list[Path]:
        """The files that a split of the config names.

        Raises:
            ValueError: there is none.
        """
        return find_files(given)

    def parts(self, given: str) -> list[str]:
        """What ``read_all`` takes one at a time, so that several processes can share the work."""
        return [str(path) for path in self.paths(given)]

    def digest(self, given: str) -> str | None:
        """What changes when the content of a split does; None where that is its files' content."""
        return None

    def read_all(self, given: str) -> Iterator[Row]:
        """Yield the rows of all files that a split of the config names.

        Raises:
            ValueError: a file cannot be opened or read.
        """
        for path in self.paths(given):
            with open_stream(str(path)) as stream:
                yield from self.read(stream, str(path))

    @contextmanager
    def reporting(self, report: Report) -> Iterator[None]:
        """While the context lasts, tell of faults and go on; without, the first one ends it."""
        self._report = report
        try:
            yield
        finally:
            self._report = None

    def _fault(self, error: ValueError) -> None:
        """Something cannot be read: raise, or note it where there is a report."""
        if self._report is None:
            raise error
        self._report.error(str(error))

    def _warn(self, name: str, line: int, text: str) -> None:
        """Something is likely not meant: note it where there is a report."""
        if self._report is not None:
            self._report.warning(f"{name}:{line}: {text}")

    @abstractmethod
    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield the rows of a stream, one by one, in order.

        Args:
            stream: bytes of the file.
            name: what messages call the file.

        Raises:
            ValueError: a line cannot be read; the message holds ``name:line`` and the line.
        """

    def write(self, row: Row, output: Output) -> str:
        """The row's text in this format with the prediction in the target's place.

        Formats that are no text have a ``writer`` of their own instead.

        Comments, other columns and everything else that the reader passed over are kept. A value
        that the file already has is left as it is spelled there. A file without any row has
        nowhere to keep such text, and is written as an empty one.

        Raises:
            ValueError: the format cannot hold the prediction.
        """
        raise AssertionError(f"{type(self).__name__} writes no text")

    def writer(self, stream: BinaryIO) -> Writer:
        """What takes rows with their predictions and writes a file of this format."""
        return TextWriter(stream, self.write, self.encoding)

    def _lines(self, stream: BinaryIO, name: str) -> tuple[str, Iterator[Line]]:
        """The text passed over at the top of a file, and the lines after it that can be read."""
        leading, lines = self._every_line(stream, name)
        # Without a report an unreadable line has ended the reading.
        return leading, lines if self._report is None else filter(attrgetter("readable"), lines)

    def _every_line(self, stream: BinaryIO, name: str) -> tuple[str, Iterator[Line]]:
        """As ``_lines``, with those between them whose fault has been told of."""
        leading, lines = read_lines(
            stream,
            name,
            encoding=self.encoding,
            max_line_bytes=self.max_line_bytes,
            skip_lines=self.skip_lines,
            fault=self._fault,
        )
        return leading, lines if self._report is None else self._watched(lines, name)

    def _watched(self, lines: Iterator[Line], name: str) -> Iterator[Line]:
        for line in lines:
            text = line.text
            # Both at once, for nearly all lines hold none.
            if ("\0" in text or BYTE_ORDER_MARK in text) and line.readable:
                for character, problem in ODD_CHARACTERS.items():
                    if character in text:
                        self._warn(name, line.number, problem)
            yield line

    def _elements(self, text: str) -> list[str]:
        # Blanks around a cell come from the file's layout; as elements they would be noise.
        return self.input_tokenizer.split(text.strip(BETWEEN_WORDS))

    def _cell(self, text: str) -> Cell:
        text = text.strip(BETWEEN_WORDS)
        return None if not text or text == self.missing else text

    def _cells(self, text: str) -> Cell | list[Cell]:
        cell = self._cell(text)
        if cell is not None and self.label_tokenizer is not None:
            return [*self.label_tokenizer.split(cell)]
        if cell is None or self.target_tokenizer is None:
            return cell
        return [
            None if part == self.missing else part for part in self.target_tokenizer.split(cell)
        ]

    def _with_further(self, tokens: list[str], texts: list[str]) -> list[str]:
        """The tokens of the input with those of the further columns behind them."""
        more = (part for text in texts for part in self.further_tokenizer.split(text))
        return [*tokens, *(FURTHER + element for element in more)]

    def _features(self, cells: dict[Column, Any], count: int) -> dict[str, list[Any]]:
        """What the feature columns say of each of ``count`` elements.

        Args:
            cells: by column, a value for the whole row or a list with one per element.
            count: elements of the row.

        Raises:
            ValueError: a list has another length, or a number is none; the message holds no place.
        """
        found: dict[str, list[Any]] = {}
        for column, value in cells.items():
            entries = value if isinstance(value, list) else [value] * count
            if len(entries) != count:
                raise ValueError(
                    f"{len(entries)} values of the feature {column} for {count} elements"
                )
            numeric = column in self.numeric_features
            found[str(column)] = [self._feature(entry, numeric, column) for entry in entries]
        return found

    def _feature(self, entry: Any, numeric: bool, column: Column) -> Any:
        text = "" if entry is None else spell(entry).strip(BETWEEN_WORDS)
        if not numeric:
            return text
        try:
            return None if text in ("", self.missing) else parse_number(text)
        except ValueError as error:
            raise ValueError(f"the feature {column}: {error}") from None

    def _masked(self, targets: list[Any], mask: Any) -> list[Any]:
        """The targets, None where the mask, a string or a list of 0 and 1, says so."""
        switches = [SWITCHES.get(str(int(s)) if isinstance(s, bool) else str(s)) for s in mask]
        if None in switches:
            raise ValueError(
                f"data.mask={self.mask} holds {excerpt(str(mask))}; it must be made of "
                f"{MASKED} and {UNMASKED}"
            )
        if len(switches) != len(targets):
            raise ValueError(f"a mask of {len(switches)} for {len(targets)} elements")
        return [t if s else None for t, s in zip(targets, switches, strict=True)]

    def _by_element(self, row: Row, output: Output) -> list[tuple[Any, dict[str, float] | None]]:
        """The prediction for each element of the row, with its labels' probabilities."""
        count = element_count(row)
        if not isinstance(output.value, list) or len(output.value) != count:
            raise ValueError(
                f"{place(row)}: this format holds one prediction per element, {count} here, and "
                f"the model gives {excerpt(str(output.value))}; write it as tsv or jsonl"
            )
        return list(zip(output.value, output.probabilities or [None] * count, strict=True))

    def _combined(self, values: list[Any], count: int) -> Any:
        """The target of a row of ``count`` elements from the values of its columns.

        Args:
            values: of each column, a cell for the row or a list with one per element.
            count: elements of the row.

        Raises:
            ValueError: a list has another length; the message holds no place.
        """
        for value in values:
            own_length = self.sequence_tokenizer or self.label_tokenizer
            if not own_length and isinstance(value, list) and len(value) != count:
                raise ValueError(f"{len(value)} targets for {count} elements")
        if len(values) < 2:
            return next(iter(values), None)
        if not any(isinstance(value, list) for value in values):
            return values
        columns = [[None] * count if value is None else value for value in values]
        if not all(isinstance(column, list) for column in columns):
            raise ValueError("one target has a value per element, another one for the sequence")
        return [list(cells) for cells in zip(*columns, strict=True)]

    def _separated(self, value: Any, count: int) -> list[Any]:
        """The values of ``count`` columns from a target or prediction: undoes ``_combined``."""
        if count == 1:
            return [value]
        if not value:
            return [None] * count
        values = zip(*value, strict=True) if isinstance(value[0], list) else value
        columns = [list(column) if isinstance(column, tuple) else column for column in values]
        if len(columns) != count:
            raise ValueError(f"a prediction of {len(columns)} values for {count} target columns")
        return columns

    def _same(self, target: Any, prediction: Any) -> bool:
        """Whether a target that a file holds is the predicted one, however it is spelled."""
        if self.label_tokenizer and isinstance(target, list) and isinstance(prediction, list):
            return set(target) == set(prediction)  # labels of a sequence have no order
        if self.sequence_tokenizer and isinstance(prediction, str):
            predicted = self.sequence_tokenizer.split(prediction)
            if isinstance(target, str):
                return self.sequence_tokenizer.split(target) == predicted
            return bool(target == predicted)
        return bool(target == prediction)

    def _join(self, cells: list[str | int | float | None]) -> str:
        """One string of several cells, such that ``_cells`` gives them back."""
        tokenizer = self.label_tokenizer or self.target_tokenizer
        if tokenizer is None:
            raise ValueError(
                f"a prediction per element ({excerpt(str(cells))}) cannot be written into one cell "
                "while data.target_tokenizer is null; set data/target_tokenizer=whitespace"
            )
        texts = [self.missing if cell is None else spell(cell) for cell in cells]
        joined = tokenizer.join(texts)
        if tokenizer.split(joined) != texts:
            raise ValueError(
                f"the prediction {excerpt(joined)} does not split back into {len(texts)} elements; "
                "set data/target_tokenizer to one that does, or write it as jsonl"
            )
        return joined
