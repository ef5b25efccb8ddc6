"""Symbols and vectors as numbers: what the training split taught about the inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import UNKNOWN
from seqtag.data.field import Field

SPECIAL = UNKNOWN + 1
"""The first id of a real symbol."""


class Vocabulary(Field):
    """The symbols of one input field; ids 0 and 1 are padding and the unknown symbol.

    Args:
        symbols: distinct strings, in the order of their ids (the first has id 2).
        counts: how often training has each of them; None where that was not counted.
        outside: the symbols that training has and the vocabulary has not, such as rare ones, with
            how often.
    """

    reads = "tokens"
    dtype = "int32"

    def __init__(
        self,
        symbols: Sequence[str],
        counts: Sequence[int] | None = None,
        outside: Mapping[str, int] | None = None,
    ) -> None:
        self.symbols = tuple(symbols)
        self._ids = {symbol: number for number, symbol in enumerate(self.symbols, SPECIAL)}
        self._counts = None if counts is None else list(counts)
        self.outside = dict(outside or {})

    @classmethod
    def count(cls, sequences: Iterable[Sequence[str]], *, minimum: int) -> Vocabulary:
        """Collect every symbol that occurs ``minimum`` times; frequent ones first, then by name."""
        counts: Counter[str] = Counter()
        for sequence in sequences:
            counts.update(sequence)
        return cls.of_counts(counts, minimum=minimum)

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], *, minimum: int) -> Vocabulary:
        """Every symbol that was counted ``minimum`` times, in the same order."""
        kept = (symbol for symbol, count in counts.items() if count >= minimum)
        return cls(sorted(kept, key=lambda symbol: (-counts[symbol], symbol))).counted(counts)

    def counted(self, counts: Mapping[str, int]) -> Vocabulary:
        """The same symbols, with what training counted of these and of others."""
        outside = {symbol: count for symbol, count in counts.items() if symbol not in self._ids}
        return Vocabulary(self.symbols, [counts.get(symbol, 0) for symbol in self.symbols], outside)

    def __len__(self) -> int:
        return len(self.symbols) + SPECIAL

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._ids

    @property
    def shape(self) -> tuple[int, ...]:
        """One id for an element."""
        return ()

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """How often training has the symbol of each id, 0 for the two that are none."""
        if self._counts is None:
            return None
        return np.array([0] * SPECIAL + self._counts, np.int64)

    def encode(self, sequence: Sequence[str]) -> NDArray[np.int32]:
        """Ids ``[source]`` of the symbols; the unknown id for those never collected."""
        ids = self._ids
        return np.fromiter(
            (ids.get(symbol, UNKNOWN) for symbol in sequence), np.int32, len(sequence)
        )

    def state(self) -> dict[str, Any]:
        """Plain values from which ``Vocabulary(**state)`` makes an equal one."""
        state: dict[str, Any] = {"symbols": list(self.symbols)}
        if self._counts is not None:
            state |= {"counts": list(self._counts), "outside": dict(self.outside)}
        return state


class VectorScale(Field):
    """Standardises vectors by the mean and deviation of each of their numbers in training.

    Args:
        mean: one value per number of a vector.
        deviation: the same; 1 where a number never varies.
    """

    reads = "vectors"
    dtype = "float32"

    def __init__(self, mean: Sequence[float], deviation: Sequence[float]) -> None:
        self.mean = np.asarray(mean, dtype=np.float64)
        self.deviation = np.asarray(deviation, dtype=np.float64)

    @classmethod
    def measure(cls, sequences: Iterable[Sequence[Sequence[float]]]) -> VectorScale:
        """Mean and deviation over every element of every sequence."""
        moments = Moments()
        with np.errstate(over="ignore", invalid="ignore"):
            for sequence in sequences:
                moments.add(np.asarray(sequence, dtype=np.float64))
            spread = moments.deviation
        for number, finite in enumerate(np.isfinite(spread) & np.isfinite(moments.mean)):
            if not finite:
                raise ValueError(
                    f"number {number} of the training vectors (from 0) is too large to be "
                    "measured; give it in another unit"
                )
        return cls(moments.mean.tolist(), moments.deviation.tolist())

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def shape(self) -> tuple[int, ...]:
        """The width of a vector."""
        return (len(self),)

    def encode(self, sequence: Sequence[Sequence[float]]) -> NDArray[np.float32]:
        """Standardised vectors ``[source, width]``.

        Raises:
            ValueError: these are no vectors of that width, or hold NaN or infinity.
        """
        try:
            vectors = np.asarray(sequence, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{sequence!r:.60} are no vectors of {len(self)} numbers each"
            ) from error
        if vectors.ndim != 2 or vectors.shape[1] != len(self):
            raise ValueError(
                f"the vectors have shape {vectors.shape}; this model reads [elements, {len(self)}]"
            )
        if not np.isfinite(vectors).all():
            raise ValueError("the vectors hold NaN or infinity")
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = ((vectors - self.mean) / self.deviation).astype(np.float32)
        if not np.isfinite(scaled).all():
            raise ValueError("the vectors hold a number that is too large beside those of training")
        return scaled

    def state(self) -> dict[str, Any]:
        """Plain values from which ``VectorScale(**state)`` makes an equal one."""
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}


class Moments:
    """Running mean and standard deviation of each column, in one pass.

    The update of Chan, Golub and LeVeque (1979): exact to rounding also where the mean is large
    beside the deviation, as sums of squares are not.
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean: NDArray[np.float64] = np.zeros(0)
        self._squares: NDArray[np.float64] = np.zeros(0)

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in ``values [n, width]``."""
        if not len(values):
            return
        mean, squares = values.mean(0), ((values - values.mean(0)) ** 2).sum(0)
        if not self.count:
            self.count, self.mean, self._squares = len(values), mean, squares
            return
        total = self.count + len(values)
        shift = mean - self.mean
        self.mean = self.mean + shift * (len(values) / total)
        self._squares = self._squares + squares + shift**2 * (self.count * len(values) / total)
        self.count = total

    @property
    def deviation(self) -> NDArray[np.float64]:
        """Population standard deviation of each column; 1 where a column never varies."""
        return np.where(self.varies, self._measured(), 1.0)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each column has more than one value.

        A deviation in the last digits of the mean is rounding, not variation.
        """
        varies: NDArray[np.bool_] = self._measured() > 1e-12 * np.abs(self.mean)
        return varies

    def _measured(self) -> NDArray[np.float64]:
        return np.sqrt(self._squares / max(1, self.count))
