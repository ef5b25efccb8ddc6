"""Scores as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqtag.floors.fitted import KINDS
from seqtag.floors.floor import ConstantFloor
from seqtag.report.lettering import plain

SPLITS = ("dev", "test")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text to stdout; the first column to the left, the others to the right."""
    print(title)
    # Text, since a label such as [b] would be taken for markup.
    table = Table()
    for number, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    Console().print(table)


def print_scores(metrics: Mapping[str, float], floors: Mapping[str, float]) -> None:
    """Print the scores of each split, beside those of every floor.

    Args:
        metrics: as ``<split>/<metric>``.
        floors: as ``<floor>/<split>/<metric>``.
    """
    splits = [split for split in SPLITS if any(name.startswith(f"{split}/") for name in metrics)]
    kinds = [kind for kind in KINDS if any(name.startswith(f"{kind.name}/") for name in floors)]
    begin = f"{ConstantFloor.name}/{splits[0]}/"
    names = [name.removeprefix(begin) for name in floors if name.startswith(begin)]
    columns = ["score"]
    for split in splits:
        columns += [split, *(f"{split} {kind.heading}" for kind in kinds)]
    rows = []
    for name in names:
        row = [name]
        for split in splits:
            row.append(spell(metrics.get(f"{split}/{name}")))
            row += [spell(floors.get(f"{kind.name}/{split}/{name}")) for kind in kinds]
        rows.append(row)
    print_table("scores", columns, rows)
    for kind in kinds:
        print(f"{kind.heading}: {kind.meaning}")


def spell(value: float | None) -> str:
    """A score with four decimals; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.4f}"
