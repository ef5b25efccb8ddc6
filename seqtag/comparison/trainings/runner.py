"""Processes that train, several at once, and what became of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

FAILURE, OUTPUT = "failure.txt", "output.txt"
"""Files in the folder of a job: why it failed, and what its process said."""

PROCESS = "seqtag.comparison.trainings.process"
LOOK = 0.05
"""Seconds between two looks at the processes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """What a process does.

    Attributes:
        number: of the job, for the caller.
        folder: of its output.
        function: ``module:name``, called in the process.
        arguments: of that function, plain.
    """

    number: int
    folder: Path
    function: str
    arguments: dict[str, Any]


class Watcher(Protocol):
    """Is told what happens to jobs."""

    def started(self, number: int) -> None:
        """A process was started."""

    def ended(self, number: int, seconds: float, failure: str | None) -> None:
        """A process ended, and the message of its failure if it failed."""

    def waiting(self) -> None:
        """Called again and again while processes are at work."""


@dataclass
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    started: float


def run_jobs(jobs: Sequence[Job], *, processes: int, threads: int, watcher: Watcher) -> None:
    """Do every job in a process of its own; a failure does not end the others.

    However this process ends, those of the jobs end with it.

    Args:
        jobs: in the order in which they are started.
        processes: at work at once.
        threads: that each of them may use.
        watcher: is told what becomes of the jobs.
    """
    left = list(jobs)
    running: list[_Running] = []
    try:
        while left or running:
            while left and len(running) < processes:
                job = left.pop(0)
                running.append(_start(job, threads))
                watcher.started(job.number)
            time.sleep(LOOK)
            for at in [at for at in running if at.process.poll() is not None]:
                running.remove(at)
                _close(at.process)
                watcher.ended(at.job.number, time.monotonic() - at.started, _failure(at))
            watcher.waiting()
    finally:
        for at in running:
            # A training writes nothing that it could not do without: it is taken up again from its
            # last whole checkpoint.
            at.process.kill()
        for at in running:
            at.process.wait()
            _close(at.process)


def _start(job: Job, threads: int) -> _Running:
    job.folder.mkdir(parents=True, exist_ok=True)
    (job.folder / FAILURE).unlink(missing_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    # Ctrl-C reaches every process of a terminal; this one ends the others in its own way. They
    # inherit that it is blocked, and here it waits until the process has started.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with (job.folder / OUTPUT).open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", PROCESS],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=environment,
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    task = {
        "function": job.function,
        "arguments": job.arguments,
        "failure": str(job.folder / FAILURE),
    }
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended already, and will be asked how
        process.stdin.write((json.dumps(task) + "\n").encode())
        process.stdin.flush()
    return _Running(job, process, time.monotonic())


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()


def _failure(at: _Running) -> str | None:
    """Why a process failed, in a line; None where it did not."""
    status = at.process.returncode
    if status == 0:
        return None
    file = at.job.folder / FAILURE
    if file.is_file() and (message := file.read_text(encoding="utf-8").strip()):
        return message
    if status == -signal.SIGKILL:
        return "its process was killed, often for want of memory"
    output = at.job.folder / OUTPUT
    return f"its process ended with status {status}; what it said is in {output}"
