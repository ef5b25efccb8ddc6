"""Hydra's and OmegaConf's complaints in a line."""

from __future__ import annotations

import re

from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from seqtag.configuration import options


def explain(error: BaseException) -> str:
    """What is wrong with the command line or the config, and what to do."""
    text = _text(error)
    if found := re.search(r"Could not override '(.+?)'", text):
        key = found[1]
        return (
            f"no config key '{key}' here: another option of its group may have it, such as another "
            "encoder; look at the keys with --cfg job"
        )
    if found := re.search(r"Could not find '(.+)/([^/']+)'", text):
        group, option = found[1], found[2]
        names = ", ".join(options(group)) or "none"
        return f"no option '{option}' in {group}; there are: {names}"
    if found := re.search(r"Environment variable '(.+?)' not found", text):
        return f"this config needs the environment variable {found[1]}, which is not set"
    if isinstance(error, OverrideParseException):
        reason = text.splitlines()[0]
        return f"'{error.override}' cannot be read: {reason}; quote what is not a plain value"
    if not isinstance(error, HydraException | OmegaConfBaseException):
        return text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2]) if lines else type(error).__name__


def unexpected(error: BaseException) -> str:
    """What to say of an error that no part of the program foresaw."""
    reason = " ".join(str(error).split())[:300]
    return (
        f"unexpected {type(error).__name__}: {reason}\n"
        "a setting may have a value that it cannot have; SEQTAG_DEBUG=1 shows where this came from"
    )


def _text(error: BaseException) -> str:
    """The message of an error, or of what caused it where it has none."""
    while not str(error) and error.__cause__ is not None:
        error = error.__cause__
    return str(error)
