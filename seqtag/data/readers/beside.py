"""Predictions beside the targets that a file has, rather than in their place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import BinaryIO, NamedTuple

from seqtag.data.readers.columns import Column, listed
from seqtag.data.readers.writer import Writer

PREDICTED = "predicted"
"""Name of the column or key, where the file has none of that name."""

BEYOND = 10**9
"""Number of a column that no line has: what is written there becomes a new one at its end."""


class Beside(NamedTuple):
    """How a format holds both.

    Attributes:
        place: where predictions stand, for people.
        writer: takes the stream to write to, then each row with its prediction.
    """

    place: str
    writer: Callable[[BinaryIO], Writer]


def fresh_names(
    targets: Column | list[Column] | None, taken: Collection[str], name: str = PREDICTED
) -> list[str]:
    """A name for the prediction of each target column, such that the file has none of them.

    Args:
        targets: the columns.
        taken: names that the file has.
        name: that is wanted.
    """
    columns = listed(targets)
    several = len(columns) > 1
    wanted = [f"{name}_{column}" if several else name for column in columns or [""]]
    held = set(taken)
    found = []
    for begin in wanted:
        number = 1
        made = begin
        while made in held:
            number += 1
            made = f"{begin}_{number}"
        held.add(made)
        found.append(made)
    return found


def further_columns(targets: Column | list[Column] | None) -> list[Column]:
    """Numbers of new columns at the end of a line, one for each target column."""
    return [BEYOND + number for number in range(max(1, len(listed(targets))))]


def spell_place(kind: str, names: Sequence[str]) -> str:
    """Where predictions stand: ``the column predicted``."""
    return f"the {kind}{'s' if len(names) > 1 else ''} {', '.join(names)}"
