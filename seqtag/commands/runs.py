"""How many run directories a command takes."""

from __future__ import annotations

from enum import Enum


class Runs(Enum):
    """What a command's module says of itself in ``RUNS``.

    A command is called with its config and what the command line said, and one that takes any
    number of runs with these too: ``command(config, overrides, runs)``.
    """

    NONE = "none"
    ONE = "one"
    """A run directory or a checkpoint, whose config is the base of the command's."""
    ANY = "any"
    """Any number of them, and folders of them; or none, and then it trains."""
