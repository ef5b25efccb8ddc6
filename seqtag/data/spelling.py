"""How a word is spelt, as numbers."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import PADDING
from seqtag.data.field import Field
from seqtag.data.vocabulary import Vocabulary

LONGEST_AFFIX = 5
LONGEST_RUN = 3
"""A shape does not tell longer runs of one kind of character apart."""

LONGEST_WORD = 20
"""Characters of a word that are looked at; one word in 800 of English web text is longer."""

RARE_CHARACTER = 1
"""A character met so often in training is read as unknown, which is what trains the unknown."""

CACHED = 1 << 16
"""Words whose numbers are remembered; text repeats its words."""

KINDS = {"Lu": "X", "Lt": "X", "L": "x", "M": "x", "N": "d"}
"""What stands in a shape for a character, by its Unicode category or the first letter of that."""


def shape(word: str) -> str:
    """The word with ``X`` for upper case, ``x`` for other letters and marks, ``d`` for digits.

    Other characters stand for themselves, and runs of more than three are cut to three:
    ``McDonald's`` is ``XxXxxx'x``, ``1984-12`` is ``ddd-dd``.
    """
    kinds = (_kind(character) for character in word)
    return "".join(kind * min(len(list(run)), LONGEST_RUN) for kind, run in groupby(kinds))


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    return KINDS.get(category) or KINDS.get(category[0]) or character


def affixes(word: str) -> list[str]:
    """Lower-cased form, shape, length, prefixes of 1 to 5 characters of the form, and suffixes.

    A character is a code point; a word that is shorter than an affix is that affix itself.
    """
    form = word.lower()
    lengths = range(1, LONGEST_AFFIX + 1)
    return [
        form,
        shape(word),
        str(len(word)),
        *(form[:n] for n in lengths),
        *(form[-n:] for n in lengths),
    ]


@lru_cache(CACHED)
def hashes(word: str) -> tuple[int, ...]:
    """A number of 31 bits for each of the word's ``affixes``, the same on every machine."""
    return tuple(
        # The column counts too: the prefix "in" has nothing to do with the suffix "in".
        int.from_bytes(
            blake2b(f"{column} {text}".encode(errors="surrogatepass"), digest_size=4).digest()
        )
        >> 1
        for column, text in enumerate(affixes(word))
    )


class Affixes(Field):
    """Hashes of a word's form, shape, length, prefixes and suffixes; training teaches nothing.

    A model takes them modulo the size of its own table. The columns are those of ``affixes``.
    """

    reads = "tokens"
    dtype = "int32"

    @classmethod
    def fit(cls, words: Mapping[str, int]) -> Affixes:
        """The same for all words."""
        return cls()

    def __len__(self) -> int:
        return len(affixes(""))

    @property
    def shape(self) -> tuple[int, ...]:
        """One hash for each affix."""
        return (len(self),)

    def encode(self, sequence: Sequence[str]) -> NDArray[np.int32]:
        """Hashes ``[source, features]`` of the words."""
        return np.array([hashes(word) for word in sequence], np.int32).reshape(-1, len(self))

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}


class SpeltWords(Field):
    """Ids of the characters of each word, padding behind its end.

    Of a word of more than 20 characters the first 10 and the last 10 are kept.

    Args:
        symbols: distinct characters, in the order of their ids (the first has id 2).
    """

    reads = "tokens"
    dtype = "int32"

    def __init__(self, symbols: Sequence[str]) -> None:
        self._characters = Vocabulary(symbols)
        self._remembered: dict[str, NDArray[np.int32]] = {}

    @classmethod
    def fit(cls, words: Mapping[str, int]) -> SpeltWords:
        """Collect the characters of words that occur so many times."""
        counts: Counter[str] = Counter()
        for word, count in words.items():
            for character in word:
                counts[character] += count
        return cls(Vocabulary.of_counts(counts, minimum=RARE_CHARACTER + 1).symbols)

    def __len__(self) -> int:
        return len(self._characters)

    @property
    def shape(self) -> tuple[int, ...]:
        """Characters of a word."""
        return (LONGEST_WORD,)

    def encode(self, sequence: Sequence[str]) -> NDArray[np.int32]:
        """Ids ``[source, character]`` of the words."""
        rows = [self._spell(word) for word in sequence]
        return np.array(rows, np.int32).reshape(-1, LONGEST_WORD)

    def state(self) -> dict[str, Any]:
        """Plain values from which ``SpeltWords(**state)`` makes an equal one."""
        return self._characters.state()

    def _spell(self, word: str) -> NDArray[np.int32]:
        ids = self._remembered.get(word)
        if ids is None:
            half = LONGEST_WORD // 2
            shown = word if len(word) <= LONGEST_WORD else word[:half] + word[-half:]
            ids = np.full(LONGEST_WORD, PADDING, np.int32)
            ids[: len(shown)] = self._characters.encode(shown)
            if len(self._remembered) >= CACHED:
                self._remembered.clear()
            self._remembered[word] = ids
        return ids
