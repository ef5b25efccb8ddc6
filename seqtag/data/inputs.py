"""How the tokens or vectors of a row become the numbers a model reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import VECTORS, WORD, Row, length, place
from seqtag.data.feature_collector import FeatureCollector
from seqtag.data.features import Categories, NumberScale, categories_of, numbers_of
from seqtag.data.field import Field
from seqtag.data.normalization import Normalization
from seqtag.data.token_fields import SPELLING, fit_tokens
from seqtag.data.vocabulary import VectorScale, Vocabulary
from seqtag.data.word_vectors import WordVectors
from seqtag.nn.features import FEATURE, NUMBER
from seqtag.nn.word_vectors import WORD_VECTORS

KINDS: dict[str, type[Field]] = {
    WORD: Vocabulary,
    VECTORS: VectorScale,
    WORD_VECTORS: WordVectors,
    **SPELLING,
}

FEATURES: dict[str, type[Field]] = {FEATURE: Categories, NUMBER: NumberScale}
"""The fields that are named by a column, by what stands before its name."""

FORM = "normalization"
"""Key of the state that is no field."""


class Inputs:
    """The input fields of a data set, as training found them.

    Args:
        fields: ``word`` (a vocabulary) for rows of tokens, perhaps with ``word_vectors``, and where
            those are words with ``affixes`` and ``characters``; or ``vectors`` (a scale) for rows
            of vectors; beside either, ``feature:COLUMN`` and ``number:COLUMN``.
        normalization: of all text before it is looked up.
        notes: what the user is to be told of how the fields were found.
    """

    def __init__(
        self,
        fields: Mapping[str, Field],
        *,
        normalization: Normalization,
        notes: Sequence[str],
    ) -> None:
        self.fields = dict(fields)
        self.normalization = normalization
        self.notes = list(notes)

    @classmethod
    def fit(
        cls,
        rows: Iterable[Row],
        *,
        vectors: bool,
        words: bool,
        spelling: Sequence[str],
        data: Mapping[str, Any],
    ) -> Inputs:
        """Collect the vocabulary, or measure the vectors, of the training rows.

        Args:
            rows: of the training split; read once.
            vectors: whether they hold vectors rather than tokens.
            words: whether the tokens are words, which have a spelling.
            spelling: which fields say how a word is spelt.
            data: the config's node: ``min_frequency`` (how often training must have a token for
                the model to know it), ``vocabulary`` (a file in its place), ``word_vectors`` (a
                file) and ``word_vectors_limit``, ``features`` and ``numeric_features`` (columns),
                ``normalization`` (a form).

        Raises:
            ValueError: there is no such field or form, a file cannot be read or has nothing to do
                with the rows, a key has no meaning beside another, a feature cannot be measured.
        """
        normalization = Normalization(data["normalization"])
        features = FeatureCollector(data["features"], data["numeric_features"], normalization)
        watched = features.watch(rows)
        if vectors:
            _refuse_text_keys(data)
            fields: dict[str, Field] = {
                VECTORS: VectorScale.measure(row["vectors"] for row in watched)
            }
            notes: list[str] = []
        else:
            counts: Counter[str] = Counter()
            for row in watched:
                counts.update(row["tokens"])
            fields, notes = fit_tokens(
                counts,
                spelling=spelling if words else (),
                data=data,
                normalization=normalization,
            )
        return cls(
            fields | features.fields(), normalization=normalization, notes=notes + features.notes()
        )

    @property
    def reads_vectors(self) -> bool:
        """Whether the elements are vectors rather than tokens."""
        return VECTORS in self.fields

    def encode(self, row: Row) -> dict[str, NDArray[Any]]:
        """The row's numbers by field: ids ``[source]``, any other ``[source, width]``.

        Raises:
            ValueError: the row is of the other kind, its vectors are of another width, or it lacks
                a feature.
        """
        reads = VECTORS if self.reads_vectors else "tokens"
        if reads not in row:
            other = "tokens" if self.reads_vectors else "vectors"
            raise ValueError(f"{place(row)}: {other}, where this model reads {reads}")
        elements: Sequence[Any] = (
            row["vectors"] if self.reads_vectors else self.normalization.each(row["tokens"])
        )
        encoded: dict[str, NDArray[Any]] = {}
        for name, field in self.fields.items():
            values = self._values(row, name, field) if field.reads == "features" else elements
            try:
                encoded[name] = field.encode(values)
            except ValueError as error:
                raise ValueError(f"{place(row)}: {error}") from error
        return encoded

    def unknown(self, row: Row) -> int:
        """How many elements of the row training never saw."""
        field = self.fields.get(WORD)
        if not isinstance(field, Vocabulary):
            return 0
        return sum(token not in field for token in self.normalization.each(row["tokens"]))

    def unknown_categories(self, row: Row) -> dict[str, int]:
        """By column, how many of the row's categories training never saw."""
        return {
            _column(name): sum(category not in field for category in self._values(row, name, field))
            for name, field in self.fields.items()
            if isinstance(field, Categories)
        }

    def state(self) -> dict[str, dict[str, Any]]:
        """Plain values for the checkpoint."""
        state = {name: field.state() for name, field in self.fields.items()}
        if self.normalization.form is not None:
            state[FORM] = {"form": self.normalization.form}
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Mapping[str, Any]]) -> Inputs:
        """The inputs whose ``state()`` this is, without notes."""
        fields = {name: _kind(name)(**values) for name, values in state.items() if name != FORM}
        form = state[FORM]["form"] if FORM in state else None
        return cls(fields, normalization=Normalization(form), notes=())

    def _values(self, row: Row, name: str, field: Field) -> Sequence[Any]:
        """What the row has in the column of a feature."""
        if isinstance(field, Categories):
            return categories_of(row, _column(name), length(row), self.normalization)
        return numbers_of(row, _column(name), length(row))


def _refuse_text_keys(data: Mapping[str, Any]) -> None:
    """Refuse settings for text where the elements are vectors."""
    keys = ["vocabulary", "word_vectors"]
    # A category beside the vectors is text.
    keys += [] if data["features"] else [FORM]
    for key in keys:
        if data[key] is not None:
            raise ValueError(
                f"data.{key}={data[key]} is for text, and the elements of the training split are "
                "vectors; leave it out"
            )


def _kind(name: str) -> type[Field]:
    """The class of an input field."""
    return (
        next((kind for prefix, kind in FEATURES.items() if name.startswith(prefix)), None)
        or KINDS[name]
    )


def _column(name: str) -> str:
    """The column that an input field with a feature is named by."""
    return name.partition(":")[2]


def stack(arrays: list[NDArray[Any]], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """Arrays ``[source, ...]`` of several rows as one ``[batch, longest, ...]``, zeros behind."""
    stacked = np.zeros((len(arrays), int(lengths.max()), *arrays[0].shape[1:]), arrays[0].dtype)
    for number, array in enumerate(arrays):
        stacked[number, : len(array)] = array
    return stacked
