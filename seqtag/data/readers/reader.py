"""What every reader does: rows out of a file, and rows with predictions back into its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.tokenizers import Tokenizer

Column = int | str
"""A column by its number, from 0, or by its name."""


@dataclass(kw_only=True)
class Reader(ABC):
    """Rows of one file format.

    Args:
        input: the column of the input; several where each element's numbers stand in columns.
        target: the column of the target; several for a target of several numbers; None where the
            file has no target.
        input_tokenizer: splits an input that the format holds as one string.
        target_tokenizer: splits a target that the format holds as one string into one cell per
            element; None where the target is of the whole sequence.
        missing: the cell that means "no target here".
        skip_lines: lines at the top of a file that are passed over and kept for writing.
        encoding: of the file; a byte order mark is dropped.
        max_line_bytes: a longer line is an error, so that a wrong file does not fill the memory.
    """

    input: Column | list[Column]
    target: Column | list[Column] | None
    input_tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None
    missing: str
    skip_lines: int
    encoding: str
    max_line_bytes: int

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

        Comments, other columns and everything else that the reader passed over are kept.
        """
