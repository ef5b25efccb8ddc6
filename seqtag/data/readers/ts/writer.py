"""Series with their predicted labels, behind a header that names them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row, place
from seqtag.data.readers.ts.header import TsHeader, TsRow, announce
from seqtag.data.readers.writer import Writer

IN_MEMORY = 1_000_000
"""Bytes of series that are held in memory; more go to a file, until the header is known."""


class TsWriter(Writer):
    """Keeps the series until the end, since the header before them names all labels.

    Args:
        stream: takes the bytes.
        spell: gives the verbatim lines of a series with its prediction.
        names: gives the labels in a prediction.
        encoding: of the text.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        spell: Callable[[Row, Output], str],
        names: Callable[[Any], list[str]],
        encoding: str,
    ) -> None:
        self._stream, self._spell, self._names, self._encoding = stream, spell, names, encoding
        self._body = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (close() closes it)
        self._leading = ""
        self._header: TsHeader | None = None
        self._added: dict[str, None] = {}

    def add(self, row: Row, output: Output) -> None:
        """See the base class."""
        if self._header is None:
            self._header, self._leading = cast(TsRow, row)["header"], row["leading"]
        for name in self._header.unnamed(self._names(output.value)):
            if name.split() != [name]:
                raise ValueError(f"{place(row)}: @classLabel cannot name {name!r}, for its blanks")
            self._added[name] = None
        try:
            self._body.write(self._spell(row, output).encode(self._encoding))
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{place(row)}: {error.object[error.start]!r} cannot be written in "
                f"data.encoding={self._encoding}"
            ) from None

    def close(self) -> None:
        """See the base class."""
        header, leading = self._header, self._leading
        if header is not None and (self._added or not header.labelled):
            leading = announce(leading, [*header.labels, *sorted(self._added)])
        self._stream.write(leading.encode(self._encoding))
        self._body.seek(0)
        shutil.copyfileobj(self._body, self._stream)
        self._body.close()
        self._stream.flush()
