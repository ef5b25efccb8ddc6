"""Going on with a run that was interrupted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seqtag.checkpoint import LAST, Checkpoint, load_checkpoint
from seqtag.configuration import changes
from seqtag.datamodule import DataModule
from seqtag.training.run_directory import create_directory

RECORDS = ("config.yaml", "overrides.yaml", "environment.json")
"""Files that say what a run was started with."""

PASSING = frozenset({"resume", "from", "runs", "cache"})
"""Keys that say nothing of what is trained."""


def open_interrupted(config: Mapping[str, Any]) -> Checkpoint:
    """The last checkpoint of the run directory that ``resume`` names.

    Raises:
        ValueError: the run is finished, has another kind of optimiser, was interrupted before its
            first look at dev, or has come past the limit that it now has.
    """
    folder = Path(config["resume"])
    if (folder / "metrics.json").is_file():
        raise ValueError(
            f"{folder} is finished: there is nothing to resume (from={folder} starts a new run "
            "with its config)"
        )
    if not (folder / LAST).is_file():
        raise ValueError(
            f"{folder} holds no {LAST}: it ended before its first look at dev; from={folder} "
            "starts it anew"
        )
    last = load_checkpoint(folder / LAST)
    before, now = last.config["optimizer"]["_target_"], config["optimizer"]["_target_"]
    if before != now:
        raise ValueError(
            f"optimizer is {now}, and the run began with {before}, whose state the other cannot "
            f"go on with; from={folder} starts a new run"
        )
    limit = config["trainer"]["max_epochs"]
    # At the limit itself there is still the scoring to do.
    if limit is not None and 0 < limit < last.epoch + 1:
        raise ValueError(
            f"{folder} has come to epoch {last.epoch + 1}, and trainer.max_epochs is {limit}: "
            "there is nothing left to train"
        )
    return last


def describe_resumption(
    interrupted: Checkpoint, config: Mapping[str, Any], data: DataModule
) -> Iterator[str]:
    """Yield where the run goes on and what is no longer as it was, a line each."""
    yield f"going on after epoch {interrupted.epoch + 1} of {interrupted.path.parent}"
    for key, old, new in changes(interrupted.config, config):
        if key.partition(".")[0] not in PASSING:
            yield f"changed: {key}={new} (was {old})"
    record = interrupted.path.parent / "environment.json"
    known = json.loads(record.read_text(encoding="utf-8"))["data"]
    for name, source in data.sources().items():
        if name in known and known[name]["sha256"] != source["sha256"]:
            yield f"warning: the {name} split ({source['path']}) has changed since the run began"


def keep_records(folder: Path) -> None:
    """Copy what a resumed run will write anew to a folder of its own below ``earlier``."""
    earlier = create_directory(folder / "earlier")
    for name in RECORDS:
        shutil.copy2(folder / name, earlier / name)
