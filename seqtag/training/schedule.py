"""The learning rate as a function of how far the training has come."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from datetime import timedelta

from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import Timer


def progress(trainer: Trainer, max_steps: int, *, epochs: float = 0.0) -> float:
    """How far the training has come, from 0 to 1: the furthest of the limits that are set.

    Steps, epochs (with the part of the one that runs) and time. With no limit at all it stays 0.

    Args:
        trainer: that trains.
        max_steps: the limit of steps; -1 for none.
        epochs: how many have passed, where the number of an epoch's batches is not known.
    """
    shares = [0.0]
    if max_steps > 0:
        shares.append(trainer.global_step / max_steps)
    if trainer.max_epochs is not None and trainer.max_epochs > 0:
        done = trainer.fit_loop.epoch_loop.batch_progress.current.ready - 1
        batches = trainer.num_training_batches
        part = max(done, 0) / batches if 0 < batches < math.inf else 0.0
        shares.append(max(trainer.current_epoch + part, epochs) / trainer.max_epochs)
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
        warmup: share of the training in which the factor rises to 1.

    Raises:
        ValueError: a share is none.
    """

    def __init__(self, *, warmup: float) -> None:
        if not 0 <= warmup < 1:
            raise ValueError(f"scheduler.warmup is {warmup}; it must lie in [0, 1)")
        self.warmup = warmup

    def factor(self, progress: float) -> float:
        """The factor at ``progress`` in [0, 1]."""
        if progress < self.warmup:
            return self.rise(progress / self.warmup)
        return self.decay((progress - self.warmup) / (1 - self.warmup))

    def rise(self, progress: float) -> float:
        """The factor during the warm-up, ``progress`` counted over it: evenly from 0."""
        return max(progress, 0.01)  # never 0: the first step of a run is a step

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


class OneCycle(Schedule):
    """Rises from ``start`` to 1 and falls to ``floor``, each along half a cosine.

    The learning rate of Smith and Topin 2018, "Super-Convergence", whose own cycle is made of
    straight lines; the shape is that of ``torch.optim.lr_scheduler.OneCycleLR``, which also turns
    the momentum the other way.

    Args:
        warmup: share of the training in which the factor rises, more than 0.
        start: the factor at the beginning, more than 0.
        floor: the factor at the end.

    Raises:
        ValueError: one of them is not as said, or lies outside 0 to 1.
    """

    def __init__(self, *, warmup: float, start: float, floor: float) -> None:
        super().__init__(warmup=warmup)
        _check_rises(warmup)
        if not 0 < start <= 1:
            raise ValueError(f"scheduler.start is {start}; it must lie in (0, 1]")
        if not 0 <= floor <= 1:
            raise ValueError(f"scheduler.floor is {floor}; it must lie in [0, 1]")
        self.start, self.floor = start, floor

    def rise(self, progress: float) -> float:
        """See the base class."""
        return self.start + (1 - self.start) * (1 - math.cos(math.pi * progress)) / 2

    def decay(self, progress: float) -> float:
        """See the base class."""
        return self.floor + (1 - self.floor) * (1 + math.cos(math.pi * progress)) / 2


class InverseSquareRoot(Schedule):
    """Falls with the square root of the progress (Vaswani et al. 2017, equation 3).

    The factor is ``sqrt(warmup / progress)``, so that the paper's rate, which counts steps, is this
    one wherever the training ends: 4 times the warm-up halves it.

    Args:
        warmup: share of the training in which the factor rises evenly, more than 0.

    Raises:
        ValueError: ``warmup`` is not between 0 and 1.
    """

    def __init__(self, *, warmup: float) -> None:
        super().__init__(warmup=warmup)
        _check_rises(warmup)

    def decay(self, progress: float) -> float:
        """See the base class."""
        return math.sqrt(self.warmup / (self.warmup + progress * (1 - self.warmup)))


def _check_rises(warmup: float) -> None:
    if warmup == 0:
        raise ValueError(
            "scheduler.warmup is 0; this schedule begins with a rise, so it must be more"
        )
