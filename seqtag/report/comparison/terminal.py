"""A comparison on the terminal: one table where it is wide enough, else several below another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqtag.comparison.comparison import Comparison
from seqtag.report.comparison.tables import (
    FLOOR,
    Cell,
    Grid,
    cost_columns,
    floors,
    join,
    other_columns,
    other_metrics,
    score_columns,
    spoken_of,
    width,
    words_at_once,
)
from seqtag.report.comparison.text import counted
from seqtag.report.lettering import plain

LONGEST_NAME = 24
"""Columns of a contender's name; a longer one is folded."""

FRAME = 3
"""Columns that stand between two cells."""


def print_comparison(comparison: Comparison) -> None:
    """Print to stdout the tables, the verdicts, and what a reader must know."""
    # Nothing that stands in a file is markup, an emoji's name, or something to be coloured.
    console = Console(markup=False, highlight=False, emoji=False)
    _line(console, headline(comparison))
    grid = join(score_columns(comparison), cost_columns(comparison))
    if other_metrics(comparison):
        grid = join(grid, other_columns(comparison, intervals=False))
    for part in _fitting(grid, console.width):
        console.print(_table(part))
    for name, meaning in floors(comparison):
        _line(console, f"{name} ({FLOOR}): {meaning}")
    shown = words_at_once(comparison)
    for one in spoken_of(comparison):
        more = len(one.words) - shown
        rest = [f"and {more:,} more in the report"] if more > 0 else []
        _section(console, one.name, [*one.words[:shown], *rest])
    _section(console, "To know", comparison.notes)
    _section(console, "Left out", [f"{run}: {why}" for run, why in comparison.skipped.items()])


def headline(comparison: Comparison) -> str:
    """What is compared, by what, and what the intervals are."""
    better = "higher" if comparison.higher_is_better else "lower"
    return (
        f"{comparison.metric} on {comparison.split}, {counted(comparison.rows, 'row')}; "
        f"{better} is better; intervals of 95 per cent by "
        f"{comparison.resamples:,} resamples of the rows"
    )


def _line(console: Console, text: str, indent: int = 0) -> None:
    """Wrapped, and indented all along."""
    for part in Text(plain(text)).wrap(console, console.width - indent):
        part.rstrip()
        console.print(Text(" " * indent) + part)


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print()
    _line(console, title)
    for line in lines:
        _line(console, line, indent=2)


def _fitting(grid: Grid, wide: int) -> Iterator[Grid]:
    """The table cut between columns, so that each part, with the names, fits."""
    names = range(grid.names)
    room = wide - 1 - sum(_width(grid, column) + FRAME for column in names)
    begin = grid.names
    while begin < len(grid.columns):
        end, left = begin, room
        while end < len(grid.columns) and (end == begin or _width(grid, end) + FRAME <= left):
            left -= _width(grid, end) + FRAME
            end += 1
        columns = [*names, *range(begin, end)]
        yield Grid(
            [grid.columns[column] for column in columns],
            [[row[column] for column in columns] for row in grid.rows],
            grid.names,
        )
        begin = end


def _width(grid: Grid, column: int) -> int:
    texts = [grid.columns[column], *(_shown(row[column]) for row in grid.rows)]
    return min(width(texts), LONGEST_NAME) if column < grid.names else width(texts)


def _table(grid: Grid) -> Table:
    table = Table()
    for number, name in enumerate(grid.columns):
        named = 0 < number < grid.names
        table.add_column(
            Text(plain(name)),
            justify="left" if named else "right",
            overflow="fold",
            max_width=LONGEST_NAME if named else None,
        )
    for row in grid.rows:
        table.add_row(*_texts(row))
    return table


def _texts(row: Sequence[Cell]) -> Iterator[Text]:
    dim = any(cell.floor for cell in row)
    for cell in row:
        yield Text(_shown(cell), style="dim" if dim else "")


def _shown(cell: Cell) -> str:
    return f"{plain(cell.text)} ({FLOOR})" if cell.floor else plain(cell.text)
