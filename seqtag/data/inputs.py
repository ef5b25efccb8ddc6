"""How the tokens or vectors of a row become the numbers a model reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import AFFIXES, CHARACTERS, VECTORS, WORD, Row, place
from seqtag.data.field import Field
from seqtag.data.spelling import Affixes, SpeltWords
from seqtag.data.vocabulary import VectorScale, Vocabulary

SPELLING: dict[str, type[Affixes] | type[SpeltWords]] = {
    AFFIXES: Affixes,
    CHARACTERS: SpeltWords,
}
"""The fields that say how a word is spelt."""

KINDS: dict[str, type[Field]] = {WORD: Vocabulary, VECTORS: VectorScale, **SPELLING}


class Inputs:
    """The input fields of a data set, as training found them.

    Args:
        fields: ``word`` (a vocabulary) for rows of tokens, and where those are words perhaps
            ``affixes`` and ``characters``; ``vectors`` (a scale) for rows of vectors.
    """

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = dict(fields)

    @classmethod
    def fit(
        cls, rows: Iterable[Row], *, vectors: bool, min_frequency: int, spelling: Sequence[str]
    ) -> Inputs:
        """Collect the vocabulary, or measure the vectors, of the training rows.

        Args:
            rows: of the training split; read once.
            vectors: whether they hold vectors rather than tokens.
            min_frequency: how often training must have a token for the model to know it.
            spelling: which fields say how a token is spelt; vectors have none.

        Raises:
            ValueError: there is no such field.
        """
        if vectors:
            return cls({VECTORS: VectorScale.measure(row["vectors"] for row in rows)})
        if unheard_of := [name for name in spelling if name not in SPELLING]:
            raise ValueError(
                f"embedding.spelling has {', '.join(unheard_of)}; there are {', '.join(SPELLING)}"
            )
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(row["tokens"])
        return cls(
            {
                WORD: Vocabulary.of_counts(counts, minimum=min_frequency),
                **{name: SPELLING[name].fit(counts) for name in spelling},
            }
        )

    @property
    def reads_vectors(self) -> bool:
        """Whether the elements are vectors rather than tokens."""
        return VECTORS in self.fields

    def encode(self, row: Row) -> dict[str, NDArray[Any]]:
        """The row's numbers by field: ``word [source]``, any other ``[source, width]``.

        Raises:
            ValueError: the row is of the other kind, or its vectors of another width.
        """
        encoded: dict[str, NDArray[Any]] = {}
        for name, field in self.fields.items():
            if field.reads not in row:
                other = "tokens" if field.reads == "vectors" else "vectors"
                raise ValueError(f"{place(row)}: {other}, where this model reads {field.reads}")
            try:
                encoded[name] = field.encode(row[field.reads])  # type: ignore[literal-required]
            except ValueError as error:
                raise ValueError(f"{place(row)}: {error}") from error
        return encoded

    def unknown(self, row: Row) -> int:
        """How many elements of the row training never saw."""
        field = self.fields.get(WORD)
        if not isinstance(field, Vocabulary):
            return 0
        return sum(token not in field for token in row["tokens"])

    def state(self) -> dict[str, dict[str, Any]]:
        """Plain values for the checkpoint."""
        return {name: field.state() for name, field in self.fields.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Mapping[str, Any]]) -> Inputs:
        """The inputs whose ``state()`` this is."""
        return cls({name: KINDS[name](**values) for name, values in state.items()})


def length(row: Row) -> int:
    """Elements in a row."""
    return len(row["vectors"]) if "vectors" in row else len(row["tokens"])


def stack(arrays: list[NDArray[Any]], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Arrays ``[source, ...]`` of several rows as one ``[batch, longest, ...]``, zeros behind."""
    stacked = np.zeros((len(arrays), int(lengths.max()), *arrays[0].shape[1:]), arrays[0].dtype)
    for number, array in enumerate(arrays):
        stacked[number, : len(array)] = array
    return stacked
