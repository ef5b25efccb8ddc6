"""What Lightning drives: steps, scores and the learning rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from pytorch_lightning import LightningModule
from torch import Tensor, nn

from seqtag.batch import Batch, Prediction, TargetSpec
from seqtag.checkpoint import KEY
from seqtag.data.windows import LongRows
from seqtag.evaluation.scores import Scores
from seqtag.model import Model
from seqtag.stretches import predict_with_loss
from seqtag.tasks.task import Task
from seqtag.training.schedule import Schedule, progress

SELECTION = "dev/selection"
"""The dev score that chooses the best epoch, with its sign turned where lower is better."""

RANDOM, METER = "seqtag_random", "seqtag_meter"
"""Where a checkpoint keeps what a resumed run needs beside Lightning's own part."""

OptimizerFactory = Callable[[Iterable[dict[str, Any]]], torch.optim.Optimizer]


class Loop(LightningModule):
    """Trains a model and scores it on dev.

    Args:
        model: what is trained.
        task: what its targets mean.
        spec: of the dev targets.
        selection: name of the metric that chooses the best epoch.
        optimizer: makes the optimiser from parameter groups.
        schedule: of the learning rate.
        max_steps: after so many steps the training ends; -1 for no limit.
        long_rows: how rows over the limit are read.
        epoch_elements: elements of an epoch, where nobody knows its number of batches.
        checkpoint_part: what every checkpoint must hold beside the weights.
    """

    def __init__(
        self,
        *,
        model: Model,
        task: Task,
        spec: TargetSpec,
        selection: str,
        optimizer: OptimizerFactory,
        schedule: Schedule,
        max_steps: int,
        long_rows: LongRows,
        epoch_elements: int | None,
        checkpoint_part: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self.model = model
        self._optimizer, self._schedule = optimizer, schedule
        self._checkpoint_part = dict(checkpoint_part)
        metrics = task.metrics(spec)
        self.scores = Scores(metrics)
        self.selection = selection
        self.higher_is_better = metrics[selection].higher_is_better
        self.max_steps = max_steps
        self._long_rows, self._epoch_elements = long_rows, epoch_elements
        self.meter = Meter()
        self._resumed: dict[str, Any] | None = None
        self._groups: list[dict[str, Any]] = []
        self._losses = torch.zeros(())
        self._dev_loss = torch.zeros(2)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """One optimiser; weight decay on matrices alone, not on biases, norms and embeddings."""
        lookups = {
            id(p) for m in self.modules() if isinstance(m, nn.Embedding) for p in m.parameters()
        }
        decayed: list[Tensor] = []
        free: list[Tensor] = []
        for parameter in self.parameters():
            matrix = parameter.ndim >= 2 and id(parameter) not in lookups
            (decayed if matrix else free).append(parameter)
        made = self._optimizer([{"params": decayed}, {"params": free, "weight_decay": 0.0}])
        self._groups = [
            {name: value for name, value in group.items() if name != "params"}
            for group in made.param_groups
        ]
        return made

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Set the learning rate for this step."""
        factor = self._schedule.factor(self.progress())
        for group in self.trainer.optimizers[0].param_groups:
            group.setdefault("initial_lr", group["lr"])
            group["lr"] = group["initial_lr"] * factor

    def progress(self) -> float:
        """How far the training has come, from 0 to 1."""
        epochs = 0.0
        if self._epoch_elements is not None:
            epochs = self.meter.elements / self._epoch_elements
        return progress(self.trainer, self.max_steps, epochs=epochs)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """The loss of a batch."""
        loss: Tensor = self.model(batch)
        rows = len(batch.rows)
        self.log("train/loss", loss, on_step=False, on_epoch=True, batch_size=rows)
        self._losses = self._losses + loss.detach()
        self.meter.count(int(batch.layout.lengths_cpu.sum()))
        return loss

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        """End the run at its limit of steps, with a last look at dev."""
        if 0 < self.max_steps <= self.trainer.global_step:
            self.trainer.should_stop = True

    def on_train_epoch_start(self) -> None:
        """Start the clock."""
        self.meter.start()

    def on_train_epoch_end(self) -> None:
        """Stop the clock."""
        self.meter.stop()

    def on_validation_epoch_start(self) -> None:
        """Stop the clock, since scoring is not training; and the run, where it has diverged.

        Raises:
            ValueError: a loss of this epoch was not finite.
        """
        self.meter.stop()
        self._refuse_divergence(self._losses)
        self._losses = torch.zeros_like(self._losses)
        self._dev_loss = torch.zeros(2, device=self.device)

    def _refuse_divergence(self, loss: Tensor) -> None:
        if not torch.isfinite(loss):
            raise ValueError(
                f"the training diverged in epoch {self.trainer.current_epoch + 1}: its loss is "
                f"{float(loss)}; try a lower optimizer.lr or trainer.gradient_clip_val"
            )

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Score a batch of dev."""
        head = self.model.head
        prediction, loss = predict_with_loss(self.model, batch, self._long_rows)
        self._refuse_divergence(loss)  # the last step of an epoch may be the one that diverges
        weight = head.loss_weight(batch).to(loss.dtype)
        self._dev_loss = self._dev_loss + torch.stack([loss * weight, weight])
        self._score(head.hold(prediction, batch))

    def _score(self, predicted: Iterable[tuple[Prediction, Batch]]) -> None:
        for prediction, batch in predicted:
            self.scores.update(prediction, batch)

    def on_validation_epoch_end(self) -> None:
        """Log the dev scores and the mean loss."""
        self._score(self.model.head.release())
        total, weight = self._dev_loss
        self.log("dev/loss", total / weight.where(weight > 0, 1))
        scores = self.scores.compute()
        self.scores.reset()
        self.log_dict({f"dev/{name}": value for name, value in scores.items()})
        score = scores[self.selection]
        self.log(SELECTION, score if self.higher_is_better else -score, logger=False)
        self.meter.start()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Make the file self-contained."""
        checkpoint[KEY] = self._checkpoint_part
        on_gpu = self.device.type == "cuda"
        checkpoint[RANDOM] = {
            "cpu": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state(self.device) if on_gpu else None,
        }
        checkpoint[METER] = {"elements": self.meter.elements, "seconds": self.meter.seconds}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Take up the clock; keep the random numbers for when the training begins."""
        self.meter.elements = checkpoint[METER]["elements"]
        self.meter.seconds = checkpoint[METER]["seconds"]
        self._resumed = checkpoint[RANDOM]

    def on_train_start(self) -> None:
        """Take up the random numbers where an interrupted run left them.

        The settings of the optimiser are those of this run's config, which may have changed; what
        it has gathered of gradients is that of the interrupted run.
        """
        if self._resumed is not None:
            groups = self.trainer.optimizers[0].param_groups
            for group, own in zip(groups, self._groups, strict=True):
                group.update(own, initial_lr=own["lr"])
            torch.set_rng_state(self._resumed["cpu"].cpu())
            state = self._resumed["cuda"]
            if state is not None and self.device.type == "cuda":
                torch.cuda.set_rng_state(state.cpu(), self.device)
            self._resumed = None


class Meter:
    """Elements trained on, and the seconds that took, scoring left out."""

    def __init__(self) -> None:
        self.elements = 0
        self.seconds = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Let the clock run, if it does not already."""
        if self._since is None:
            self._since = time.perf_counter()

    def stop(self) -> None:
        """Halt the clock."""
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None

    def count(self, elements: int) -> None:
        """Add the elements of a batch."""
        self.elements += elements

    @property
    def rate(self) -> float:
        """Elements a second."""
        running = time.perf_counter() - self._since if self._since is not None else 0.0
        return self.elements / max(self.seconds + running, 1e-9)
