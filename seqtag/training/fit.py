"""One training run, from a config to a run directory."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers.logger import Logger

from seqtag.checkpoint import BEST, LAST, Checkpoint, load_checkpoint, own_part
from seqtag.configuration import PREFIXES, build, check
from seqtag.data.sampler import Batching
from seqtag.datamodule import DataModule
from seqtag.doctor import examine
from seqtag.floors import score_floor
from seqtag.model import Model
from seqtag.predictor import choose_device
from seqtag.scoring import empty_scores, predict_batches
from seqtag.training.loop import SELECTION, Loop
from seqtag.training.results import write_predictions, write_row_table
from seqtag.training.resumption import describe_resumption, open_interrupted
from seqtag.training.run_directory import (
    create_directory,
    describe_environment,
    kind_of,
    write_configs,
    write_json,
)
from seqtag.training.schedule import Schedule, parse_time

log = logging.getLogger(__name__)

TRAINING_PREFIXES = ("torch.optim.", "pytorch_lightning.", *PREFIXES)
"""Where the parts that only training needs may come from."""


@dataclass
class Run:
    """A finished run.

    Attributes:
        folder: the run directory.
        metrics: what ``metrics.json`` holds.
        floors: scores of the majority label or the mean, by metric, as ``<split>/<metric>``.
        selection: name of the metric that chose the best epoch.
    """

    folder: Path
    metrics: dict[str, float]
    floors: dict[str, float]
    selection: str


def fit(config: Mapping[str, Any], *, overrides: Sequence[str] = ()) -> Run:
    """Train, keep the best epoch, score it, and write everything down.

    Args:
        config: resolved and plain, with every node of ``conf/train.yaml``.
        overrides: what the command line said, for the record.

    Raises:
        ValueError: the config or the data cannot be used; nothing has been written then.
    """
    check_settings(config)
    quiet_lightning()
    interrupted = open_interrupted(Path(config["resume"])) if config["resume"] else None
    data = read_data(config, interrupted)
    seed_everything(config["seed"], workers=True, verbose=False)
    model = Model.from_config(config, data.inputs.fields, data.target)
    loop = make_loop(config, data, model)
    # All that can be refused has been by now: a wrong setting leaves no run directory behind.
    name = f"{kind_of(config['task'])}-{kind_of(config['encoder'])}"
    folder = (
        interrupted.path.parent
        if interrupted is not None
        else create_directory(Path(config["runs"]).expanduser().absolute() / name)
    )
    with log_to(folder / "log.txt"):
        if interrupted is not None:
            for line in describe_resumption(interrupted, config, data):
                log.info(line)
        for line in examine(data):
            log.info(line)
        return _run(config, overrides, data, loop, folder, interrupted)


def read_data(config: Mapping[str, Any], interrupted: Checkpoint | None = None) -> DataModule:
    """Every split that the config names, with the vocabularies of an interrupted run."""
    data = DataModule(
        config,
        inputs=interrupted.inputs if interrupted is not None else None,
        target=interrupted.target if interrupted is not None else None,
    )
    data.read_all()
    return data


def make_loop(config: Mapping[str, Any], data: DataModule, model: Model) -> Loop:
    """The loop with the optimiser and schedule of the config."""
    return Loop(
        model=model,
        task=data.task,
        spec=data.splits["dev"].spec,
        optimizer=build(
            config["optimizer"],
            kinds=(torch.optim.Optimizer,),
            name="optimizer",
            prefixes=TRAINING_PREFIXES,
        ),
        schedule=build(config["scheduler"], kinds=(Schedule,), name="scheduler"),
        checkpoint_part=own_part(config, data.inputs, data.target),
    )


def make_trainer(
    config: Mapping[str, Any], callbacks: Sequence[Callback], loggers: Sequence[Logger]
) -> Trainer:
    """Lightning's trainer, on the device that the config names."""
    device = choose_device(config["device"])
    settings = dict(config["trainer"])
    if device.type == "cuda" and device.index is not None and config["device"] != "auto":
        settings["devices"] = [device.index]
    trainer = build(
        settings,
        kinds=(Trainer,),
        name="trainer",
        prefixes=TRAINING_PREFIXES,
        accelerator="gpu" if device.type == "cuda" else device.type,
        deterministic=config["deterministic"],
        callbacks=list(callbacks),
        logger=list(loggers),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )
    assert isinstance(trainer, Trainer)
    return trainer


