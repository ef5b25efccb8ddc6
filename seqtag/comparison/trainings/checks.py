"""Refuses a comparison whose trainings would be refused, before the first one takes its time."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqtag.budget import resolve_budget
from seqtag.comparison.trainings.plan import Cell
from seqtag.data.corpus import iterate
from seqtag.datamodule import DataModule
from seqtag.doctor import examine
from seqtag.training.fit import make_loop, quiet_lightning, read_data
from seqtag.training.results import digest_gold
from seqtag.training.settings import check_settings

NOT_OF_DATA = frozenset(
    {"encoder", "decoder", "head", "optimizer", "scheduler", "trainer", "callbacks", "logger"}
    | {"seed", "deterministic", "device", "runs"}
)
"""Nodes of a config that change nothing of what is read."""

FURTHER_FILES = ("vocabulary", "word_vectors")
"""Keys of ``data`` that name files, beside those of the splits."""

TEST, DEV = "test", "dev"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What is known of a cell before it is trained.

    Attributes:
        data: of each split the SHA-256 of its files, how many rows it has, which they are and what
            is right of them; of further files the SHA-256.
        split: that the comparison is about.
        score: that is said of a finished cell.
    """

    data: dict[str, Any]
    split: str
    score: str


def check_cells(cells: Sequence[Cell], *, split: str | None, score: str | None) -> list[Checked]:
    """Read the data of every cell, once where they share them, and build every model.

    Args:
        cells: of the comparison.
        split: that is asked for; None for test where it is scored.
        score: that is asked for; None for the one that chooses the best epoch.

    Returns:
        What is known of each cell.

    Raises:
        ValueError: a variant cannot be trained, or two of them are scored on other rows.
    """
    quiet_lightning()
    scored = _scored(split, cells[0].config)
    checked: dict[tuple[str, int | None], Checked] = {}
    first: dict[int | None, Cell] = {}
    read: dict[str, DataModule] = {}
    for cell in cells:
        if (cell.variant, cell.fold) in checked:
            continue  # seeds differ in nothing that could be refused
        if cell.fold not in first:
            read.clear()  # of another fold
        try:
            data, selection = _check(cell, read)
        except ValueError as error:
            raise ValueError(f"variant {cell.variant}: {error}") from error
        if score is not None and score not in (names := _measures(data, scored)):
            raise ValueError(f"score={score}: no such score here; there are: {', '.join(names)}")
        found = Checked(data=_content(data, cell.config), split=scored, score=score or selection)
        checked[cell.variant, cell.fold] = found
        other = first.setdefault(cell.fold, cell)
        known = checked[other.variant, other.fold]
        if found.data[scored] != known.data[scored]:
            raise ValueError(
                f"variants {other.variant} and {cell.variant} are scored on other {scored} rows, "
                "or on targets that are split otherwise: nothing could be compared"
            )
    return [checked[cell.variant, cell.fold] for cell in cells]


def _check(cell: Cell, read: dict[str, DataModule]) -> tuple[DataModule, str]:
    """The data of a cell, and the name of the score that chooses the best epoch."""
    config = cell.config
    check_settings(config)
    key = json.dumps({name: v for name, v in config.items() if name not in NOT_OF_DATA})
    if key not in read:
        read[key] = read_data(config)
        if len(read) == 1 and cell.fold in (None, 1):
            for line in examine(read[key]):
                log.info(line)
    data = read[key]
    return data, make_loop(resolve_budget(config, data.inputs.fields)[0], data).selection


def _scored(asked: str | None, config: Mapping[str, Any]) -> str:
    """The split that the comparison is about."""
    if asked not in (None, DEV, TEST):
        raise ValueError(f"split={asked}; it is {DEV} or {TEST}, or null")
    if asked == TEST and not config["evaluate_test"]:
        raise ValueError(f"split={TEST}, and no test split is scored: data.test=FILE or folds=5")
    return asked or (TEST if config["evaluate_test"] else DEV)


def _measures(data: DataModule, split: str) -> list[str]:
    return list(data.task.metrics(data.splits[split].spec))


def _content(data: DataModule, config: Mapping[str, Any]) -> dict[str, Any]:
    """What tells the data from others of the same name."""
    splits = {name: [s["sha256"], s["rows"]] for name, s in data.sources().items()}
    for name, split in data.splits.items():
        # Which rows of the files they are, where they are a part; and what is right of them, which
        # a tokenizer of targets may change.
        told = [split.rows["line"][:]]
        if name != "train":
            told.append([digest_gold(row) for row in iterate(split.rows)])
        splits[name].append(hashlib.sha256(json.dumps(told).encode()).hexdigest())
    given = {key: config["data"].get(key) for key in FURTHER_FILES}
    files = {
        key: data.cache.digest(Path(path))
        for key, path in given.items()
        if path is not None and Path(path).is_file()
    }
    return splits | files
