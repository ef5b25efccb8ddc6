"""Lines of files in UTF-8 that describe symbols, each with its number."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from itertools import count

from seqtag.data.readers.files import open_stream
from seqtag.data.readers.lines import bad_line

LONGEST_LINE = 1 << 20
"""Bytes; a wrong file is not to fill the memory."""


def byte_lines(path: str) -> Iterator[tuple[int, bytes]]:
    r"""The lines of a file, compressed or not, from 1 on, without byte order mark and line end.

    Lines end at ``\n`` or ``\r\n`` and nowhere else.

    Raises:
        ValueError: the file cannot be opened or is damaged, a line is longer than
            ``LONGEST_LINE`` or holds a carriage return inside.
    """
    with open_stream(path) as stream:
        for number in count(1):
            try:
                line = stream.readline(LONGEST_LINE + 1)
            except (EOFError, zlib.error, OSError) as error:
                raise ValueError(
                    f"{path}:{number}: the file is damaged or cut off ({error})"
                ) from None
            if not line:
                return
            if len(line) > LONGEST_LINE:
                raise bad_line(
                    path, number, f"the line is longer than {LONGEST_LINE:,} bytes", line
                )
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            if b"\r" in line:
                problem = "a carriage return inside the line; convert the file's line ends to \\n"
                raise bad_line(path, number, problem, line)
            yield number, line


def decode(path: str, number: int, text: bytes) -> str:
    """The text of a line, or of part of it.

    Raises:
        ValueError: it is not UTF-8.
    """
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not utf-8; convert the file"
        raise bad_line(path, number, problem, text) from None
