"""What a user sees while a model trains."""

from __future__ import annotations

import logging
import time
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from seqtag.training.loop import Loop

log = logging.getLogger(__name__)

SECONDS_BETWEEN_MOVES = 0.1
LOSS_MEMORY = 0.8
"""Weight of the past in the loss that the bar shows."""


class ProgressBar(Callback):
    """One bar over the whole training on a terminal, and one line per look at dev everywhere."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._loss: float | None = None
        self._dev = ""
        self._moved = 0.0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show the bar where there is a terminal to show it on."""
        console = Console(stderr=True)
        if not console.is_terminal or not trainer.is_global_zero:
            return
        self._bar = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("loss {task.fields[loss]:.4f}{task.fields[dev]}"),
            TextColumn("{task.fields[rate]:,.0f} tokens/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._bar.add_task("training", total=1.0, epoch=1, loss=float("nan"), dev="", rate=0.0)
        self._bar.start()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Move the bar."""
        # Reading the loss waits for the device, so not at every step.
        now = time.monotonic()
        if self._bar is None or now - self._moved < SECONDS_BETWEEN_MOVES:
            return
        self._moved = now
        assert isinstance(pl_module, Loop)
        loss = outputs["loss"].item()
        past = self._loss if self._loss is not None else loss
        self._loss = LOSS_MEMORY * past + (1 - LOSS_MEMORY) * loss
        self._bar.update(
            self._bar.task_ids[0],
            completed=pl_module.progress(),
            epoch=trainer.current_epoch + 1,
            loss=self._loss,
            dev=self._dev,
            rate=pl_module.meter.rate,
        )

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Say what dev gave."""
        assert isinstance(pl_module, Loop)
        name = f"dev/{pl_module.selection}"
        score = float(trainer.callback_metrics[name])
        self._dev = f"  {name} {score:.4f}"
        log.info(
            "epoch %d, step %d: dev/loss %.4f, %s %.4f, %s tokens/s",
            trainer.current_epoch + 1,
            trainer.global_step,
            float(trainer.callback_metrics["dev/loss"]),
            name,
            score,
            f"{pl_module.meter.rate:,.0f}",
        )

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take the bar away."""
        self._stop()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        """Take the bar away, so that the message stands on a line of its own."""
        self._stop()

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
