"""Train a model."""

from __future__ import annotations

from typing import Any

from seqtag.commands.outcome import Outcome
from seqtag.commands.runs import Runs

RUNS = Runs.NONE
TRAINS = True


def train(config: dict[str, Any], overrides: list[str]) -> Outcome | None:
    """Train as the config says, print the scores and, last, the run directory.

    Returns:
        What came out; None for a dry run.
    """
    from seqtag.commands.paths import absolute_data_paths
    from seqtag.report.tables import print_scores
    from seqtag.training.dry_run import dry_run
    from seqtag.training.fit import fit

    config = absolute_data_paths(config)
    if config["dry_run"]:
        dry_run(config)
        return None
    run = fit(config, overrides=overrides)
    print_scores(run.metrics, run.floors)
    print(run.folder)
    name = f"dev/{run.selection}"
    return Outcome(
        folder=run.folder,
        name=name,
        score=run.metrics[name],
        higher_is_better=run.higher_is_better,
    )
