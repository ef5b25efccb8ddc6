"""Columns by number or by name, found in the lines of one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seqtag.data.readers.lines import excerpt

Column = int | str
"""A column by its number, from 0 (negative: from the end), or by its name."""


def listed(columns: Column | list[Column] | None) -> list[Column]:
    """One column, several, or none, as a list."""
    if columns is None:
        return []
    return columns if isinstance(columns, list) else [columns]


def counted(count: int) -> str:
    """A number of columns in words, for messages."""
    return f"{count} column{'' if count == 1 else 's'}"


def find_column(column: Column, count: int, header: list[str] | None) -> int | None:
    """The index of a column in lines of ``count`` cells; None where they have no such column.

    Args:
        column: its number or name.
        count: cells of each line.
        header: names of the columns, or None where the file has none.

    Raises:
        ValueError: the name stands in the header more than once; the message holds no place.
    """
    if isinstance(column, str):
        if header is None or column not in header:
            return None
        if header.count(column) > 1:
            raise ValueError(f"the header has {column!r} {header.count(column)} times")
        return header.index(column)
    return column % count if -count <= column < count else None


READ = frozenset({"features", "numeric_features", "further_input"})
"""Keys of columns that a model reads beside the input."""


def find_target(
    column: Column, count: int, header: list[str] | None, inputs: list[int]
) -> int | None:
    """The index of a target's column; None where the file lacks it.

    Counted from the end, a column that is not there would be found in the input itself.
    """
    index = find_column(column, count, header)
    return None if index in inputs else index


def refuse(format_name: str, columns: Mapping[str, Sequence[Column]], instead: str) -> None:
    """Refuse settings of columns that a format cannot have.

    Args:
        format_name: what the message calls it.
        columns: by key of ``data``, those that are set.
        instead: what to do.

    Raises:
        ValueError: one is set.
    """
    for key, given in columns.items():
        if given:
            named = ", ".join(str(column) for column in given)
            raise ValueError(f"data.{key}={named}: {format_name} no column for it; {instead}")


@dataclass(frozen=True)
class Table:
    """Where the columns of one file stand, as its first line says.

    Attributes:
        line: number of that line.
        count: its cells.
        inputs: indexes of the input's columns.
        targets: indexes of the target's columns.
        others: indexes of all other columns that are read.
        indexes: all of them by column.
    """

    line: int
    count: int
    inputs: list[int]
    targets: list[int]
    others: dict[Column, int]
    indexes: dict[Column, int]

    @classmethod
    def of(
        cls,
        line: int,
        count: int,
        header: list[str] | None,
        *,
        inputs: list[Column],
        targets: list[Column],
        others: Mapping[str, Sequence[Column]],
    ) -> Table:
        """Find every column that is to be read.

        Args:
            line: number of the line that says how many columns there are.
            count: cells of that line.
            header: names of the columns, or None where the file has none.
            inputs: columns of the input.
            targets: columns of the target.
            others: all other columns, by key of ``data``.

        Raises:
            ValueError: there is no such column; the message holds no place.
        """
        there = f"the line has {counted(count)}"
        if header is not None:
            there = f"the header has {excerpt(', '.join(header))}"
        table = cls(line, count, [], [], {}, {})
        for column in inputs:
            index = find_column(column, count, header)
            if index is None:
                raise ValueError(f"data.input={column}: no such column, {there}")
            table.inputs.append(index)
        for column in targets:
            index = find_target(column, count, header, table.inputs)
            if index is None:
                raise ValueError(
                    f"data.target={column}: no such column besides the input's, {there}"
                )
            table.targets.append(index)
        for key, columns in others.items():
            for column in columns:
                index = find_column(column, count, header)
                if index is None:
                    raise ValueError(f"data.{key}={column}: no such column, {there}")
                if index in table.targets and key in READ:
                    raise ValueError(
                        f"data.{key}={column} is the target's column too; a model must not read "
                        "what it is to predict"
                    )
                table.others[column] = index
        table.indexes.update(table.others)
        table.indexes.update(zip(inputs, table.inputs, strict=True))
        table.indexes.update(zip(targets, table.targets, strict=True))
        return table

    def pick(self, cells: list[str]) -> dict[Column, str]:
        """The cells of a line that are read, by column.

        Raises:
            ValueError: the line has another number of columns; the message holds no place.
        """
        self.check(cells)
        return {column: cells[index] for column, index in self.indexes.items()}

    def check(self, cells: list[str]) -> None:
        """Refuse a line with another number of columns.

        Raises:
            ValueError: with both numbers; the message holds no place.
        """
        if len(cells) != self.count:
            raise ValueError(f"{counted(len(cells))} where line {self.line} has {self.count}")
