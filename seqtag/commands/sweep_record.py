"""What the jobs of a sweep came to: a file for each, and what is said of all at the end."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from seqtag.commands.messages import UserError, fail
from seqtag.commands.outcome import Outcome

FILE, OUTPUT = "job.json", "output.txt"

SWEEP = "sweep"
"""The group of searches."""

QUIET = {"optuna.storages": logging.WARNING, "hydra_plugins.hydra_optuna_sweeper": logging.ERROR}


@dataclass(kw_only=True)
class SweepRecord:
    """One job of a sweep.

    Attributes:
        number: of the job, from 0.
        words: of its overrides, those that are its own.
        folder: the run directory, where it trained.
        name: of its dev score.
        score: that score.
        objective: the score, negated where lower is better.
        error: why it failed.
        place: folder of this record.
        alone: whether the job has a process of its own.
    """

    number: int
    words: list[str]
    folder: str | None = None
    name: str | None = None
    score: float | None = None
    objective: float | None = None
    error: str | None = None
    place: Path
    alone: bool

    @classmethod
    def begin(cls, said: Sequence[str], *, alone: bool) -> SweepRecord:
        """The record of the job that Hydra is running.

        Args:
            said: words of the command line.
            alone: whether the job has a process of its own.
        """
        hydra = HydraConfig.get()
        words = [word for word in hydra.overrides.task if word not in said]
        place = Path(hydra.runtime.output_dir)
        record = cls(number=hydra.job.num, words=words, place=place, alone=alone)
        if not alone:
            print(record.title(), file=sys.stderr)
        return record

    @contextlib.contextmanager
    def output(self) -> Iterator[None]:
        """Keep what a process of its own says in a file: many at once could not be read."""
        if not self.alone:
            yield
            return
        path = self.place / OUTPUT
        with (
            path.open("w", encoding="utf-8", buffering=1) as file,
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
        ):
            yield

    def failed(self, error: str) -> None:
        """Note why the job failed."""
        self.error = error
        self._end()

    def finished(self, outcome: Outcome | None) -> None:
        """Note what the job came to."""
        if outcome is not None:
            self.folder, self.name = str(outcome.folder), outcome.name
            self.score, self.objective = outcome.score, outcome.objective
        self._end()

    def said(self, words: Sequence[str]) -> list[str]:
        """The command line that would run this job alone.

        Args:
            words: of the command line.
        """
        own = {_key(word) for word in self.words}
        return [word for word in words if _is_of_job(word) and _key(word) not in own] + self.words

    def title(self) -> str:
        """Number and words."""
        return f"job {self.number}: {' '.join(self.words)}".rstrip(": ")

    def line(self) -> str:
        """What is said of it."""
        if self.error is not None:
            return f"{self.title()}: failed: {self.error.splitlines()[0]}"
        if self.folder is None:
            return f"{self.title()}: done"
        return f"{self.title()}: {self.name} {self.score:.4f}  {self.folder}"

    def _end(self) -> None:
        content = {k: v for k, v in asdict(self).items() if k not in {"place", "alone"}}
        (self.place / FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        if self.alone:
            print(self.line(), file=sys.__stderr__, flush=True)


class SweepEnd(Callback):
    """Says at the end of a sweep what its jobs came to; Hydra builds it from its own config.

    With an error where a job failed, after all others were run.
    """

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Clear a folder that an earlier sweep was given too, and quiet who repeats our words."""
        for name, level in QUIET.items():
            logging.getLogger(name).setLevel(level)
        for path in Path(config.hydra.sweep.dir).glob(f"*/{FILE}"):
            path.unlink()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Print a line for each job and, last, the run directory that is best on dev."""
        records = sorted(
            (
                SweepRecord(**json.loads(path.read_text("utf-8")), place=path.parent, alone=True)
                for path in Path(config.hydra.sweep.dir).glob(f"*/{FILE}")
            ),
            key=lambda record: record.number,
        )
        failed = [record for record in records if record.error is not None]
        print()
        for record in records:
            print(record.line())
        _print_best(records)
        if failed:
            raise UserError(fail(f"{len(failed)} of {len(records)} jobs failed"))


def _key(word: str) -> str:
    return word.partition("=")[0].lstrip("+~")


def _is_of_job(word: str) -> bool:
    """Whether a word says something of a job, and not of the sweep."""
    return _key(word) != SWEEP and not _key(word).startswith("hydra")


def _print_best(records: Sequence[SweepRecord]) -> None:
    # NaN equals nothing, itself included.
    scored = [r for r in records if r.objective is not None and r.objective == r.objective]
    if len({record.name for record in scored}) == 1:
        best = max(scored, key=lambda record: record.objective or 0.0)
        print(f"best {best.name}: job {best.number}\n{best.folder}")
