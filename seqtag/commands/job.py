"""One call of a command by Hydra: in this process, or as one of many in a sweep."""

from __future__ import annotations

import importlib
import logging
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from seqtag.commands.messages import ERRORS, PIPE_CLOSED, UserError, explain_any, fail
from seqtag.commands.outcome import Outcome
from seqtag.commands.sweep_record import SweepRecord
from seqtag.commands.types import check_types
from seqtag.configuration import plain, register_resolvers

Command = Callable[..., Outcome | None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What Hydra calls with a composed config; it may be pickled, and called in another process.

    Attributes:
        command: name of it.
        yamls: the commands whose plain keys the config has.
        said: what the command line said.
        runs: that it named; None for a command that is not given them.
        process: number of the process that read the command line.
        typed: that command line.
    """

    command: str
    yamls: tuple[str, ...]
    said: list[str]
    runs: list[str] | None
    process: int
    typed: list[str]

    def __call__(self, config: DictConfig) -> float | None:
        """Run the command; in a sweep, an error ends this job and not the others.

        Returns:
            What a search makes as large as it can; None where there is nothing of the kind, and
            where a job of a sweep failed.
        """
        prepare()
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            return self._run_in_sweep(config)
        try:
            outcome = self._run(config, self.said)
        except BrokenPipeError:
            raise UserError(PIPE_CLOSED) from None
        except ERRORS as error:
            # Hydra holds ordinary exceptions back to wrap them; an exit passes.
            raise UserError(fail(explain_any(error), error)) from error
        return _objective(outcome)

    def _run_in_sweep(self, config: DictConfig) -> float | None:
        alone = os.getpid() != self.process
        if alone:
            sys.orig_argv = self.typed
        record = SweepRecord.begin(self.said, alone=alone)
        with record.output():
            try:
                outcome = self._run(config, record.said(self.said))
            except BrokenPipeError:
                raise UserError(PIPE_CLOSED) from None
            except ERRORS as error:
                message = explain_any(error)
                fail(message, error)
                record.failed(message)
                return None
        record.finished(outcome)
        return _objective(outcome)

    def _run(self, config: DictConfig, said: list[str]) -> Outcome | None:
        module = importlib.import_module(f"seqtag.commands.{self.command}")
        command: Command = getattr(module, self.command)
        settings = plain(config)
        check_types(settings, *self.yamls)
        return command(settings, said, *([] if self.runs is None else [self.runs]))


def _objective(outcome: Outcome | None) -> float | None:
    # A search that is given NaN stops.
    return None if outcome is None or math.isnan(outcome.objective) else outcome.objective


def prepare() -> None:
    """Make a process one in which a command can run."""
    logging.captureWarnings(True)
    _log_to_stderr()
    # Makes Hydra raise what it would print in many lines.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    register_resolvers()


class _Stderr(logging.Handler):
    """Writes to whatever ``sys.stderr`` is at the moment, which a progress bar may replace."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr)
        except BrokenPipeError:
            # Whoever read the messages has gone; the work itself goes on.
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 until the end


def _log_to_stderr() -> None:
    handler = _Stderr()
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name, level in (("seqtag", logging.INFO), ("py.warnings", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = [handler]
        logger.propagate = False
