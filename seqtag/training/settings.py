"""The parts that only a training has, built from its config before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers.logger import Logger

from seqtag.budget import given_budget
from seqtag.checkpoint import BEST, LAST
from seqtag.configuration import PREFIXES, build
from seqtag.data.sampler import Batching
from seqtag.device import choose_device
from seqtag.preparation.rows import check_folds
from seqtag.training.loop import SELECTION, OptimizerFactory
from seqtag.training.schedule import Schedule, parse_time

TRAINING_PREFIXES = ("torch.optim.", "pytorch_lightning.", *PREFIXES)
"""Where the parts that only training needs may come from."""


def check_settings(config: Mapping[str, Any]) -> None:
    """Refuse what can be refused before any data is read.

    Raises:
        ValueError: a setting that no run can have.
    """
    seed = config["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be a whole number of 0 or more")
    if config["trainer"]["max_time"] is not None:
        parse_time(str(config["trainer"]["max_time"]))
    folded = check_folds(config["data"])
    if config["evaluate_test"] and config["data"]["test"] is None and not folded:
        raise ValueError("evaluate_test=true, and no test file is named: data.test=FILE")
    Batching.from_config(config)
    given_budget(config)
    build_optimizer(config)
    build_schedule(config)
    build_trainer(config, Path(config["runs"]))
    # After the build, which has looked at the types.
    _check_limits(config["trainer"])


def build_optimizer(config: Mapping[str, Any]) -> OptimizerFactory:
    """What makes the optimiser from parameter groups; tried on one parameter."""
    factory: OptimizerFactory = build(
        config["optimizer"],
        kinds=(torch.optim.Optimizer,),
        name="optimizer",
        prefixes=TRAINING_PREFIXES,
    )
    try:
        factory([{"params": [torch.nn.Parameter(torch.zeros(1))]}])
    except (TypeError, ValueError) as error:
        raise ValueError(f"optimizer: {error}") from error
    return factory


def build_schedule(config: Mapping[str, Any]) -> Schedule:
    """The schedule of the learning rate."""
    schedule = build(config["scheduler"], kinds=(Schedule,), name="scheduler")
    assert isinstance(schedule, Schedule)
    return schedule


def build_trainer(config: Mapping[str, Any], folder: Path) -> Trainer:
    """Lightning's trainer with its callbacks and loggers, for a run in ``folder``.

    Raises:
        ValueError: Lightning refuses a setting, or the device is not there.
    """
    # Two, since Lightning's own "last" is written only where the best one is.
    keepers = [
        ModelCheckpoint(
            dirpath=folder,
            filename=Path(name).stem,
            monitor=monitor,
            mode="max",
            save_top_k=1,
            enable_version_counter=False,
            # After everything else of the epoch: a run that goes on from here misses none of it.
            save_on_train_epoch_end=True,
        )
        for name, monitor in ((BEST, SELECTION), (LAST, None))
    ]
    try:
        callbacks = [
            build(node, kinds=(Callback,), name=f"callbacks.{name}", prefixes=TRAINING_PREFIXES)
            for name, node in config["callbacks"].items()
        ]
        loggers = [
            build(
                node,
                kinds=(Logger,),
                name=f"logger.{name}",
                prefixes=TRAINING_PREFIXES,
                save_dir=str(folder),
            )
            for name, node in config["logger"].items()
        ]
        trainer = build(
            _trainer_node(config),
            kinds=(Trainer,),
            name="trainer",
            prefixes=TRAINING_PREFIXES,
            accelerator=_accelerator(choose_device(config["device"])),
            deterministic=config["deterministic"],
            callbacks=[*callbacks, *keepers],
            logger=loggers,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,
        )
    except MisconfigurationException as error:
        raise ValueError(f"trainer or callbacks: {' '.join(str(error).split())}") from error
    assert isinstance(trainer, Trainer)
    return trainer


def _accelerator(device: torch.device) -> str:
    """What Lightning calls a device."""
    return "gpu" if device.type == "cuda" else device.type


def _trainer_node(config: Mapping[str, Any]) -> dict[str, Any]:
    """The trainer's node, for the one device that ``device`` names.

    The limit of steps is the loop's to keep (see ``Loop``): a trainer that counts steps takes up an
    interrupted run one epoch too early.
    """
    node = {**config["trainer"], "max_steps": -1}
    if node["max_epochs"] is None:
        node["max_epochs"] = -1
    for key in ("devices", "num_nodes"):
        if node.get(key, 1) != 1:
            raise ValueError(
                f"trainer.{key} is {node[key]!r}; a run uses one device (device=cuda:1 names which)"
            )
    device = choose_device(config["device"])
    if ":" in config["device"] and device.type == "cuda":
        node["devices"] = [device.index]
    return node


def _check_limits(settings: Mapping[str, Any]) -> None:
    limits = {name: settings[name] for name in ("max_epochs", "max_steps")}
    for name, value in limits.items():
        if value is not None and value != -1 and value < 1:
            raise ValueError(f"trainer.{name} is {value}; give 1 or more, or -1 for no limit")
    if settings["max_time"] is None and all(value in (None, -1) for value in limits.values()):
        raise ValueError("no limit: give trainer.max_epochs, trainer.max_steps or trainer.max_time")
    clip = settings["gradient_clip_val"]
    if clip is not None and clip < 0:
        raise ValueError(f"trainer.gradient_clip_val is {clip}; it must be 0 or more, or null")
