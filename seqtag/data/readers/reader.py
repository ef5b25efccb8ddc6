"""What every reader does: rows out of a file, and rows with predictions back into its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, ClassVar, Protocol

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import Beside
from seqtag.data.readers.cell_values import CellValues
from seqtag.data.readers.columns import Column
from seqtag.data.readers.files import find_files, open_stream, refuse_mixture
from seqtag.data.readers.lines import (
    BYTE_ORDER_MARK,
    Line,
    check_encoding,
    read_lines,
)
from seqtag.data.readers.writer import TextWriter, Writer
from seqtag.data.tokenizers import Tokenizer

ODD_CHARACTERS = {
    "\0": "a NUL character; is this a text file?",
    BYTE_ORDER_MARK: "a byte order mark (U+FEFF) inside the file, which is read as text",
}
"""Characters that are read like any other, and are hardly ever meant."""


class Report(Protocol):
    """What is told of the faults of a file, where the reading shall go on after them."""

    def error(self, message: str) -> None:
        """Something that cannot be read."""

    def warning(self, message: str) -> None:
        """Something that can, and is likely not meant."""


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
        self.values = CellValues(
            input_tokenizer=self.input_tokenizer,
            target_tokenizer=self.target_tokenizer,
            sequence_tokenizer=self.sequence_tokenizer,
            label_tokenizer=self.label_tokenizer,
            further_tokenizer=self.further_tokenizer,
            numeric_features=self.numeric_features,
            mask=self.mask,
            missing=self.missing,
        )
        check_encoding(self.encoding)
        if self.max_line_bytes < 1:
            raise ValueError(f"data.max_line_bytes={self.max_line_bytes}: it must be 1 or more")
        if self.skip_lines < 0:
            raise ValueError(f"data.skip_lines={self.skip_lines}: it must be 0 or more")
        if self.input is None:
            raise ValueError("data.input=null: name the column of the input")
        for key in ("features", "numeric_features", "further_input", "references"):
            for column in getattr(self, key):
                if isinstance(column, bool) or not isinstance(column, int | str):
                    raise ValueError(f"data.{key} holds {column!r}, which is no column")
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

    @property
    def several_references(self) -> bool:
        """Whether rows may have several targets that are as right."""
        return bool(self.references)

    def paths(self, given: str) -> list[Path]:
        """The files that a split of the config names.

        Raises:
            ValueError: there is none, or a folder has files of several kinds.
        """
        files = find_files(given)
        refuse_mixture(given, files)
        return files

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

    def beside(self, rows: Iterable[Row]) -> Beside | None:
        """Where the format has room for predictions, so that the file's own targets stay.

        Args:
            rows: those of the file, as ``read`` gives them; read at most once.

        Returns:
            None where there is no such place: predictions then can only stand in the target's.
        """
        return None

    @contextmanager
    def opened(self, part: str) -> Iterator[Iterator[Row]]:
        """The rows of one of ``parts``, whose files stay open for as long as the context lasts."""
        with open_stream(part) as stream:
            yield self.read(stream, part)

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
