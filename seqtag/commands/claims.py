"""Measure the claims about self-attention."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from seqtag.claims.job import make_claim
from seqtag.claims.page import make_report, write_page, write_report
from seqtag.claims.runner import measure_all
from seqtag.commands.runs import Runs
from seqtag.configuration import compose, options

RUNS = Runs.NONE
TRAINS = False

EVERY = "all"
"""The option of ``claim`` that is no claim of its own, but stands for all the others."""


def claims(config: dict[str, Any], overrides: list[str]) -> None:
    """Measure one claim or all, print what came out and, last, the path of the page."""
    processes = config["processes"]
    if processes is None:
        processes = len(os.sched_getaffinity(0))
    if processes < 1:
        raise ValueError(f"processes is {processes}; it must be at least 1")
    output = config["output"]
    folder = Path(config["runs"]) / "claims" if output is None else Path(output)
    folder = folder.expanduser().absolute()
    nodes = _nodes(config)
    chosen = {name: make_claim(node) for name, node in nodes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    total = sum(claim.size * len(claim.seeds) for claim in chosen.values())
    with _Bar(total, seeds=sum(len(claim.seeds) for claim in chosen.values())) as bar:
        found = measure_all(nodes, chosen, folder, processes=processes, watcher=bar)
    reports = []
    for name, claim in chosen.items():
        report = make_report(name, claim, found[name])
        write_report(report, folder / name)
        reports.append(report)
        print(f"{name}: {report.held}. {report.verdict.line}\n{report.verdict.paragraph}\n")
    # A single claim has a page of its own, which leaves that of all of them as it is.
    only = next(iter(chosen)) if _choice() != EVERY else None
    print(write_page(reports, folder if only is None else folder / only))


def _nodes(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The config of each claim that is asked for, by name, as the options of the group give it."""
    node = config["claim"]
    if _choice() != EVERY:
        return {_choice(): node}
    common = {key: value for key, value in node.items() if value is not None}
    given = f"device={config['device']}"  # for those whose yaml does not name its own
    return {
        name: compose("claims", [f"claim={name}", given])["claim"] | common
        for name in options("claim")
        if name != EVERY
    }


def _choice() -> str:
    """The option of ``claim`` on the command line."""
    return str(HydraConfig.get().runtime.choices["claim"])


class _Bar:
    """A bar over all rows on a terminal, and a line per finished seed everywhere."""

    def __init__(self, total: int, *, seeds: int) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} measurements"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._console = console
        self._task = self._progress.add_task("claims", total=total)
        self._seeds, self._finished = seeds, 0

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._progress.stop()

    def row(self, claim: str, seed: int) -> None:
        """Move by a row."""
        self._progress.update(self._task, advance=1, description=f"{claim}, seed {seed}")

    def kept(self, claim: str, seed: int, rows: int) -> None:
        """Move by a seed that was measured before."""
        self._progress.update(self._task, advance=rows)
        self._finish(f"{claim}, seed {seed}: kept from before")

    def finished(self, claim: str, seed: int, seconds: float) -> None:
        """Say that a seed is done."""
        self._finish(f"{claim}, seed {seed}: measured in {seconds:.0f} s")

    def _finish(self, what: str) -> None:
        self._finished += 1
        self._console.print(
            f"[{self._finished}/{self._seeds}] {what}", markup=False, highlight=False
        )
