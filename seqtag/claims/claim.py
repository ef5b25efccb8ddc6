"""What a claim is: something measured with several seeds, and what the measurement says of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seqtag.device import choose_device

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""One measurement: its circumstances (``keys``) and what was measured (``measures``)."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Verdict:
    """What the measurements say.

    Attributes:
        held: whether the claim held, all of it.
        line: that in one line, with the numbers that decide.
        paragraph: what was measured and how, what came out, and what it does not show.
    """

    held: bool
    line: str
    paragraph: str


@dataclass(frozen=True)
class Interval:
    """A mean over seeds, and how far from it the true mean may lie.

    Attributes:
        mean: of the measurements.
        half_width: of the 95 per cent confidence interval (Student's t); NaN for one seed.
    """

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        """The lower end, the mean itself where one seed says nothing of the spread."""
        return self.mean if math.isnan(self.half_width) else self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end, likewise."""
        return self.mean if math.isnan(self.half_width) else self.mean + self.half_width

    def spell(self, digits: int = 3) -> str:
        """``mean ± half_width``; the mean alone for one seed."""
        if self.half_width == 0 and self.mean.is_integer() and abs(self.mean) > 1:
            return f"{self.mean:,.0f}"  # a count
        mean = _spell(self.mean, digits)
        if math.isnan(self.half_width):
            return mean
        return f"{mean} ± {_spell(self.half_width, digits)}"


def _spell(value: float, digits: int) -> str:
    """A number to read: with a power of ten where ``digits`` decimals would hide or swell it."""
    if value and not 10.0**-digits <= abs(value) < 1e6:
        return f"{value:.2g}"
    return f"{value:.{0 if abs(value) >= 1000 else digits}f}"


class Claim(ABC):
    """A claim, as an experiment.

    Built from ``conf/claim/NAME.yaml``, whose keys are the constructor's arguments.

    Args:
        seeds: each is measured once, in a process of its own.
        full: whether to take the larger setting, which needs more time.
        device: where to compute: ``auto``, ``cpu``, ``cuda``, ...

    Attributes:
        title: what is claimed, in one sentence.
        keys: names of the columns that say under which circumstances a row was measured; rows of
            several seeds with the same keys are repetitions.
        measures: names of the columns that were measured.
        alone: whether it measures time, and so must run without another claim beside it.
    """

    title: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    measures: ClassVar[tuple[str, ...]]
    alone: ClassVar[bool] = False

    def __init__(self, *, seeds: Sequence[int], full: bool, device: str) -> None:
        whole = all(isinstance(seed, int) and seed >= 0 for seed in seeds)
        if not seeds or not whole or len(set(seeds)) < len(seeds):
            raise ValueError(
                f"claim.seeds is {list(seeds)}; give different whole numbers of 0 or more"
            )
        self.seeds = tuple(seeds)
        self.full = full
        self.device = choose_device(device)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many rows ``measure`` gives, for the progress bar."""

    @abstractmethod
    def measure(self, seed: int) -> Iterator[Row]:
        """Measure with one seed, row by row.

        Args:
            seed: of data, weights and everything else that is drawn.

        Yields:
            Rows with all of ``keys`` and ``measures``.
        """

    @abstractmethod
    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """What the rows of all seeds say.

        Args:
            rows: of every seed, each with its ``seed``.
        """

    @abstractmethod
    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Draw the rows of all seeds."""

    def intervals(self, rows: Sequence[Row], measure: str) -> dict[tuple[Any, ...], Interval]:
        """The mean and interval of one measure over seeds, for each combination of ``keys``.

        A combination appears in the order in which it was measured; rows whose measure is None
        are left out.
        """
        return intervals(rows, self.keys, measure)


def intervals(
    rows: Sequence[Row], keys: Sequence[str], measure: str
) -> dict[tuple[Any, ...], Interval]:
    """The mean and interval of a measure over the rows that agree in ``keys``."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if row[measure] is not None:
            groups.setdefault(tuple(row[key] for key in keys), []).append(float(row[measure]))
    return {key: interval(values) for key, values in groups.items()}


def interval(values: Sequence[float]) -> Interval:
    """The mean of some measurements with its 95 per cent interval (Student's t)."""
    from scipy import stats

    count = len(values)
    mean = float(np.mean(values))
    if count < 2:
        return Interval(mean, math.nan)
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    return Interval(mean, float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error)
