"""What is known of each element beside the input: a category or a number, by column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import Row, place
from seqtag.data.field import Field
from seqtag.data.normalization import Normalization
from seqtag.data.vocabulary import Vocabulary


class Categories(Field):
    """Ids of the categories of one column; the unknown id for those that training lacked.

    Args:
        symbols: distinct categories, in the order of their ids (the first has id 2).
    """

    reads = "features"
    dtype = "int32"

    def __init__(self, symbols: Sequence[str]) -> None:
        self._vocabulary = Vocabulary(symbols)

    def __len__(self) -> int:
        return len(self._vocabulary)

    def __contains__(self, category: str) -> bool:
        return category in self._vocabulary

    @property
    def shape(self) -> tuple[int, ...]:
        """One id for an element."""
        return ()

    def encode(self, sequence: Sequence[str]) -> NDArray[np.int32]:
        """Ids ``[source]`` of the categories."""
        return self._vocabulary.encode(sequence)

    def state(self) -> dict[str, Any]:
        """Plain values from which ``Categories(**state)`` makes an equal one."""
        return self._vocabulary.state()


class NumberScale(Field):
    """Standardises the numbers of one column, and tells those that are missing.

    An element has two numbers: its value by training's mean and deviation, and 1; or 0 and 0 where
    the value is missing. What training could not teach is not shown: where its values never vary
    every value counts as its mean, and where it has none every value counts as missing.

    Args:
        mean: of the values in training; None where there were none.
        deviation: the same; 0 where they never vary.
    """

    reads = "features"
    dtype = "float32"

    def __init__(self, mean: float | None, deviation: float) -> None:
        self.mean, self.deviation = mean, deviation

    def __len__(self) -> int:
        return 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The value, and whether it is there."""
        return (len(self),)

    def encode(self, sequence: Sequence[float | None]) -> NDArray[np.float32]:
        """Pairs ``[source, 2]``.

        Raises:
            ValueError: a value is so far from those of training that it cannot be told.
        """
        values = np.array([math.nan if v is None else v for v in sequence], np.float64)
        there = ~np.isnan(values) & (self.mean is not None)
        pairs = np.zeros((len(values), 2), np.float32)
        pairs[:, 1] = there
        if self.mean is not None and self.deviation > 0:
            with np.errstate(over="ignore"):
                pairs[there, 0] = (values[there] - self.mean) / self.deviation
        if not np.isfinite(pairs).all():
            raise ValueError("a number that is too large beside those of training")
        return pairs

    def state(self) -> dict[str, Any]:
        """Plain values from which ``NumberScale(**state)`` makes an equal one."""
        return {"mean": self.mean, "deviation": self.deviation}


def values_of(row: Row, name: str, count: int) -> list[Any]:
    """What a row has in a column, for each of its ``count`` elements.

    Raises:
        ValueError: the row lacks the column, or has another number of values.
    """
    features = row.get("features") or {}
    if name not in features:
        raise ValueError(
            f"{place(row)}: no feature {name!r}, which this model reads beside the input; it has "
            f"{', '.join(map(repr, features)) or 'none'}"
        )
    values: Any = features[name]
    if not isinstance(values, list | tuple):
        return [values] * count  # one for the whole sequence
    if len(values) != count:
        raise ValueError(
            f"{place(row)}: feature {name!r} has {len(values)} values for {count} elements"
        )
    return list(values)


def categories_of(row: Row, name: str, count: int, normalization: Normalization) -> Sequence[str]:
    """The categories of a row's elements.

    Raises:
        ValueError: as for ``values_of``, or one is no string.
    """
    values = values_of(row, name, count)
    for number, value in enumerate(values):
        if not isinstance(value, str):
            raise ValueError(
                f"{place(row, number)}: feature {name!r} is {value!r:.60}; a category is a string"
            )
    return normalization.each(values)


def numbers_of(row: Row, name: str, count: int) -> list[float | None]:
    """The numbers of a row's elements, None where one is missing.

    Raises:
        ValueError: as for ``values_of``, or one is no finite number.
    """
    values = values_of(row, name, count)
    for number, value in enumerate(values):
        if value is not None and not _is_finite(value):
            raise ValueError(
                f"{place(row, number)}: feature {name!r} is {value!r:.60}; it must be a finite "
                "number, or None where it is missing"
            )
    return values


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False
