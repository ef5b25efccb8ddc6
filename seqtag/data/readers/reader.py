"""What every reader does: rows out of a file, and rows with predictions back into its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from seqtag.batch import Output, Row, place
from seqtag.data.readers.columns import Column
from seqtag.data.readers.lines import Line, check_encoding, excerpt, read_lines
from seqtag.data.readers.values import spell
from seqtag.data.tokenizers import BETWEEN_WORDS, Tokenizer

Cell = str | None
"""A target as text; None where it is missing."""


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
        missing: the cell that means "no target here".
        skip_lines: lines at the top of a file that are passed over and kept for writing.
        encoding: of the file; a byte order mark is dropped.
        max_line_bytes: a longer line is an error, so that a wrong file does not fill the memory.
    """

    input: Column | list[Column]
    target: Column | list[Column] | None
    read_target: bool
    input_tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None
    sequence_tokenizer: Tokenizer | None
    missing: str
    skip_lines: int
    encoding: str
    max_line_bytes: int

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        if self.max_line_bytes < 1:
            raise ValueError(f"data.max_line_bytes={self.max_line_bytes}: it must be 1 or more")
        if self.skip_lines < 0:
            raise ValueError(f"data.skip_lines={self.skip_lines}: it must be 0 or more")
        for key, columns in (("input", self.input), ("target", self.target)):
            if isinstance(columns, list) and not columns:
                raise ValueError(f"data.{key}=[]: the list names no column")
        if self.sequence_tokenizer and isinstance(self.target, list) and len(self.target) > 1:
            raise ValueError(
                f"data.target={self.target}: a target that is a sequence stands in one column"
            )

    @abstractmethod
    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield the rows of a stream, one by one, in order.

        Args:
            stream: bytes of the file.
            name: what messages call the file.

        Raises:
            ValueError: a line cannot be read; the message holds ``name:line`` and the line.
        """

    @abstractmethod
    def write(self, row: Row, output: Output) -> str:
        """The row's text in this format with the prediction in the target's place.

        Comments, other columns and everything else that the reader passed over are kept. A value
        that the file already has is left as it is spelled there. A file without any row has
        nowhere to keep such text, and is written as an empty one.

        Raises:
            ValueError: the format cannot hold the prediction.
        """

    def _lines(self, stream: BinaryIO, name: str) -> tuple[str, Iterator[Line]]:
        return read_lines(
            stream,
            name,
            encoding=self.encoding,
            max_line_bytes=self.max_line_bytes,
            skip_lines=self.skip_lines,
        )

    def _elements(self, text: str) -> list[str]:
        # Blanks around a cell come from the file's layout; as elements they would be noise.
        return self.input_tokenizer.split(text.strip(BETWEEN_WORDS))

    def _cell(self, text: str) -> Cell:
        text = text.strip(BETWEEN_WORDS)
        return None if not text or text == self.missing else text

    def _cells(self, text: str) -> Cell | list[Cell]:
        cell = self._cell(text)
        if cell is None or self.target_tokenizer is None:
            return cell
        return [
            None if part == self.missing else part for part in self.target_tokenizer.split(cell)
        ]

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
            own_length = self.sequence_tokenizer is not None
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
        if self.sequence_tokenizer and isinstance(prediction, str):
            predicted = self.sequence_tokenizer.split(prediction)
            if isinstance(target, str):
                return self.sequence_tokenizer.split(target) == predicted
            return bool(target == predicted)
        return bool(target == prediction)

    def _join(self, cells: list[str | int | float | None]) -> str:
        """One string of one cell per element, such that ``_cells`` gives them back."""
        if self.target_tokenizer is None:
            raise ValueError(
                f"a prediction per element ({excerpt(str(cells))}) cannot be written into one cell "
                "while data.target_tokenizer is null; set data/target_tokenizer=whitespace"
            )
        texts = [self.missing if cell is None else spell(cell) for cell in cells]
        joined = self.target_tokenizer.join(texts)
        if self.target_tokenizer.split(joined) != texts:
            raise ValueError(
                f"the prediction {excerpt(joined)} does not split back into {len(texts)} elements; "
                "set data/target_tokenizer to one that does, or write it as jsonl"
            )
        return joined
