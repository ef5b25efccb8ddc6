"""Train a model."""

from __future__ import annotations

from typing import Any

TAKES_RUN = False
TRAINS = True


def train(config: dict[str, Any], overrides: list[str]) -> float | None:
    """Train as the config says, print the scores and, last, the run directory.

    Returns:
        The dev score that chose the best epoch, for sweepers; None for a dry run.
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
    return run.metrics[f"dev/{run.selection}"]
