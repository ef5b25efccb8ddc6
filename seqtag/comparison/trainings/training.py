"""Trains the cells of a comparison in one folder, and keeps what is finished there."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from seqtag.comparison.trainings.cells import FOLDERS, CellFolder, locked, read_metrics, settings_of
from seqtag.comparison.trainings.checks import Checked, check_cells
from seqtag.comparison.trainings.plan import Cell, Compose, Finish, plan
from seqtag.comparison.trainings.progress import Bar
from seqtag.comparison.trainings.runner import Job, run_jobs
from seqtag.device import choose_device
from seqtag.training.run_directory import kind_of

FUNCTION = "seqtag.comparison.trainings.cells:train_cell"

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Trained:
    """What became of a comparison's trainings.

    Attributes:
        folder: of the comparison.
        runs: the run directory of each finished cell, with the name of its variant.
        failures: the message of each cell that failed, by what the cell is called.
        cells: how many there are.
    """

    folder: Path
    runs: dict[Path, str]
    failures: dict[str, str]
    cells: int


def train_cells(
    config: Mapping[str, Any], overrides: Sequence[str], *, compose: Compose, finish: Finish
) -> Trained | None:
    """Train every variant with every seed, and on every fold; what was finished before is kept.

    Args:
        config: of the command.
        overrides: what the command line said, in Hydra's syntax.
        compose: makes a training's config.
        finish: makes it plain.

    Returns:
        What became of it; None for a dry run, which ends after the checks.

    Raises:
        ValueError: a key or a variant is wrong, and nothing was trained; or another comparison is
            at work in the folder.
    """
    base, cells = plan(config, overrides, compose=compose, finish=finish)
    processes, threads = share_cores(config["processes"], cells)
    checked = check_cells(cells, split=config["split"], score=config["score"])
    if config["dry_run"]:
        for cell in cells:
            print(cell)
        return None
    folder = choose_folder(config, base)
    with locked(folder), Bar(cells, processes=processes) as bar:
        log.info("%d trainings, %d at once, in %s", len(cells), processes, folder)
        return _Training(folder, cells, checked, bar).run(processes, threads)


def share_cores(given: int | None, cells: Sequence[Cell]) -> tuple[int, int]:
    """How many train at once, and the threads of each: no more than torch would take by itself.

    Args:
        given: what the command line said; None for one per core, and one alone on a GPU.
        cells: of the comparison.

    Raises:
        ValueError: it is no such number.
    """
    cores = len(os.sched_getaffinity(0))
    if given is None:
        devices = {choose_device(cell.config["device"]).type for cell in cells}
        given = cores if devices == {"cpu"} else 1
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"processes is {given!r}; it must be null or a whole number of 1 or more")
    processes = min(given, len(cells))
    return processes, max(1, min(cores // processes, torch.get_num_threads()))


def choose_folder(config: Mapping[str, Any], base: Mapping[str, Any]) -> Path:
    """Where the comparison lies: the same for the same settings, whatever is compared.

    Args:
        config: of the command.
        base: that the variants change.
    """
    if config["output"] is not None:
        return Path(config["output"]).expanduser().absolute()
    settings = {key: value for key, value in base.items() if key not in FOLDERS | {"seed"}}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    name = f"{kind_of(base['task'])}-{digest[:8]}"
    return Path(config["runs"]).expanduser().absolute() / "compare" / name


class _Training:
    """The cells on their way; a watcher of their processes."""

    def __init__(
        self, folder: Path, cells: Sequence[Cell], checked: Sequence[Checked], bar: Bar
    ) -> None:
        self._folder, self._cells, self._checked, self._bar = folder, cells, checked, bar
        self._settings = [
            settings_of(cell, known.data) for cell, known in zip(cells, checked, strict=True)
        ]
        self._folders = [
            CellFolder(folder / cell.place, settings)
            for cell, settings in zip(cells, self._settings, strict=True)
        ]
        self._failures: dict[str, str] = {}

    def run(self, processes: int, threads: int) -> Trained:
        """Train what is not finished."""
        if others := sum(own.outdated() for own in self._folders):
            log.info(
                "%d trainings that are there are of other settings or data: they stay, and are "
                "made anew",
                others,
            )
        waiting = []
        for number, own in enumerate(self._folders):
            run = own.finished()
            if run is None:
                waiting.append(number)
            else:
                self._bar.kept(number, self._scores(number, run))
        try:
            run_jobs(
                [self._job(number, threads) for number in waiting],
                processes=processes,
                threads=threads,
                watcher=self,
            )
        except KeyboardInterrupt:
            finished = sum(own.finished() is not None for own in self._folders)
            log.info(
                "interrupted: %d of %d trainings are finished; the same command goes on from there",
                finished,
                len(self._cells),
            )
            raise
        runs = {
            run: cell.variant
            for cell, own in zip(self._cells, self._folders, strict=True)
            if (run := own.finished()) is not None
        }
        return Trained(
            folder=self._folder, runs=runs, failures=self._failures, cells=len(self._cells)
        )

    def _job(self, number: int, threads: int) -> Job:
        cell, folder = self._cells[number], self._folders[number].folder
        arguments = {
            "folder": str(folder),
            "settings": self._settings[number],
            "config": cell.config,
            "overrides": cell.overrides,
            "threads": threads,
        }
        return Job(number=number, folder=folder, function=FUNCTION, arguments=arguments)

    def _scores(self, number: int, run: Path) -> dict[str, float]:
        """The score that is said of a finished cell, where the run has it."""
        known = self._checked[number]
        value = (read_metrics(run) or {}).get(f"{known.split}/{known.score}")
        return {} if value is None else {f"{known.split}/{known.score}": value}

    def started(self, number: int) -> None:
        """Note under which settings what comes was trained."""
        self._folders[number].begin()
        self._bar.started(number)

    def ended(self, number: int, seconds: float, failure: str | None) -> None:
        """Say what came out."""
        run = self._folders[number].finished()
        if failure is None and run is not None:
            self._bar.trained(number, seconds, self._scores(number, run))
            return
        message = failure or f"it left no whole run in {self._folders[number].folder}"
        self._failures[str(self._cells[number])] = message
        self._bar.failed(number, message)

    def waiting(self) -> None:
        """Say how much time is left."""
        self._bar.waiting()
