"""What training teaches about the features beside an input."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from seqtag.batch import Row
from seqtag.data.features import Categories, NumberScale, categories_of, numbers_of
from seqtag.data.field import Field
from seqtag.data.normalization import Normalization
from seqtag.data.vocabulary import Moments, Vocabulary
from seqtag.nn.features import FEATURE, NUMBER

MEASURED_AT_ONCE = 4096
"""Numbers that wait to be measured together."""


class FeatureCollector:
    """Takes in the features of training rows as they pass by.

    Args:
        categorical: names of columns with categories.
        numeric: names of columns with numbers.
        normalization: of the categories.

    Raises:
        ValueError: a column is named twice.
    """

    def __init__(
        self, categorical: Sequence[Any], numeric: Sequence[Any], normalization: Normalization
    ) -> None:
        named = [str(name) for name in (*categorical, *numeric)]
        if twice := [name for name, times in Counter(named).items() if times > 1]:
            raise ValueError(
                f"data.features={list(categorical)} and data.numeric_features={list(numeric)}: "
                f"{', '.join(twice)} is named twice; a column is a category or a number"
            )
        self._normalization = normalization
        self._counts: dict[str, Counter[str]] = {str(name): Counter() for name in categorical}
        self._moments = {str(name): Moments() for name in numeric}
        self._waiting: dict[str, list[float]] = {name: [] for name in self._moments}
        self._elements = 0

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, each taken in before it is passed on."""
        for row in rows:
            count = len(row["vectors"] if "vectors" in row else row["tokens"])
            self._elements += count
            for name, counts in self._counts.items():
                counts.update(categories_of(row, name, count, self._normalization))
            for name, waiting in self._waiting.items():
                waiting += [value for value in numbers_of(row, name, count) if value is not None]
                if len(waiting) >= MEASURED_AT_ONCE:
                    self._measure(name)
            yield row

    def fields(self) -> dict[str, Field]:
        """What the rows taught, by the name of the input field."""
        return {
            **{
                FEATURE + name: Categories(Vocabulary.of_counts(counts, minimum=1).symbols)
                for name, counts in self._counts.items()
            },
            **{NUMBER + name: self._scale(name) for name in self._moments},
        }

    def notes(self) -> list[str]:
        """Columns that say nothing."""
        notes = [
            f"data.features: {name!r} is {next(iter(counts))!r} in all of training; it says nothing"
            for name, counts in self._counts.items()
            if len(counts) == 1
        ]
        for name, moments in self._moments.items():
            scale = self._scale(name)
            what = "missing" if scale.mean is None else f"{scale.mean:g} wherever it is there,"
            if scale.mean is None or scale.deviation == 0:
                notes.append(f"data.numeric_features: {name!r} is {what} in all of training")
            elif moments.count < self._elements:
                missing = self._elements - moments.count
                notes.append(
                    f"data.numeric_features: {name!r} is missing in {missing:,} of the "
                    f"{self._elements:,} training elements"
                )
        return notes

    def _measure(self, name: str) -> None:
        waiting = self._waiting[name]
        with np.errstate(over="ignore", invalid="ignore"):
            self._moments[name].add(np.array(waiting, np.float64).reshape(-1, 1))
        waiting.clear()

    def _scale(self, name: str) -> NumberScale:
        self._measure(name)
        moments = self._moments[name]
        if not moments.count:
            return NumberScale(None, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = float(moments.mean[0]), float(moments.deviation[0])
        if not (math.isfinite(mean) and math.isfinite(deviation)):
            raise ValueError(
                f"data.numeric_features: the training numbers of {name!r} are too large to be "
                "measured; give them in another unit"
            )
        return NumberScale(mean, deviation if moments.varies[0] else 0.0)
