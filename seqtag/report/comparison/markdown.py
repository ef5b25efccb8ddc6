"""A comparison as Markdown, for a repository or an issue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from seqtag.comparison.comparison import Comparison, Disagreement, Example
from seqtag.report.comparison.numbers import spell_number
from seqtag.report.comparison.tables import (
    FLOOR,
    Grid,
    cost_columns,
    environment_rows,
    floors,
    join,
    other_columns,
    other_metrics,
    pair_columns,
    places_of,
    score_columns,
    setting_columns,
    spoken_of,
)
from seqtag.report.comparison.terminal import headline
from seqtag.report.comparison.text import WHOSE, counted, markdown

PAIRS = 100
"""Pairs in the table; ``results.json`` has all."""


def spell_markdown(comparison: Comparison) -> bytes:
    """The tables and the words of the page, without its pictures."""
    text = "\n".join(_lines(comparison)) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _lines(comparison: Comparison) -> Iterator[str]:
    yield "# Comparison"
    yield from ("", f"{markdown(headline(comparison))}.")
    if comparison.notes:
        yield from ("", "To know:", "", *_list(comparison.notes))
    yield from ("", *_table(join(score_columns(comparison), cost_columns(comparison))))
    if meanings := floors(comparison):
        yield from ("", *_list(f"{name} ({FLOOR}): {meaning}" for name, meaning in meanings))
    if spoken := spoken_of(comparison):
        yield from ("", "## In words", "")
        for one in spoken:
            yield from _list([one.name])
            yield from (f"  {line}" for line in _list(one.words))
    if other_metrics(comparison):
        yield from ("", "## Other scores", "")
        yield from _table(other_columns(comparison, intervals=False))
    if comparison.pairs:
        grid = pair_columns(comparison)
        yield from ("", "## Pairs", "", *_table(Grid(grid.columns, grid.rows[:PAIRS], grid.names)))
        if (more := len(grid.rows) - PAIRS) > 0:
            yield from ("", f"{counted(more, 'further pair')}: results.json.")
    if comparison.disagreements:
        yield from ("", "## Where they differ", "", WHOSE)
        for two in comparison.disagreements:
            yield from _disagreement(comparison, two)
    settings = setting_columns(comparison)
    if settings.rows and len(settings.columns) > settings.names:
        yield from ("", "## Settings that differ", "", *_table(settings))
    if comparison.skipped:
        yield from ("", "## Left out", "")
        yield from _list(f"{run}: {why}" for run, why in comparison.skipped.items())
    if rows := environment_rows(comparison.environment):
        yield from ("", "## Environment", "", *_list(f"{name}: {value}" for name, value in rows))


def _disagreement(comparison: Comparison, two: Disagreement) -> Iterator[str]:
    first, second = markdown(two.first), markdown(two.second)
    yield from ("", f"### {first} and {second}", "")
    yield (
        f"{first} is ahead on {counted(two.first_better, 'row')}, {second} on "
        f"{two.second_better:,}; {two.alike:,} are alike."
    )
    for ahead, examples in ((first, two.for_first), (second, two.for_second)):
        if examples:
            columns = ["place", "input", "gold", two.first, two.second, "scores"]
            cells = (_example(comparison, example) for example in examples)
            yield from ("", f"{ahead} ahead:", "", *_rows(columns, cells))


def _example(comparison: Comparison, example: Example) -> list[str]:
    places = places_of(comparison, comparison.metric)
    scores = ", ".join(spell_number(score, places) for score in example.scores)
    return [
        example.place or f"row {example.row}",
        example.input,
        example.gold,
        example.first,
        example.second,
        scores,
    ]


def _table(grid: Grid) -> Iterator[str]:
    rows = (
        [f"{cell.text} ({FLOOR})" if cell.floor else cell.text for cell in row] for row in grid.rows
    )
    yield from _rows(grid.columns, rows, numbers=len(grid.columns) - grid.names)


def _rows(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0
) -> Iterator[str]:
    """Lines of a table whose last columns hold numbers."""
    yield f"| {' | '.join(map(markdown, columns))} |"
    yield "|" + "---|" * (len(columns) - numbers) + "---:|" * numbers
    for row in rows:
        yield f"| {' | '.join(map(markdown, row))} |"


def _list(lines: Iterable[str]) -> Iterator[str]:
    yield from (f"- {markdown(line)}" for line in lines)
