"""Hydra's and OmegaConf's complaints in a line."""

from __future__ import annotations

import os
import re
import sys
import traceback

import yaml
from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from seqtag.configuration import options

UNEXPECTED = (
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    AssertionError,
    yaml.YAMLError,
)
"""What a setting that nobody foresaw may raise; and what a fault of the program raises."""

ERRORS = (ValueError, OSError, *UNEXPECTED)
"""What ends in a line."""

PIPE_CLOSED = -1
"""Status of a ``UserError`` that says nothing, as nobody reads it."""

PLUGINS = {
    "joblib": "hydra-joblib-launcher",
    "submitit_local": "hydra-submitit-launcher",
    "submitit_slurm": "hydra-submitit-launcher",
    "optuna": "hydra-optuna-sweeper",
}
"""Packages that bring options of Hydra's own groups."""


class UnreadableError(ValueError):
    """A command line that cannot be read."""


class UserError(SystemExit):
    """Ends the process with a message already shown; passes through Hydra, which stops others."""


def fail(message: str, error: BaseException | None = None, status: int = 1) -> int:
    """Say what went wrong and give the exit status."""
    if error is not None and os.environ.get("SEQTAG_DEBUG"):
        traceback.print_exception(error)
    print(f"error: {message}", file=sys.stderr)
    return status


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
        if group.startswith("hydra/") and option in PLUGINS:
            return (
                f"{group}={option} needs the package {PLUGINS[option]}: "
                "pip install 'seqtag[sweeps]'"
            )
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


def explain_any(error: BaseException) -> str:
    """The words for any of ``ERRORS``."""
    return explain(error) if isinstance(error, ValueError | OSError) else _unexpected(error)


def _unexpected(error: BaseException) -> str:
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
