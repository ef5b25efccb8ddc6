"""What a reader of a comparison must know: other budgets, other code, one seed only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seqtag.comparison.contenders import Group
from seqtag.comparison.naming import differing, spelled
from seqtag.comparison.record import ENVIRONMENT
from seqtag.training.schedule import parse_time

BUDGET_NODES = ("trainer.", "batching.", "optimizer.", "scheduler.", "data.", "embedding.")
"""What must be alike for a comparison of models to be one."""

ENDED_BY_TIME = 0.95
"""Of its time limit, the share from which on a run is said to have ended by it."""

SHOWN = 3
"""Values of a setting, and keys, that a note names."""

NOT_CODE = frozenset({"command_line", "seed", "data"})
"""What ``environment.json`` says that differs from run to run by itself."""


def remark(contenders: Mapping[str, Group]) -> Iterator[str]:
    """Yield what must be said of runs, by contender."""
    yield from _budgets(contenders)
    yield from _times(contenders)
    yield from _seeds(contenders)
    yield from _code(contenders)


def agreeing(groups: Sequence[Group]) -> dict[str, Any]:
    """What all runs were made with: versions, commit, device, threads."""
    return {name: values[0] for name, values in _environments(groups).items() if _alike(values)}


def _budgets(contenders: Mapping[str, Group]) -> Iterator[str]:
    settings = [group.settings for group in contenders.values()]
    keys = [key for key in differing(settings) if key.startswith(BUDGET_NODES)]
    if not keys:
        return
    said = []
    for key in keys[:SHOWN]:
        values: dict[str, list[str]] = {}
        for name, own in zip(contenders, settings, strict=True):
            values.setdefault(spelled(own.get(key)), []).append(name)
        named = [f"{value} ({_list(names)})" for value, names in values.items()]
        said.append(f"{key} is {_list(named)}")
    more = f"; and {len(keys) - SHOWN} more keys" if len(keys) > SHOWN else ""
    yield f"not one budget: {'; '.join(said)}{more}"


def _times(contenders: Mapping[str, Group]) -> Iterator[str]:
    ended = []
    for name, group in contenders.items():
        limit = group.settings.get("trainer.max_time")
        if limit is None:
            continue
        seconds = parse_time(str(limit)).total_seconds() * ENDED_BY_TIME
        if any(entry.record.metrics.get("train/seconds", 0) >= seconds for entry in group.entries):
            ended.append(name)
    if ended:
        yield (
            f"ended by trainer.max_time: {_list(ended)}; a faster or less busy machine would have "
            "trained them further"
        )


def _seeds(contenders: Mapping[str, Group]) -> Iterator[str]:
    single = [name for name, group in contenders.items() if len(group.seeds) == 1]
    if len(contenders) > 1 and len(single) == len(contenders):
        yield "one seed each: another seed may turn the order"
    elif single:
        yield f"one seed only: {_list(single)}; another may turn the order"
    if len({tuple(group.seeds) for group in contenders.values()}) > 1 and len(single) < len(
        contenders
    ):
        yield "not the same seeds for all: " + "; ".join(
            f"{name} {_list(list(map(str, group.seeds)), 10)}"
            for name, group in list(contenders.items())[: 2 * SHOWN]
        )
    for name, group in contenders.items():
        if group.given is None:
            continue
        keys = differing([entry.settings for entry in group.entries])
        if keys:
            yield f"runs of {name} differ by more than their seed: {_list(keys)}"


def _code(contenders: Mapping[str, Group]) -> Iterator[str]:
    silent = [
        entry.folder.name
        for group in contenders.values()
        for entry in group.entries
        if not entry.record.environment
    ]
    if silent:
        yield f"what these were made with is not known, they have no {ENVIRONMENT}: {_list(silent)}"
    for name, values in _environments(list(contenders.values())).items():
        if not _alike(values):
            several = sorted({spelled(value) for value in values})
            yield f"not all runs were made alike: {name} is {_list(several)}"


def _environments(groups: Sequence[Group]) -> dict[str, list[Any]]:
    """Of each thing that the runs were made with, the value of every run."""
    flat = []
    for group in groups:
        for entry in group.entries:
            if not entry.record.environment:
                continue
            given = {k: v for k, v in entry.record.environment.items() if k not in NOT_CODE}
            packages = given.pop("packages", None)
            flat.append(given | (packages if isinstance(packages, dict) else {}))
    names = {name: None for own in flat for name in own}
    return {name: [own.get(name) for own in flat] for name in names}


def _alike(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _list(names: Sequence[str], shown: int = SHOWN) -> str:
    """A few of several names."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
