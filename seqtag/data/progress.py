"""How far the preparation of data has come, for those who wait."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

PATIENCE = 1.0
"""Seconds of work before anything is shown."""

ROWS_BETWEEN_LOOKS = 500

T = TypeVar("T")


def watched(rows: Iterable[T], title: str, total: int | None) -> Iterator[T]:
    """Yield the rows, and on a terminal show how many there were.

    Args:
        rows: what is worked on.
        title: what is done with them.
        total: how many there are; None where nobody knows.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from rows
        return
    begin = time.monotonic()
    bar: Progress | None = None
    count = 0
    try:
        for count, row in enumerate(rows, 1):
            if count % ROWS_BETWEEN_LOOKS == 0:
                if bar is None and time.monotonic() - begin > PATIENCE:
                    bar = _bar(console)
                    bar.add_task(title, total=total, rows=0)
                    bar.start()
                if bar is not None:
                    bar.update(bar.task_ids[0], completed=count, rows=count)
            yield row
    finally:
        if bar is not None:
            bar.stop()


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
