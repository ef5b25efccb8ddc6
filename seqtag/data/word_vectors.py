"""Words that have a static vector, as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import UNKNOWN
from seqtag.data.field import Field
from seqtag.data.shares import share
from seqtag.data.vocabulary import SPECIAL


class WordVectors(Field):
    """Ids of the words that a file of vectors has: exactly so spelled, else lower-cased.

    Args:
        symbols: distinct words, in the order of their ids (the first has id 2).
        width: numbers in each vector.
        table: float32 ``[ids, width]``, standardised, zeros for padding and for words that the
            file lacks; None where a model has it already.
    """

    reads = "tokens"
    dtype = "int32"

    def __init__(
        self, symbols: Sequence[str], width: int, table: NDArray[np.float32] | None = None
    ) -> None:
        self.symbols = tuple(symbols)
        self.width = width
        self.table = table
        self._ids = {symbol: number for number, symbol in enumerate(self.symbols, SPECIAL)}

    def __len__(self) -> int:
        return len(self.symbols) + SPECIAL

    @property
    def shape(self) -> tuple[int, ...]:
        """One id for an element."""
        return ()

    def __getstate__(self) -> dict[str, Any]:
        """All but the numbers: other processes only look words up."""
        return {**self.__dict__, "table": None}

    def find(self, word: str) -> int:
        """The id of the word, else of its lower-cased form, else the unknown id."""
        found = self._ids.get(word)
        return self._ids.get(word.lower(), UNKNOWN) if found is None else found

    def encode(self, sequence: Sequence[str]) -> NDArray[np.int32]:
        """Ids ``[source]`` of the words."""
        return np.fromiter((self.find(word) for word in sequence), np.int32, len(sequence))

    def state(self) -> dict[str, Any]:
        """Plain values without the numbers, which are among the weights of a model."""
        return {"symbols": list(self.symbols), "width": self.width}

    def describe_coverage(self, path: str, counts: Mapping[str, int]) -> str:
        """How many of the counted words have a vector, in a line.

        Raises:
            ValueError: none has.
        """
        exact = [word for word in counts if word in self._ids]
        lowered = [word for word in counts if word not in self._ids and word.lower() in self._ids]
        if counts and not exact and not lowered:
            raise ValueError(
                f"{path} (data.word_vectors) has none of the {len(counts):,} different elements of "
                f"the training split, such as {next(iter(counts))!r}; its first word is "
                f"{self.symbols[0]!r}"
            )
        elements, types = sum(counts.values()), len(counts)
        found = [sum(counts[word] for word in words) for words in (exact, lowered)]
        return (
            f"data.word_vectors: {len(self.symbols):,} words, {self.width} numbers each; of the "
            f"{elements:,} training elements {share(found[0], elements)} are found exactly, "
            f"{share(found[1], elements)} lower-cased, {share(elements - sum(found), elements)} "
            f"not; of the {types:,} different ones {share(len(exact), types)}, "
            f"{share(len(lowered), types)} and {share(types - len(exact) - len(lowered), types)}"
        )
