"""Files as numbered lines of text, each with its verbatim spelling."""

from __future__ import annotations

import string
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

BYTE_ORDER_MARK = "\ufeff"
BLANKS = " \t"
LINE_ENDS = "\r\n"
EXCERPT = 70
"""Characters of a bad line that a message shows."""


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """From 1."""
    text: str
    """Without its line end."""
    raw: str
    """With its line end, as it stands in the file."""
    readable: bool = True
    """False for a line whose fault was told of, and whose text is not all that it holds."""


def check_encoding(encoding: str) -> None:
    """Refuse an encoding whose files cannot be cut into lines before they are decoded.

    Raises:
        ValueError: Python does not know the encoding, or it spells ASCII in other bytes.
    """
    try:
        # UTF-16 and UTF-32 hold the byte of "\n" inside other characters.
        compatible = string.printable.encode(encoding) == string.printable.encode("ascii")
    except (LookupError, UnicodeError):
        raise ValueError(f"data.encoding={encoding}: no such text encoding; try utf-8") from None
    if not compatible:
        raise ValueError(
            f"data.encoding={encoding}: only encodings that spell ASCII as ASCII are read; "
            "convert the file to utf-8 (a byte order mark at its start is dropped)"
        )


Fault = Callable[[ValueError], None]
"""Told of a line that cannot be read: raises, or returns for the reading to go on."""


def read_lines(
    stream: BinaryIO,
    name: str,
    *,
    encoding: str,
    max_line_bytes: int,
    skip_lines: int,
    fault: Fault,
) -> tuple[str, Iterator[Line]]:
    r"""The text that is passed over at the top of a file, and the lines after it.

    Lines end at ``\n`` or ``\r\n`` and nowhere else: a form feed, NEL or U+2028 is text.

    Args:
        stream: bytes of the file; no more of it is read than the lines that were asked for.
        name: what messages call the file.
        encoding: of the file.
        max_line_bytes: the longest line, line end included.
        skip_lines: lines that are passed over.
        fault: told of lines that do not decode, are too long, or hold a ``\r`` inside. Where it
            returns, the line comes all the same, marked as not readable.

    Returns:
        The byte order mark and the skipped lines, verbatim; and the lines that follow.

    Raises:
        ValueError: on reading, where the bytes end before their time.
    """
    lines = _decoded_lines(stream, name, encoding, max_line_bytes, fault)
    first = next(lines, None)
    if first is None:
        return "", lines
    leading = ""
    if first.raw.startswith(BYTE_ORDER_MARK):
        leading = BYTE_ORDER_MARK
        first = Line(first.number, first.text[1:], first.raw[1:], first.readable)
    if first.raw:
        lines = chain([first], lines)
    leading += "".join(line.raw for line in islice(lines, skip_lines))
    return leading, lines


def _decoded_lines(
    stream: BinaryIO, name: str, encoding: str, max_line_bytes: int, fault: Fault
) -> Iterator[Line]:
    # One byte more than allowed tells a line that is too long without reading all of it.
    pieces = iter(partial(stream.readline, max_line_bytes + 1), b"")
    number = 0
    try:
        for number, piece in enumerate(pieces, 1):
            readable = True
            if len(piece) > max_line_bytes:
                problem = f"the line is longer than data.max_line_bytes={max_line_bytes}"
                fault(bad_line(name, number, problem, piece))
                _pass_over(stream, piece, max_line_bytes)
                piece, readable = piece[:EXCERPT] + b"\n", False
            try:
                raw = piece.decode(encoding)
            except UnicodeDecodeError as error:
                if readable:
                    fault(_undecodable(name, number, piece, encoding, error.start))
                raw, readable = piece.decode(encoding, errors="replace"), False
            text = raw.removesuffix("\n").removesuffix("\r")
            if readable and "\r" in text:
                # A file with the line ends of old Macs would else be one line, misread in silence.
                problem = "a carriage return inside the line; convert the file's line ends to \\n"
                fault(bad_line(name, number, problem, text))
                readable = False
            yield Line(number, text, raw, readable)
    except (EOFError, zlib.error, OSError) as error:
        problem = "the file is damaged or cut off"
        raise ValueError(f"{name}:{number + 1}: {problem} ({error})") from None


def _pass_over(stream: BinaryIO, piece: bytes, size: int) -> None:
    """Read on to the end of a line."""
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(size)


def _undecodable(name: str, number: int, piece: bytes, encoding: str, start: int) -> ValueError:
    problem = f"byte {start + 1} is not {encoding}; convert the file or set data.encoding"
    return bad_line(name, number, problem, piece[max(0, start - EXCERPT // 2) :])


def split_line_end(raw: str) -> tuple[str, str]:
    """The text of a verbatim line, and its line end."""
    text = raw.removesuffix("\n").removesuffix("\r")
    return text, raw[len(text) :]


def bad_line(name: str, number: int, problem: str, text: str | bytes) -> ValueError:
    """The error for a line that cannot be read: where, what, and the line, shortened."""
    return ValueError(f"{name}:{number}: {problem}: {excerpt(text)}")


def excerpt(text: str | bytes) -> str:
    """The start of a text, spelled so that every character shows."""
    dots = "..." if len(text) > EXCERPT else ""
    return f"{text[:EXCERPT]!r}{dots}"
