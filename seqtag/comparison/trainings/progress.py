"""What is said while a comparison is trained."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from seqtag.comparison.trainings.plan import Cell


class Bar:
    """A bar over all cells on a terminal, and a line per finished cell everywhere, on stderr.

    Args:
        cells: of the comparison.
        processes: that train at once.
    """

    def __init__(self, cells: Sequence[Cell], *, processes: int) -> None:
        self._cells, self._processes = cells, processes
        self._left = set(range(len(cells)))
        self._running: dict[int, float] = {}
        self._seconds: dict[str, list[float]] = {}
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} trainings"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task("compare", total=len(cells), left="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._progress.stop()

    def started(self, number: int) -> None:
        """Name the cell beside the bar."""
        self._running[number] = time.monotonic()
        self._progress.update(self._task, description=str(self._cells[number]))

    def kept(self, number: int, scores: Mapping[str, float]) -> None:
        """Say that a cell was trained before."""
        self._finish(number, f"{_spell(scores)}kept from before")

    def trained(self, number: int, seconds: float, scores: Mapping[str, float]) -> None:
        """Say what a cell scored, and how long it took."""
        self._seconds.setdefault(self._cells[number].variant, []).append(seconds)
        self._finish(number, f"{_spell(scores)}{seconds:.0f} s")

    def failed(self, number: int, message: str) -> None:
        """Say why a cell failed."""
        self._finish(number, f"failed: {message}")

    def waiting(self) -> None:
        """Say anew how much time is left."""
        left = self.seconds_left()
        text = "" if left is None else f"left about {_clock(left)}"
        self._progress.update(self._task, left=text)

    def seconds_left(self) -> float | None:
        """By the mean of the finished cells of each variant; None while none is finished."""
        if not self._seconds:
            return None
        mean = {variant: statistics.mean(seconds) for variant, seconds in self._seconds.items()}
        other = statistics.mean(mean.values())
        total = 0.0
        for number in self._left:
            whole = mean.get(self._cells[number].variant, other)
            begun = self._running.get(number)
            total += whole if begun is None else max(0.0, whole - (time.monotonic() - begun))
        return total / min(self._processes, max(1, len(self._left)))

    def _finish(self, number: int, what: str) -> None:
        self._left.discard(number)
        self._running.pop(number, None)
        self._progress.update(self._task, advance=1)
        done, total = len(self._cells) - len(self._left), len(self._cells)
        self._console.print(
            f"[{done}/{total}] {self._cells[number]}: {what}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _spell(scores: Mapping[str, float]) -> str:
    return "".join(f"{name} {value:.4g}, " for name, value in scores.items())


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
