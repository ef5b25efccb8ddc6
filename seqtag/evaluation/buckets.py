"""Whole numbers in ranges, such as lengths of rows and counts of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHORT = 5
"""The longest row of the first range of lengths; that of each further one is twice as long."""


@dataclass(frozen=True)
class Buckets:
    """Ranges that lie side by side.

    Attributes:
        first: the least number.
        tops: the last number of each range; one without an end follows behind them.
    """

    first: int
    tops: tuple[int, ...]

    @classmethod
    def of_lengths(cls, longest: int) -> Buckets:
        """1-5, 6-10, 11-20, 21-40 and so on, as far as the longest row asks for."""
        tops = [SHORT]
        while tops[-1] < longest:
            tops.append(2 * tops[-1])
        return cls(1, tuple(tops))

    @property
    def names(self) -> list[str]:
        """How each range is called."""
        bottoms = [self.first, *(top + 1 for top in self.tops[:-1])]
        named = [
            str(top) if bottom == top else f"{bottom}-{top}"
            for bottom, top in zip(bottoms, self.tops, strict=True)
        ]
        return [*named, f"over {self.tops[-1]}"]

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place among ``names`` of the range that each number lies in."""
        return np.searchsorted(self.tops, numbers).astype(np.int64)


FREQUENCIES = Buckets(0, (0, 1, 5, 20, 100))
"""How often training has a word: 0, 1, 2-5, 6-20, 21-100, over 100."""
