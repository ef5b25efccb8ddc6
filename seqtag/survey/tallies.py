"""Counts that grow block by block: elements, labels, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow
from numpy.typing import NDArray

from seqtag.data.readers.lines import BYTE_ORDER_MARK
from seqtag.data.vocabulary import Moments
from seqtag.survey.columns import floats, is_list, sizes
from seqtag.survey.measured import SHOWN, Labels, Lengths, Numbers, Tokens

QUANTILES = (0.5, 0.9, 0.99)


Place = Callable[[int, int], str]
"""Where an element stands, by its row and its number in it."""


def measure_lengths(lengths: NDArray[np.int64], place: Callable[[int], str]) -> Lengths:
    """What the lengths of all rows of a split say."""
    longest = int(lengths.argmax())
    powers = np.floor(np.log2(lengths)).astype(np.int64)
    rows = np.bincount(powers)
    # The length itself of a row, not one between those of two.
    quantiles = np.quantile(lengths, QUANTILES, method="inverted_cdf")
    return Lengths(
        longest=int(lengths[longest]),
        longest_place=place(longest),
        mean=float(lengths.mean()),
        quantiles={
            f"{share:.0%}": float(value) for share, value in zip(QUANTILES, quantiles, strict=True)
        },
        histogram=[
            [2**power, 2 ** (power + 1) - 1, int(rows[power])]
            for power in range(int(powers.min()), len(rows))
        ],
    )


@dataclass
class TokenTally:
    """Counts distinct elements."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, tokens: pyarrow.Array) -> None:
        """Take in lists of tokens."""
        _count(self.counts, tokens.flatten())

    def facts(
        self, known: Callable[[str], bool], normalize: Callable[[list[str]], Iterable[str]]
    ) -> Tokens:
        """What was counted.

        Args:
            known: whether the model will know an element.
            normalize: how it sees them.
        """
        types = list(self.counts)
        garbled = {token: self.counts[token] for token in types if is_garbled(token)}
        return Tokens(
            types=len(types),
            unknown_types=sum(not known(token) for token in normalize(types)),
            with_blanks=self._elements(lambda token: any(map(str.isspace, token))),
            marked=self._elements(lambda token: BYTE_ORDER_MARK in token),
            garbled=sum(garbled.values()),
            garbled_example=next(iter(garbled), None),
        )

    def _elements(self, chosen: Callable[[str], bool]) -> int:
        return sum(count for token, count in self.counts.items() if chosen(token))


def is_garbled(text: str) -> bool:
    """Whether the text is UTF-8 that was read as Western European: ``Ã©`` for ``é``.

    All of it must be bytes of several characters in UTF-8, which hardly any other text is.
    """
    if text.isascii():
        return False
    try:
        return text.encode("cp1252").decode("utf-8") != text
    except UnicodeError:
        return False


@dataclass
class LabelTally:
    """Counts labels and remembers where each stands first."""

    counts: Counter[str] = field(default_factory=Counter)
    _first: dict[str, tuple[int, int]] = field(default_factory=dict)
    _rows: int = 0

    def add(self, targets: pyarrow.Array) -> None:
        """Take in a label per row, or a list of them."""
        flat = targets.flatten() if is_list(targets) else targets
        ends = np.cumsum(sizes(targets)) if is_list(targets) else np.arange(1, len(targets) + 1)
        encoded = flat.dictionary_encode()
        numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        found, first, counted = np.unique(numbers, return_index=True, return_counts=True)
        names = encoded.dictionary.to_pylist()
        for number, at, count in zip(found.tolist(), first.tolist(), counted.tolist(), strict=True):
            if number < 0:
                continue
            label = names[number]
            self.counts[label] += count
            if label not in self._first:
                row = int(np.searchsorted(ends, at, side="right"))
                self._first[label] = (self._rows + row, at - int(ends[row - 1] if row else 0))
        self._rows += len(targets)

    def facts(self, unseen: dict[str, int], place: Place) -> Labels:
        """What was counted, with the labels that training lacks."""
        once = [label for label, count in self.counts.items() if count == 1]
        odd = [label for label in self.counts if label != label.strip() or not label.isprintable()]
        return Labels(
            counts=dict(sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))),
            once={label: place(*self._first[label]) for label in once[:SHOWN]},
            odd={label: place(*self._first[label]) for label in odd[:SHOWN]},
            unseen=unseen,
        )


@dataclass
class NumberTally:
    """Mean, deviation, smallest and largest of numbers in columns."""

    width: int
    _moments: list[Moments] = field(init=False)
    _least: NDArray[np.float64] = field(init=False)
    _most: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self._moments = [Moments() for _ in range(self.width)]
        self._least, self._most = np.full(self.width, np.inf), np.full(self.width, -np.inf)

    def add_targets(self, targets: pyarrow.Array) -> None:
        """Take in targets of ``width`` numbers, or lists of them; others are passed over."""
        inner = targets.flatten() if is_list(targets) and is_list(targets.flatten()) else targets
        inner = inner.filter(pyarrow.array(sizes(inner) == self.width))
        self.add(floats(inner.flatten()).reshape(-1, self.width))

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in ``values [n, width]``, NaN where one is missing."""
        for column, moments in enumerate(self._moments):
            there = values[:, column][~np.isnan(values[:, column])]
            if len(there):
                moments.add(there[:, None])
                self._least[column] = min(self._least[column], there.min())
                self._most[column] = max(self._most[column], there.max())

    def facts(self) -> list[Numbers]:
        """What was counted of each column that has any number."""
        return [
            Numbers(
                count=moments.count,
                mean=float(moments.mean[0]),
                deviation=float(moments.deviation[0]) if moments.varies[0] else 0.0,
                minimum=float(least),
                maximum=float(most),
            )
            for moments, least, most in zip(self._moments, self._least, self._most, strict=True)
            if moments.count
        ]


def _count(counts: Counter[str], values: pyarrow.Array) -> None:
    found = values.value_counts()
    names, numbers = found.field("values").to_pylist(), found.field("counts").to_pylist()
    for name, number in zip(names, numbers, strict=True):
        if name is not None:
            counts[name] += number
