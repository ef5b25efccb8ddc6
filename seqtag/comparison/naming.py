"""Short names for contenders, from the settings in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TARGET = "_target_"


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys in which some of several flat configs differ, in order."""
    keys = sorted({key for own in settings for key in own})
    return [key for key in keys if len({spelled(own.get(key)) for own in settings}) > 1]


def name_contenders(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each of several flat configs, no two alike.

    An encoder gives its kind (``lstm``), another part ``part=kind`` (``position=rotary``), any
    other key ``key=value`` (``dim=64``). Only as many keys are named as tell them apart; a key
    below a part of another kind is not one of them. Where all is alike, the kind of the encoder.

    Args:
        settings: of the contenders.
    """
    short = _short_keys(differing(settings))
    parts: list[list[str]] = [[] for _ in settings]
    _split(list(range(len(settings))), settings, parts, short)
    names = [
        ", ".join(found) or _kind(own.get(f"encoder.{TARGET}"), "run")
        for own, found in zip(settings, parts, strict=True)
    ]
    return unique(names)


def unique(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    made: list[str] = []
    for name in names:
        new, number = name, 1
        while new in made:
            number += 1
            new = f"{name} ({number})"
        made.append(new)
    return made


def spelled(value: Any) -> str:
    """A value of a config as a command line would have it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _split(
    members: list[int],
    settings: Sequence[Mapping[str, Any]],
    parts: list[list[str]],
    short: Mapping[str, str],
) -> None:
    """Tell some of the contenders apart by one key, and those that it leaves alike by others."""
    keys = differing([settings[member] for member in members])
    if not keys:
        return
    kinds = [key for key in keys if key.endswith(f".{TARGET}")]
    # An encoder of another kind has other keys; they say nothing that the kind does not.
    inside = tuple(key.removesuffix(TARGET) for key in kinds)
    outer = [
        key for key in kinds if not key.startswith(tuple(i for i in inside if i + TARGET != key))
    ]
    candidates = outer or keys
    key = max(
        candidates,
        key=lambda one: (
            one.startswith("encoder."),
            len({spelled(settings[member].get(one)) for member in members}),
        ),
    )
    by_value: dict[str, list[int]] = {}
    for member in members:
        by_value.setdefault(spelled(settings[member].get(key)), []).append(member)
    for alike in by_value.values():
        for member in alike:
            parts[member].append(_part(key, settings[member].get(key), short))
        _split(alike, settings, parts, short)


def _part(key: str, value: Any, short: Mapping[str, str]) -> str:
    if not key.endswith(f".{TARGET}"):
        return f"{short[key]}={spelled(value)}"
    node = key.removesuffix(f".{TARGET}")
    kind = _kind(value, "null")
    return kind if node == "encoder" else f"{node.rpartition('.')[2]}={kind}"


def _kind(target: Any, otherwise: str) -> str:
    """The module of a class, such as ``attention``."""
    pieces = str(target).split(".")
    return pieces[-2] if len(pieces) > 1 else otherwise


def _short_keys(keys: Sequence[str]) -> dict[str, str]:
    """Each key's last word, or the whole where another ends in the same."""
    last = [key.rpartition(".")[2] for key in keys]
    return {
        key: word if last.count(word) == 1 else key for key, word in zip(keys, last, strict=True)
    }
