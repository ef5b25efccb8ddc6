"""A table of an evaluation: rounded on the terminal, in full precision as CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqtag.report.tables import print_table, spell

NOTHING = "(nothing)"
"""What stands on the terminal where there is no label or span; a CSV file has an empty cell."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of plain values.

    Attributes:
        name: of its CSV file, and its key in ``errors.json``.
        title: stands above it on the terminal.
        columns: their names.
        rows: strings, numbers, or None for nothing.
        shown: how many of the rows the terminal has; None for all.
        shown_columns: which columns the terminal has; None for all.
        note: a line below it on the terminal.
        keyed: whether ``errors.json`` has an object by the first column, rather than a list.
        content: what ``errors.json`` has in the table's place; None for its rows.
        written: whether it has a CSV file; not where it is a part of another one.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    shown: int | None = None
    shown_columns: tuple[str, ...] | None = None
    note: str = ""
    keyed: bool = False
    content: Any = None
    written: bool = True

    def plain(self) -> Any:
        """As ``errors.json`` has it."""
        if self.content is not None:
            return self.content
        objects = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        if not self.keyed:
            return objects
        first = self.columns[0]
        return {found.pop(first): found for found in objects}

    def show(self) -> None:
        """Print it, if there is anything to be shown."""
        rows = self.rows[: self.shown]
        if not rows:
            return
        columns = self.columns if self.shown_columns is None else self.shown_columns
        places = [self.columns.index(column) for column in columns]
        print_table(
            self.title,
            # A name with blanks can be broken into lines where there is little room.
            [column.replace("_", " ").replace("/", " ") for column in columns],
            ([_cell(row[place]) for place in places] for row in rows),
        )
        if self.note:
            print(self.note)

    def write(self, folder: Path) -> None:
        """Write ``NAME.csv``; a number that is not defined is written as ``nan``."""
        if not self.written:
            return
        with (folder / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(self.rows)


def _cell(value: Any) -> str:
    """A value on the terminal; blanks must be seen, and nothing must not look like a label."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        small = value != 0 and abs(value) < 1e-3
        return f"{value:.3g}" if small or 1e6 <= abs(value) < float("inf") else spell(value)
    if isinstance(value, int):
        return f"{value:,}"
    return value if value.strip() else repr(value)
