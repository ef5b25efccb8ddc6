"""What training, or a file, teaches about tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from seqtag.batch import AFFIXES, CHARACTERS, WORD
from seqtag.data.field import Field
from seqtag.data.normalization import Normalization
from seqtag.data.spelling import Affixes, SpeltWords
from seqtag.data.vector_file import read_word_vectors
from seqtag.data.vocabulary import Vocabulary
from seqtag.data.vocabulary_file import describe_coverage, read_vocabulary
from seqtag.nn.word_vectors import WORD_VECTORS

SPELLING: dict[str, type[Affixes] | type[SpeltWords]] = {
    AFFIXES: Affixes,
    CHARACTERS: SpeltWords,
}
"""The fields that say how a word is spelt."""


def fit_tokens(
    counts: Counter[str],
    *,
    spelling: Sequence[str],
    data: Mapping[str, Any],
    normalization: Normalization,
) -> tuple[dict[str, Field], list[str]]:
    """The input fields of tokens, and what the user is to be told of them.

    Args:
        counts: how often training has each token, as the files spell it.
        spelling: which fields say how a token is spelt.
        data: the config's node; see ``Inputs.fit``.
        normalization: of all text.

    Raises:
        ValueError: there is no such field, two keys contradict each other, a file cannot be read
            or has nothing to do with the tokens.
    """
    if unheard_of := [name for name in spelling if name not in SPELLING]:
        raise ValueError(
            f"embedding.spelling has {', '.join(unheard_of)}; there are {', '.join(SPELLING)}"
        )
    counts = _normalized(counts, normalization)
    notes = []
    if data["vocabulary"] is None:
        vocabulary = Vocabulary.of_counts(counts, minimum=data["min_frequency"])
    else:
        if data["min_frequency"] != 1:
            raise ValueError(
                f"data.min_frequency={data['min_frequency']} chooses symbols of the training "
                f"split, and data.vocabulary={data['vocabulary']} gives them; leave one of the "
                "two out"
            )
        vocabulary = read_vocabulary(data["vocabulary"], normalization)
        notes.append(describe_coverage(data["vocabulary"], vocabulary, counts))
        vocabulary = vocabulary.counted(counts)
    fields: dict[str, Field] = {
        WORD: vocabulary,
        **{name: SPELLING[name].fit(counts) for name in spelling},
    }
    if data["word_vectors"] is not None:
        found, remarks = read_word_vectors(
            data["word_vectors"], limit=data["word_vectors_limit"], normalization=normalization
        )
        fields[WORD_VECTORS] = found
        notes += [*remarks, found.describe_coverage(data["word_vectors"], counts)]
    return fields, notes


def _normalized(counts: Counter[str], normalization: Normalization) -> Counter[str]:
    """The counts of the normalised symbols."""
    if normalization.form is None:
        return counts
    merged: Counter[str] = Counter()
    for symbol, count in counts.items():
        merged[normalization(symbol)] += count
    return merged
