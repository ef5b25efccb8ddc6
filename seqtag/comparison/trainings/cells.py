"""A training of a comparison on disk: whether it is finished, can go on, or is to begin."""

from __future__ import annotations

import fcntl
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import seqtag
from seqtag.checkpoint import LAST
from seqtag.comparison.record import CONFIG, METRICS
from seqtag.comparison.trainings.plan import Cell
from seqtag.training.run_directory import replace_file

RECORD, LOCK = "cell.json", ".lock"

FOLDERS = frozenset({"runs", "cache", "resume", "from", "dry_run"})
"""Keys that say nothing of what is trained."""

log = logging.getLogger(__name__)


class CellFolder:
    """The folder of a cell, with the run directories of its training.

    Args:
        folder: of the cell.
        settings: all that its training depends on, plain.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self._settings: dict[str, Any] = json.loads(json.dumps(settings))

    def begin(self) -> None:
        """Note the settings; run directories that are there from others are no longer looked at."""
        if self._record() is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            others = [self._name(run) for run in self._runs()]
            record = {"settings": self._settings, "others": others}
            replace_file(self.folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())

    def finished(self) -> Path | None:
        """The run directory of a whole training with these settings; None where there is none."""
        return next((run for run in self._own_runs() if read_metrics(run) is not None), None)

    def outdated(self) -> bool:
        """Whether a training is there of other settings or data."""
        return self._record() is None and any(self._runs())

    def interrupted(self) -> Path | None:
        """The run directory of a training with these settings that can go on."""
        for run in self._own_runs():
            if (run / LAST).is_file() and not (run / METRICS).exists():
                return run
        return None

    def _own_runs(self) -> Iterator[Path]:
        """Yield those with these settings, the newest first."""
        record = self._record()
        if record is not None:
            runs = [run for run in self._runs() if self._name(run) not in record["others"]]
            yield from sorted(runs, key=lambda run: run.name, reverse=True)

    def _runs(self) -> Iterator[Path]:
        return (config.parent for config in self.folder.glob(f"*/*/{CONFIG}"))

    def _name(self, run: Path) -> str:
        return run.relative_to(self.folder).as_posix()

    def _record(self) -> dict[str, Any] | None:
        """What was noted, if it was of these settings."""
        try:
            record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            if record["settings"] == self._settings:
                return {"others": list(record["others"])}
        except (OSError, ValueError, TypeError, KeyError):
            pass  # never begun, or damaged: what lies there may be of any settings
        return None


def settings_of(cell: Cell, data: Mapping[str, Any]) -> dict[str, Any]:
    """All that the training of a cell depends on.

    Args:
        cell: with its config.
        data: what tells its data from others.
    """
    config = {key: value for key, value in cell.config.items() if key not in FOLDERS}
    return {"config": config, "data": dict(data), "version": seqtag.__version__}


def read_metrics(run: Path) -> dict[str, float] | None:
    """The scores of a finished run; None where it is not finished."""
    try:
        metrics = json.loads((run / METRICS).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a run that was killed as it wrote them is not finished
        return None
    return metrics if isinstance(metrics, dict) else None


def train_cell(
    folder: str,
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    overrides: Sequence[str],
    threads: int,
) -> None:
    """Train a cell, from its last checkpoint where an earlier training was interrupted.

    Args:
        folder: of the cell.
        settings: all that its training depends on.
        config: of the run.
        overrides: for the record.
        threads: that torch may use.

    Raises:
        ValueError: the training is refused, or diverged.
    """
    import torch

    from seqtag.training.fit import fit
    from seqtag.training.resumption import open_interrupted

    torch.set_num_threads(threads)
    config = {**config, "runs": folder}
    # An orphan of a comparison that was killed may not have noticed yet.
    with locked(Path(folder), wait=True):
        run = CellFolder(Path(folder), settings).interrupted()
        if run is not None:
            going_on = {**config, "resume": str(run)}
            try:
                open_interrupted(going_on)
                config = going_on
            except ValueError as error:
                log.info("starting anew: %s", error)
        fit(config, overrides=overrides)


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Have a folder to oneself; the end of the process, however it comes, sets it free.

    Raises:
        ValueError: somebody else has it, and this is not to wait.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise ValueError(
                f"another comparison is at work in {folder}; wait for it, or name another folder, "
                "output=FOLDER"
            ) from None
        yield
