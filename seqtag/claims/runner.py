"""Measures claims, a process per claim and seed, and keeps what is finished."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Protocol

import torch

from seqtag.claims.claim import Claim, Row
from seqtag.claims.job import Job, Measured, make_claim

UNEXPECTED = (TypeError, KeyError, IndexError, AttributeError, RuntimeError, ArithmeticError)
"""What a setting that nobody foresaw may raise; and what a fault of a claim raises."""


class Watcher(Protocol):
    """Is told of the progress of a measurement."""

    def row(self, claim: str, seed: int) -> None:
        """One more row was measured."""

    def kept(self, claim: str, seed: int, rows: int) -> None:
        """All rows of a seed were there already."""

    def finished(self, claim: str, seed: int, seconds: float) -> None:
        """All rows of a seed were measured."""


def measure_all(
    nodes: Mapping[str, Mapping[str, Any]],
    claims: Mapping[str, Claim],
    folder: Path,
    *,
    processes: int,
    watcher: Watcher,
) -> dict[str, Measured]:
    """Measure every seed of every claim, those that measure time last and one by one.

    Args:
        nodes: configs of the claims, by name.
        claims: what ``make_claim`` makes of them.
        folder: where finished seeds are kept, ``<claim>/seed-<n>.json``; those that are there
            with the same settings and code are not measured again.
        processes: how many measure at once.
        watcher: is told of the progress.

    Returns:
        The rows of each claim, seed by seed, each row with its ``seed``.
    """
    jobs = [
        Job(
            name,
            nodes[name],
            claim,
            seed,
            # Of a small model two threads mostly wait for each other.
            threads=len(os.sched_getaffinity(0)) if claim.alone else 1,
            file=folder / name / f"seed-{seed}.json",
        )
        for name, claim in claims.items()
        for seed in claim.seeds
    ]
    found: dict[Job, Measured] = {}
    waiting = []
    for job in jobs:
        measured = job.kept()
        if measured is None:
            waiting.append(job)
        else:
            found[job] = measured
            watcher.kept(job.name, job.seed, len(measured.rows))
    for alone in (False, True):
        chosen = [job for job in waiting if job.claim.alone == alone]
        found |= _measure(chosen, 1 if alone else processes, watcher)
    return {
        name: _together([(job.seed, found[job]) for job in jobs if job.name == name])
        for name in claims
    }


def _together(seeds: Sequence[tuple[int, Measured]]) -> Measured:
    """The rows of all seeds, and their circumstances where these differ one after the other."""
    return Measured(
        rows=[{**row, "seed": seed} for seed, measured in seeds for row in measured.rows],
        circumstances={
            name: " / ".join(dict.fromkeys(m.circumstances.get(name, "?") for _, m in seeds))
            for name in seeds[0][1].circumstances
        },
    )


@dataclass
class _Running:
    """A job that a process is at.

    Attributes:
        job: what is measured.
        process: that measures it.
        rows: those that it has sent.
        started: when, by the monotonic clock.
    """

    job: Job
    process: SpawnProcess
    rows: list[Row]
    started: float


def _measure(jobs: Sequence[Job], processes: int, watcher: Watcher) -> dict[Job, Measured]:
    """What each job gives; it is kept as soon as the job is finished."""
    waiting = list(jobs)
    running: dict[Connection, _Running] = {}
    found: dict[Job, Measured] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                new, started = _start(waiting.pop(0))
                running[new] = started
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                at = running[connection]
                if _receive(connection, at):
                    watcher.row(at.job.name, at.job.seed)
                    continue
                del running[connection]
                at.process.join()
                found[at.job] = at.job.keep(at.rows)
                watcher.finished(at.job.name, at.job.seed, time.monotonic() - at.started)
    finally:
        for at in running.values():
            at.process.terminate()
    return found


def _start(job: Job) -> tuple[Connection, _Running]:
    """A process that measures a job, and the connection on which it sends."""
    # A fresh process: a fork of one that has started torch's threads can hang.
    context = multiprocessing.get_context("spawn")
    mine, yours = context.Pipe(duplex=False)
    process = context.Process(
        target=_work, args=(job.node, job.seed, job.threads, yours), daemon=True
    )
    # Ctrl-C reaches every process of a terminal; this one ends the others in its own way. They
    # inherit that it is blocked, and here it waits until the process has started.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    yours.close()  # so that the end of the process is the end of what it sends
    return mine, _Running(job, process, [], time.monotonic())


def _receive(connection: Connection, at: _Running) -> bool:
    """Take what a process has sent: True for a row, False at the end of all rows.

    Raises:
        ValueError: the measurement failed, or its process was killed.
    """
    where = f"claim={at.job.name}, seed {at.job.seed}"
    try:
        message = connection.recv()
    except EOFError:
        at.process.join()
        status = at.process.exitcode
        killed = "was killed, often for want of memory" if status == -signal.SIGKILL else "ended"
        raise ValueError(
            f"{where}: its process {killed} (status {status}); finished seeds are kept, and the "
            "same command goes on from there"
        ) from None
    if isinstance(message, str):
        raise ValueError(f"{where}: {message}")
    if message is None:
        return False
    at.rows.append(message)
    return True


def _work(node: Mapping[str, Any], seed: int, threads: int, connection: Connection) -> None:
    """Measures one job in a process of its own, and sends its rows, then None; or what failed."""
    torch.set_num_threads(threads)
    try:
        try:
            for row in make_claim(node).measure(seed):
                connection.send(row)
            connection.send(None)
        except ValueError as error:
            connection.send(str(error))
        except UNEXPECTED as error:
            connection.send(f"unexpected {type(error).__name__}: {error}")
    except BrokenPipeError:
        pass  # nobody is left to tell
