"""Rows with their predictions, written one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import BinaryIO

from seqtag.batch import Output, Row, place


class Writer(ABC):
    """Takes rows in order; what it writes is whole once it is closed."""

    @abstractmethod
    def add(self, row: Row, output: Output) -> None:
        """Take a row with what is predicted for it.

        Raises:
            ValueError: the format cannot hold the prediction.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what is still to be written; the stream stays open."""


class TextWriter(Writer):
    """Writes each row as soon as it is there.

    Args:
        stream: takes the bytes.
        spell: gives the text of a row with its prediction.
        encoding: of the text.
    """

    def __init__(
        self, stream: BinaryIO, spell: Callable[[Row, Output], str], encoding: str
    ) -> None:
        self._stream, self._spell, self._encoding = stream, spell, encoding

    def add(self, row: Row, output: Output) -> None:
        """See the base class."""
        text = self._spell(row, output)
        try:
            self._stream.write(text.encode(self._encoding))
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{place(row)}: {text[error.start]!r} cannot be written in "
                f"data.encoding={self._encoding}"
            ) from None

    def close(self) -> None:
        """See the base class."""
        self._stream.flush()
