"""Configs of trainings that a command starts, composed as ``train`` would have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from seqtag.commands.messages import explain
from seqtag.commands.paths import absolute_data_paths
from seqtag.commands.types import check_types
from seqtag.configuration import compose_open, plain

OWN_SOURCES = frozenset({"hydra", "main", "schema"})
"""Where Hydra finds configs that are not the user's."""


def compose(words: Sequence[str]) -> DictConfig:
    """The config of a training, with the options of the user's own folders.

    Raises:
        ValueError: there is no such config.
    """
    try:
        return compose_open("train", words, folders=_user_folders())
    except (HydraException, OmegaConfBaseException) as error:
        raise ValueError(explain(error)) from error


def finish(config: DictConfig) -> dict[str, Any]:
    """The plain config, with full paths to data.

    Raises:
        ValueError: a value is of a kind that it cannot be.
    """
    try:
        settings = plain(config)
    except OmegaConfBaseException as error:
        raise ValueError(explain(error)) from error
    check_types(settings, "train")
    return absolute_data_paths(settings)


def _user_folders() -> list[str]:
    """Folders that the command line gave Hydra, such as by --config-dir."""
    if not HydraConfig.initialized():
        return []
    sources = HydraConfig.get().runtime.config_sources
    return [f"{s.schema}://{s.path}" for s in sources if s.provider not in OWN_SOURCES]
