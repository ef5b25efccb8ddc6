"""The lines at the top of a ``.ts`` file that say what its series are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from seqtag.batch import Row
from seqtag.data.readers.lines import BLANKS, excerpt

COMMENT, KEY = "#", "@"
DATA = "data"
SWITCHES = {"true": True, "false": False}
CLASSES, NUMBER = "classlabel", "targetlabel"


@dataclass(frozen=True)
class TsHeader:
    """What a ``.ts`` file says of its series.

    Attributes:
        labels: names of the labels; empty where it names none.
        labelled: whether a label or a number follows the last channel.
        dimensions: channels of each series; None where it does not say.
        equal_length: whether it says that all series are of one length.
    """

    labels: tuple[str, ...] = ()
    labelled: bool = False
    dimensions: int | None = None
    equal_length: bool = False

    @classmethod
    def of(cls, lines: dict[str, str]) -> Self:
        """The header of a file.

        Args:
            lines: by key, in lower case and without its ``@``, what stands behind it.

        Raises:
            ValueError: it says that there are timestamps, or a value is none that its key can
                have; the message holds no place.
        """
        if _switch(lines, "timestamps"):
            raise ValueError(
                "@timestamps true: series with a time for each value are not read; give values at "
                "even steps"
            )
        labels: tuple[str, ...] = ()
        if _switch(lines, CLASSES):
            labels = tuple(lines[CLASSES].split()[1:])
            if not labels:
                raise ValueError("@classLabel true: the names of the labels must follow")
        dimensions = 1 if _switch(lines, "univariate") else None
        for key in ("dimensions", "dimension"):
            if key in lines:
                dimensions = _count(key, lines[key])
        return cls(
            labels=labels,
            labelled=bool(labels) or _switch(lines, NUMBER),
            dimensions=dimensions,
            equal_length=_switch(lines, "equallength"),
        )

    def unnamed(self, labels: Iterable[str]) -> list[str]:
        """Those of the labels that the file does not name, where it names any."""
        if self.labelled and not self.labels:
            return []  # any number can follow
        return [label for label in labels if label not in self.labels]


class TsRow(Row, total=False):
    """A series of a file that says what its series are."""

    header: TsHeader


def split_header(text: str) -> tuple[str, str]:
    """Key, in lower case and without its ``@``, and value of a line of the header."""
    key, _, value = text.strip(BLANKS).replace("\t", " ").partition(" ")
    return key.removeprefix(KEY).lower(), value.strip(BLANKS)


def _switch(lines: dict[str, str], key: str) -> bool:
    value = lines.get(key, "false")
    word = (value.split() or [""])[0].lower()
    if word not in SWITCHES:
        raise ValueError(f"@{key} {excerpt(value)}: it must be true or false")
    return SWITCHES[word]


def _count(key: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < len(value) < 10 and int(value)):
        raise ValueError(f"@{key} {excerpt(value)}: it must be a number of channels, 1 or more")
    return int(value)


def announce(text: str, names: list[str]) -> str:
    """A header that says what follows the last channel of each series.

    Args:
        text: the verbatim header.
        names: of all labels; empty where numbers follow.
    """
    key = CLASSES if names else NUMBER
    said = f"{KEY}classLabel true {' '.join(names)}" if names else f"{KEY}targetLabel true"
    lines = text.splitlines(keepends=True)
    keys = [split_header(line.rstrip("\r\n"))[0] if line[0] == KEY else "" for line in lines]
    place = keys.index(key) if key in keys else keys.index(DATA)
    end = lines[place][len(lines[place].rstrip("\r\n")) :]
    lines[place : place + (key in keys)] = [said + end]
    return "".join(lines)