def _run(
    config: Mapping[str, Any],
    overrides: Sequence[str],
    data: DataModule,
    loop: Loop,
    folder: Path,
    interrupted: Checkpoint | None,
) -> Run:
    write_configs(folder, config, overrides)
    environment = describe_environment(
        config["seed"],
        {
            name: {"path": str(split.path), "sha256": split.digest, **split.counts}
            for name, split in data.splits.items()
        },
    )
    write_json(folder / "environment.json", environment)
    keeper = ModelCheckpoint(
        dirpath=folder,
        filename=Path(BEST).stem,
        monitor=SELECTION,
        mode="max",
        save_top_k=1,
        save_last=True,
        enable_version_counter=False,
        # After everything else of the epoch: a run that goes on from here misses none of it.
        save_on_train_epoch_end=True,
    )
    keeper.CHECKPOINT_NAME_LAST = Path(LAST).stem
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
    trainer = make_trainer(config, [*callbacks, keeper], loggers)
    for name, size in loop.model.parameters_by_part().items():
        log.info("%s: %s parameters", name, f"{size:,}")
    try:
        trainer.fit(
            loop,
            datamodule=data,
            ckpt_path=interrupted.path if interrupted is not None else None,
            weights_only=True,
        )
    except SystemExit:  # what Lightning makes of Ctrl-C
        if (folder / LAST).exists():
            log.info("go on with: python -m seqtag train resume=%s", folder)
        raise KeyboardInterrupt from None

    best = load_checkpoint(folder / BEST)
    model = best.model()
    metrics: dict[str, float] = {
        "parameters": sum(loop.model.parameters_by_part().values()),
        "train/tokens_per_second": loop.meter.rate,
        "train/seconds": loop.meter.seconds,
        "best_epoch": best.epoch + 1,
    }
    floors: dict[str, float] = {}
    scored = ["dev", *(["test"] if config["evaluate_test"] and "test" in data.splits else [])]
    for split in scored:
        scores = empty_scores(data, split)
        for batch, prediction in predict_batches(
            model, data, split, choose_device(config["device"])
        ):
            scores.update(prediction, batch)
        metrics |= {f"{split}/{name}": value for name, value in scores.compute().items()}
        floors |= {f"{split}/{name}": value for name, value in score_floor(data, split).items()}
        write_row_table(folder / f"{split}_rows.parquet", scores.row_table(), data.splits[split])
    write_predictions(folder / "predictions.jsonl", best, data.splits[scored[-1]], config["device"])
    write_json(folder / "metrics.json", metrics | {f"floor/{k}": v for k, v in floors.items()})
    return Run(folder, metrics, floors, loop.selection)


def check_settings(config: Mapping[str, Any]) -> None:
    """Refuse what can be refused before any data is read.

    Raises:
        ValueError: a setting that no run can have.
    """
    check(config["trainer"], kinds=(Trainer,), name="trainer", prefixes=TRAINING_PREFIXES)
    for group, kind in (("callbacks", Callback), ("logger", Logger)):
        check(config[group], kinds=(kind,), name=group, prefixes=TRAINING_PREFIXES)
    _check_limits(config["trainer"])
    Batching.from_config(config)
    choose_device(config["device"])
    seed = config["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be a whole number of 0 or more")


def _check_limits(settings: Mapping[str, Any]) -> None:
    if settings["max_time"] is not None:
        parse_time(str(settings["max_time"]))
    limits = (settings["max_epochs"], settings["max_steps"])
    for name, value in zip(("max_epochs", "max_steps"), limits, strict=True):
        if value is not None and value != -1 and value < 1:
            raise ValueError(f"trainer.{name} is {value}; give 1 or more, or -1 for no limit")
    if settings["max_time"] is None and all(value in (None, -1) for value in limits):
        raise ValueError("no limit: give trainer.max_epochs, trainer.max_steps or trainer.max_time")


def quiet_lightning() -> None:
    """Let Lightning speak up for warnings only, and not for those that are no news here."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    for known in (
        ".*does not have many workers.*",
        ".*Checkpoint directory .* exists and is not empty.*",
        ".*treespec, LeafSpec.* is deprecated.*",
        ".*number of training batches .* is smaller than the logging interval.*",
    ):
        warnings.filterwarnings("ignore", known)


@contextmanager
def log_to(file: Path) -> Iterator[None]:
    """Write what the project logs to a file as well, while the context lasts."""
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("seqtag")
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
