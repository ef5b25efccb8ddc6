"""Compare trained models, or train variants with several seeds and compare those."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqtag.commands.paths import prepare_folder
from seqtag.commands.runs import Runs
from seqtag.comparison.comparison import Comparison

RUNS = Runs.ANY
TRAINS = True
SPLITS = ("dev", "test")
TRAINING_KEYS = ("variants", "encoders", "seeds", "folds", "processes")
"""Keys that say nothing where there are runs already."""


def compare(config: dict[str, Any], overrides: list[str], runs: list[str]) -> None:
    """Print a table with intervals and tests, write a page and, last, print its path.

    Args:
        config: of the command; with no runs, also that of ``train``.
        overrides: what the command line said, in Hydra's syntax.
        runs: run directories and folders of them; none to train.

    Raises:
        ValueError: a key is wrong, a run cannot be compared, or, after the page is made of the
            others, a training failed.
    """
    for key, least in (("examples", 0), ("resamples", 100)):
        if config[key] < least:
            raise ValueError(f"{key} is {config[key]}; it must be {least} or more")
    if config["split"] not in (None, *SPLITS):
        raise ValueError(f"split={config['split']}; it is dev or test, or null")
    if config["output"] is not None:
        prepare_folder("output", config["output"])
    if runs:
        _compare_runs(config, runs)
    else:
        _compare_variants(config, overrides)


def _compare_runs(config: dict[str, Any], runs: Sequence[str]) -> None:
    from seqtag.comparison.compare import find_runs
    from seqtag.training.run_directory import create_directory

    folders, skipped = find_runs([Path(run).expanduser().absolute() for run in runs])
    found = _compare(config, folders, names=None, skipped=skipped)
    if config["output"] is None:
        folder = create_directory(Path(config["runs"]).expanduser().absolute() / "compare")
    else:
        folder = Path(config["output"]).expanduser().absolute()
    _report(found, folder, device=config["device"])


def _compare_variants(config: dict[str, Any], overrides: Sequence[str]) -> None:
    from seqtag.commands.trainings import compose, finish
    from seqtag.comparison.trainings.training import train_cells

    trained = train_cells(config, overrides, compose=compose, finish=finish)
    if trained is None:
        return
    if trained.runs:
        failed = {
            cell: f"its training failed: {message}" for cell, message in trained.failures.items()
        }
        found = _compare(config, list(trained.runs), names=trained.runs, skipped=failed)
        _report(found, trained.folder, device=config["device"])
    if trained.failures:
        lines = [f"{cell}: {message}" for cell, message in trained.failures.items()]
        raise ValueError(
            f"{len(lines)} of {trained.cells} trainings failed, and the same command tries them "
            "again\n" + "\n".join(lines)
        )


def _compare(
    config: dict[str, Any],
    runs: Sequence[Path],
    *,
    names: dict[Path, str] | None,
    skipped: dict[str, str],
) -> Comparison:
    from seqtag.comparison.compare import compare_runs

    found = compare_runs(
        runs,
        names=names,
        score=config["score"],
        split=config["split"],
        examples=config["examples"],
        resamples=config["resamples"],
    )
    found.skipped |= skipped
    return found


def _report(found: Comparison, folder: Path, *, device: str) -> None:
    from seqtag.report.comparison.attention import draw_attention
    from seqtag.report.comparison.page import write_report
    from seqtag.report.comparison.terminal import print_comparison

    print_comparison(found)
    folder.mkdir(parents=True, exist_ok=True)
    write_report(found, folder, draw_attention(found, device=device))
    print(folder / "report.html")
