"""Whether the plain settings of a command are of the kinds that its yaml shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from seqtag.configuration import config_directory

WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
LISTS = {list: "a list in brackets"}
"""Of the data: where a command takes a list, it takes one value too."""

OR_LIST = frozenset({"seeds"})
"""Keys that take a list of the values that their default is one of."""


def check_types(config: Mapping[str, Any], *commands: str) -> None:
    """Compare every key that the commands' yamls, or that of the data, give a plain default.

    Raises:
        ValueError: a value is of another kind; all of them in one message, a line each.
    """
    faults = [
        fault
        for command in commands
        for fault in _faults(config, config_directory() / f"{command}.yaml", "", WORDS)
    ]
    shared = config_directory() / "data" / "_files.yaml"
    if "data" in config:
        faults += _faults(config["data"], shared, "data.", WORDS | LISTS)
    if faults:
        raise ValueError("\n".join(faults))


def _faults(
    config: Mapping[str, Any], file: Path, prefix: str, kinds: Mapping[type, str]
) -> list[str]:
    defaults = yaml.safe_load(file.read_text(encoding="utf-8"))
    faults = []
    for name, default in defaults.items():
        kind = type(default)
        if kind not in kinds or name == "defaults":
            continue
        if name not in config:
            faults.append(f"{prefix}{name} is missing")
        elif name in OR_LIST and isinstance(config[name], list):
            if not all(_fits(value, kind) for value in config[name]):
                faults.append(f"{prefix}{name} is {config[name]!r}; each must be {kinds[kind]}")
        elif not _fits(config[name], kind):
            faults.append(f"{prefix}{name} is {config[name]!r}; it must be {kinds[kind]}")
    return faults


def _fits(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind) or (kind is float and isinstance(value, int))
