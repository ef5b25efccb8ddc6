"""The learning rate as a function of how far the training has come."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from datetime import timedelta

from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import Timer


def progress(trainer: Trainer, max_steps: int) -> float:
    """How far the training has come, from 0 to 1: the furthest of the limits that are set.

    Steps, epochs (with the part of the one that runs) and time. With no limit at all it stays 0.
    """
    shares = [0.0]
    if max_steps > 0:
        shares.append(trainer.global_step / max_steps)
    if trainer.max_epochs is not None and trainer.max_epochs > 0:
        done = trainer.fit_loop.epoch_loop.batch_progress.current.ready - 1
        batches = trainer.num_training_batches
        part = max(done, 0) / batches if 0 < batches < math.inf else 0.0
        shares.append((trainer.current_epoch + part) / trainer.max_epochs)
    for timer in (c for c in trainer.callbacks if isinstance(c, Timer)):  # type: ignore[attr-defined]
        left, spent = timer.time_remaining(), timer.time_elapsed()
        if left is not None and spent + left > 0:
            shares.append(spent / (spent + left))
    return min(1.0, max(shares))


def parse_time(text: str) -> timedelta:
    """``DD:HH:MM:SS`` as a duration.

    Raises:
        ValueError: the text has another form.
    """
    parts = text.split(":")
    if len(parts) != 4 or not all(part.isdigit() for part in parts):
        raise ValueError(f"trainer.max_time={text} is not DD:HH:MM:SS, such as 00:00:05:00")
    days, hours, minutes, seconds = map(int, parts)
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


class Schedule(ABC):
    """A factor for the optimiser's learning rate.

    Args:
        warmup: share of the training in which the factor rises evenly from 0 to 1.
    """

    def __init__(self, *, warmup: float) -> None:
        if not 0 <= warmup < 1:
            raise ValueError(f"scheduler.warmup is {warmup}; it must lie in [0, 1)")
        self.warmup = warmup

    def factor(self, progress: float) -> float:
        """The factor at ``progress`` in [0, 1]."""
        if progress < self.warmup:
            # Never 0: the first step of a run is a step.
            return max(progress / self.warmup, 0.01)
        return self.decay((progress - self.warmup) / (1 - self.warmup))

    @abstractmethod
    def decay(self, progress: float) -> float:
        """The factor after the warm-up, ``progress`` counted from its end."""


class Constant(Schedule):
    """Stays at 1."""

    def decay(self, progress: float) -> float:
        """See the base class."""
        return 1.0


class Linear(Schedule):
    """Falls evenly to ``floor``.

    Args:
        warmup: see the base class.
        floor: the factor at the end.
    """

    def __init__(self, *, warmup: float, floor: float) -> None:
        super().__init__(warmup=warmup)
        self.floor = floor

    def decay(self, progress: float) -> float:
        """See the base class."""
        return 1 - (1 - self.floor) * progress


class Cosine(Schedule):
    """Falls to ``floor`` along half a cosine (Loshchilov and Hutter 2017, without restarts).

    Args:
        warmup: see the base class.
        floor: the factor at the end.
    """

    def __init__(self, *, warmup: float, floor: float) -> None:
        super().__init__(warmup=warmup)
        self.floor = floor

    def decay(self, progress: float) -> float:
        """See the base class."""
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * progress)) / 2
