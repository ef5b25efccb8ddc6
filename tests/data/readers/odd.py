"""A row of the table of malformed and odd files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seqtag.data.readers.reader import Reader


@dataclass
class Odd:
    """One file and what is to come of it.

    Args:
        name: what is odd.
        reader: with the settings it is read with.
        data: the file.
        rows: elements and target of every row, with features and references where it has any.
        errors: what is told while the file is read to its end; without, the first is raised.
        warnings: what is told beside.
        raises: what is raised either way, where the bytes cannot be read on.
    """

    name: str
    reader: Reader
    data: bytes
    rows: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    raises: str | None = None
