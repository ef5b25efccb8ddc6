"""Runs that differ only by seed and fold, put together."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seqtag.comparison.record import METRICS, Record, RowTable
from seqtag.configuration import changes

IGNORED = (
    "seed",
    "data.fold",
    "data.test",  # what was scored is compared row by row
    "data.processes",
    "batching.num_workers",
    "trainer.log_every_n_steps",
    "callbacks.progress.",
    "logger.",
    "runs",
    "cache",
    "resume",
    "from",
    "device",
    "deterministic",
    "evaluate_test",
    "dry_run",
)
"""Keys of a config that make no other contender; those that end in a dot with all below them."""

BUDGET, SIZED = "encoder.parameters", ("encoder.dim", "encoder.feedforward_dim")
"""A key that works out others, which may then differ from fold to fold."""


@dataclass(kw_only=True)
class Entry:
    """A run with the rows of the split that is compared."""

    record: Record
    table: RowTable

    @property
    def folder(self) -> Path:
        """The run directory."""
        return self.record.folder

    @cached_property
    def settings(self) -> dict[str, Any]:
        """See ``settings_of``."""
        return settings_of(self.record)


@dataclass(kw_only=True)
class Group:
    """The runs of one contender.

    Attributes:
        settings: every key of the config that is set, dotted, but for those that make no other
            contender.
        seeds: its seeds in ascending order.
        runs: of each seed, of each fold in order; one run where there are no folds.
        given: the name that was given to it, if any.
    """

    settings: dict[str, Any]
    seeds: list[int]
    runs: list[list[Entry]]
    given: str | None

    @property
    def entries(self) -> list[Entry]:
        """All runs, seed by seed and fold by fold."""
        return [entry for folds in self.runs for entry in folds]

    @property
    def measures(self) -> list[str]:
        """Names of what all its runs were scored by."""
        first, *others = self.entries
        return [
            name
            for name in first.table.measures
            if all(name in entry.table.measures for entry in others)
        ]


def settings_of(record: Record) -> dict[str, Any]:
    """The config of a run without what makes no other contender, flat; null is left out.

    Files to learn from stand with the digest of their content, so that where they lie is no
    setting. An encoder that was sized to a budget stands with the budget.
    """
    flat = {key: value for key, _, value in changes({}, record.config)}
    flat = {key: value for key, value in flat.items() if not _is_ignored(key)}
    data = record.environment.get("data")
    for split in ("train", "dev"):
        digest = (data.get(split) or {}).get("sha256") if isinstance(data, Mapping) else None
        if digest is not None and f"data.{split}" in flat:
            flat[f"data.{split}"] = f"{Path(str(flat[f'data.{split}'])).name} ({digest[:8]})"
    for override in record.overrides:
        found = re.fullmatch(rf"\+*{re.escape(BUDGET)}=(.+)", override)
        if found and found[1] != "null":
            flat = {key: value for key, value in flat.items() if key not in SIZED}
            flat[BUDGET] = found[1]
    return flat


def _is_ignored(key: str) -> bool:
    return any(key == name or (name[-1] == "." and key.startswith(name)) for name in IGNORED)


def group_runs(
    entries: Sequence[Entry], names: Mapping[Path, str] | None
) -> tuple[list[Group], dict[str, str]]:
    """Contenders, in the order of their first runs, and the runs left out.

    Of two runs with the same settings, seed and fold the newer one stays. A seed stays if all its
    folds are there.

    Args:
        entries: the runs.
        names: of the contender that each run belongs to; those of one name are one contender.
            None puts together what differs only by seed and fold.
    """
    sorted_by: dict[str, list[Entry]] = {}
    for entry in entries:
        own = json.dumps(entry.settings, sort_keys=True, default=str)
        sorted_by.setdefault(own if names is None else names[entry.folder], []).append(entry)
    groups: list[Group] = []
    skipped: dict[str, str] = {}
    for name, members in sorted_by.items():
        runs = _newest(members, skipped)
        seeds = sorted({seed for seed, _ in runs})
        kept: list[list[Entry]] = []
        for seed in list(seeds):
            folds = _folds(members[0].record)
            missing = [fold for fold in folds if (seed, fold) not in runs]
            if missing:
                lacking = ", ".join(map(str, missing))
                for (other, _), entry in runs.items():
                    if other == seed:
                        skipped[str(entry.folder)] = f"seed {seed} has no run of fold {lacking}"
                seeds.remove(seed)
            else:
                kept.append([runs[seed, fold] for fold in folds])
        if seeds:
            groups.append(
                Group(
                    settings=kept[0][0].settings,
                    seeds=seeds,
                    runs=kept,
                    given=None if names is None else name,
                )
            )
    return groups, skipped


def _folds(record: Record) -> list[int | None]:
    """The folds that a seed has runs of."""
    return [None] if record.folds is None else [*range(1, record.folds + 1)]


def _newest(
    members: Sequence[Entry], skipped: dict[str, str]
) -> dict[tuple[int, int | None], Entry]:
    """The runs by seed and fold; of several, the one that was finished last."""
    runs: dict[tuple[int, int | None], Entry] = {}
    for entry in sorted(members, key=_finished):
        place = (entry.record.seed, entry.record.fold)
        if place in runs:
            skipped[str(runs[place].folder)] = (
                f"{entry.folder} is a newer run of the same settings and seed"
            )
        runs[place] = entry
    return runs


def _finished(entry: Entry) -> tuple[float, str]:
    return (entry.folder / METRICS).stat().st_mtime, str(entry.folder)


def check_same_rows(groups: Sequence[Group]) -> None:
    """Refuse runs that were scored on different data.

    Raises:
        ValueError: two runs of the same fold have not the same rows, or not the same folds.
    """
    reference = groups[0].runs[0]
    for group in groups:
        for folds in group.runs:
            if len(folds) != len(reference):
                one, other = reference[0], folds[0]
                raise ValueError(
                    f"{one.folder} is of {_cut(one)} and {other.folder} of {_cut(other)}: "
                    "they cannot be paired; compare runs with the same data.folds"
                )
            for one, other in zip(reference, folds, strict=True):
                if reason := _difference(one, other):
                    raise ValueError(
                        f"{one.folder} and {other.folder} were scored on different data: {reason}; "
                        "compare runs of one data set, or what `evaluate RUN data.test=FILE` wrote "
                        "of each"
                    )


def _cut(entry: Entry) -> str:
    return "one test split" if entry.record.folds is None else f"{entry.record.folds} folds"


def _difference(one: Entry, other: Entry) -> str | None:
    """How the rows of two runs differ, or None."""
    first, second = one.table, other.table
    if len(first.rows) != len(second.rows):
        return f"{len(first.rows):,} rows and {len(second.rows):,}"
    if (first.rows != second.rows).any():
        return "not the same rows of the split"
    inputs, targets = (first.digests != second.digests).sum(axis=0).tolist()
    # The rows of one file are the same, also where one run splits them into words and the other
    # into characters.
    if targets or (inputs and not _is_one_file(one, other)):
        return (
            f"of {len(first.rows):,} rows {inputs:,} have another input, {targets:,} another target"
        )
    return None


def _is_one_file(one: Entry, other: Entry) -> bool:
    """Whether two runs took the split from files of the same content, in the same way."""
    sources = [entry.record.source(entry.table.split) for entry in (one, other)]
    return sources[0] is not None and sources[0] == sources[1]
