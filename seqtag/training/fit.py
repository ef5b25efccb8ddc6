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
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning import seed_everything

from seqtag.budget import resolve_budget
from seqtag.checkpoint import BEST, LAST, Checkpoint, load_checkpoint, own_part
from seqtag.datamodule import DataModule
from seqtag.device import choose_device
from seqtag.doctor import examine
from seqtag.floors.fitted import fit_floors
from seqtag.limits import check_head, check_memory, check_split, too_long
from seqtag.model import Model
from seqtag.scoring import selection_metric
from seqtag.training.loop import Loop
from seqtag.training.results import score_split
from seqtag.training.resumption import describe_resumption, keep_records, open_interrupted
from seqtag.training.run_directory import (
    create_directory,
    describe_environment,
    kind_of,
    write_configs,
    write_json,
)
from seqtag.training.settings import (
    build_optimizer,
    build_schedule,
    build_trainer,
    check_settings,
)

log = logging.getLogger(__name__)


@dataclass
class Run:
    """A finished run.

    Attributes:
        folder: the run directory.
        metrics: what ``metrics.json`` holds.
        floors: scores of what a model must beat, as ``<floor>/<split>/<metric>``.
        selection: name of the metric that chose the best epoch.
        higher_is_better: of that metric.
    """

    folder: Path
    metrics: dict[str, float]
    floors: dict[str, float]
    selection: str
    higher_is_better: bool


def fit(config: Mapping[str, Any], *, overrides: Sequence[str] = ()) -> Run:
    """Train, keep the best epoch, score it, and write everything down.

    Args:
        config: resolved and plain, with every node of ``conf/train.yaml``.
        overrides: what the command line said, for the record.

    Raises:
        ValueError: the config or the data cannot be used, and nothing has been written; or the
            training diverged.
    """
    quiet_lightning()
    check_settings(config)
    interrupted = open_interrupted(config) if config["resume"] else None
    data = read_data(config, interrupted)
    config, sized = resolve_budget(config, data.inputs.fields)
    seed_everything(config["seed"], workers=True, verbose=False)
    loop = make_loop(config, data)
    if interrupted is not None:
        interrupted.fill(loop.model)
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
            keep_records(folder)
        for line in examine(data):
            log.info(line)
        if sized is not None:
            log.info(sized)
        for name, size in loop.model.parameters_by_part().items():
            log.info("%s: %s parameters", name, f"{size:,}")
        write_configs(folder, config, overrides)
        write_json(folder / "environment.json", describe_environment(config, data.sources()))
        _train(config, data, loop, folder, interrupted)
        return _score(config, data, loop, folder)


def read_data(config: Mapping[str, Any], interrupted: Checkpoint | None = None) -> DataModule:
    """The splits that a training uses, with the vocabularies of an interrupted run."""
    data = DataModule(
        config,
        inputs=interrupted.inputs if interrupted is not None else None,
        target=interrupted.target if interrupted is not None else None,
    )
    data.read_all(test=config["evaluate_test"])
    return data


def make_loop(config: Mapping[str, Any], data: DataModule) -> Loop:
    """The model with all that Lightning needs to train it.

    Raises:
        ValueError: the model cannot be built, or a split holds a sequence too long for it.
    """
    check_memory(config, data.inputs.fields, data.target, choose_device(config["device"]))
    model = Model.from_config(config, data.inputs.fields, data.target)
    check_head(model, per_element=data.task.per_element)
    for split in data.splits.values():
        check_split(model, split)
    if data.stream is not None:
        longest = data.stream.counts["longest"]
        read = longest if data.long_rows.refuses else min(longest, data.long_rows.limit)
        if reason := too_long(model, read):
            raise ValueError(f"{data.stream.longest_at}: {reason}")
    epoch = data.stream.counts["elements"] if data.stream is not None else None
    return Loop(
        model=model,
        task=data.task,
        spec=data.splits["dev"].spec,
        selection=selection_metric(data, "dev"),
        optimizer=build_optimizer(config),
        schedule=build_schedule(config),
        max_steps=config["trainer"]["max_steps"],
        long_rows=data.long_rows,
        epoch_elements=epoch,
        checkpoint_part=own_part(config, data.inputs, data.target),
    )


def _train(
    config: Mapping[str, Any],
    data: DataModule,
    loop: Loop,
    folder: Path,
    interrupted: Checkpoint | None,
) -> None:
    limit = config["trainer"]["max_steps"]
    if interrupted is not None and 0 < limit <= interrupted.step:
        # What was interrupted is the scoring.
        loop.on_load_checkpoint(torch.load(interrupted.path, weights_only=True))
        return
    try:
        build_trainer(config, folder).fit(
            loop,
            datamodule=data,
            ckpt_path=interrupted.path if interrupted is not None else None,
            weights_only=True,
        )
    except SystemExit:  # what Lightning makes of Ctrl-C
        if (folder / LAST).exists():
            log.info("go on with: python -m seqtag train resume=%s", folder)
        raise KeyboardInterrupt from None
    except MisconfigurationException as error:
        raise ValueError(f"trainer or callbacks: {' '.join(str(error).split())}") from error


def _score(config: Mapping[str, Any], data: DataModule, loop: Loop, folder: Path) -> Run:
    best = load_checkpoint(folder / BEST)
    last = load_checkpoint(folder / LAST)
    log.info("best epoch: %d of the %d that ran", best.epoch + 1, last.epoch + 1)
    metrics: dict[str, float] = {
        "parameters": sum(loop.model.parameters_by_part().values()),
        "train/tokens_per_second": loop.meter.rate,
        "train/seconds": loop.meter.seconds,
        "best_epoch": best.epoch + 1,
    }
    floors: dict[str, float] = {}
    fitted = fit_floors(data)
    for split in (name for name in ("dev", "test") if name in data.splits):
        scored = score_split(best.model(), data, split, choose_device(config["device"]), fitted)
        scored.write_rows(folder, selection=loop.selection)
        metrics |= scored.metrics
        floors |= scored.floors
    scored.write_predictions(folder)
    write_json(folder / "metrics.json", metrics | floors)
    return Run(folder, metrics, floors, loop.selection, loop.higher_is_better)


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
