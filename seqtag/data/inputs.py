"""How the tokens or vectors of a row become the numbers a model reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import Row, place
from seqtag.data.vocabulary import VectorScale, Vocabulary

Field = Vocabulary | VectorScale


class Inputs:
    """The input fields of a data set, as training found them.

    Args:
        fields: ``word`` (a vocabulary) for rows of tokens, ``vectors`` (a scale) for rows of
            vectors.
    """

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = dict(fields)

    @classmethod
    def fit(cls, rows: Iterable[Row], *, vectors: bool, min_frequency: int) -> Inputs:
        """Collect the vocabulary, or measure the vectors, of the training rows."""
        if vectors:
            return cls({"vectors": VectorScale.measure(row["vectors"] for row in rows)})
        sequences = (row["tokens"] for row in rows)
        return cls({"word": Vocabulary.count(sequences, minimum=min_frequency)})

    @property
    def reads_vectors(self) -> bool:
        """Whether the elements are vectors rather than tokens."""
        return "vectors" in self.fields

    def encode(self, row: Row) -> dict[str, NDArray[Any]]:
        """The row's numbers by field: ``word [source]``, ``vectors [source, width]``.

        Raises:
            ValueError: the row is of the other kind, or its vectors of another width.
        """
        encoded: dict[str, NDArray[Any]] = {}
        for name, field in self.fields.items():
            if isinstance(field, Vocabulary):
                if "tokens" not in row:
                    raise ValueError(f"{place(row)}: vectors, where this model reads tokens")
                encoded[name] = field.encode(row["tokens"])
            else:
                if "vectors" not in row:
                    raise ValueError(f"{place(row)}: tokens, where this model reads vectors")
                try:
                    encoded[name] = field.encode(row["vectors"])
                except ValueError as error:
                    raise ValueError(f"{place(row)}: {error}") from error
        return encoded

    def unknown(self, row: Row) -> int:
        """How many elements of the row training never saw."""
        field = self.fields.get("word")
        if not isinstance(field, Vocabulary):
            return 0
        return sum(token not in field for token in row["tokens"])

    def state(self) -> dict[str, dict[str, Any]]:
        """Plain values for the checkpoint."""
        return {name: field.state() for name, field in self.fields.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Mapping[str, Any]]) -> Inputs:
        """The inputs whose ``state()`` this is."""
        kinds: dict[str, type[Field]] = {"word": Vocabulary, "vectors": VectorScale}
        return cls({name: kinds[name](**values) for name, values in state.items()})


def length(row: Row) -> int:
    """Elements in a row."""
    return len(row["vectors"]) if "vectors" in row else len(row["tokens"])


def stack(arrays: list[NDArray[Any]], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Arrays ``[source, ...]`` of several rows as one ``[batch, longest, ...]``, zeros behind."""
    stacked = np.zeros((len(arrays), int(lengths.max()), *arrays[0].shape[1:]), arrays[0].dtype)
    for number, array in enumerate(arrays):
        stacked[number, : len(array)] = array
    return stacked
