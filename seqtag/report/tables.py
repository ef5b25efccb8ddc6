"""Scores as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

SPLITS = ("dev", "test")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text to stdout; the first column to the left, the others to the right."""
    print(title)
    # Text, since a label such as [b] would be taken for markup.
    table = Table()
    for number, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_scores(metrics: Mapping[str, float], floors: Mapping[str, float]) -> None:
    """Print the scores of each split, beside those of what is most frequent, or the mean."""
    splits = [split for split in SPLITS if any(name.startswith(f"{split}/") for name in metrics)]
    names = [name.partition("/")[2] for name in floors if name.startswith(f"{splits[0]}/")]
    columns = [
        "score",
        *(c for split in splits for c in (split, f"{split} floor")),
    ]
    rows = [
        [
            name,
            *(
                spell(scores.get(f"{split}/{name}"))
                for split in splits
                for scores in (metrics, floors)
            ),
        ]
        for name in names
    ]
    print_table("scores (floor: the most frequent label or symbols, or the mean)", columns, rows)


def spell(value: float | None) -> str:
    """A score with four decimals; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.4f}"
