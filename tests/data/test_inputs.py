import json
import re

import numpy as np
import pytest

from seqtag.batch import Row
from seqtag.data.inputs import Inputs, length, stack

TOKENS: Row = {"tokens": ["a", "b", "a"], "file": "f.tsv", "line": 3}
VECTORS: Row = {"vectors": [[1.0, 2.0], [3.0, 2.0]], "file": "f.jsonl", "line": 8}


def of_tokens(*spelling: str) -> Inputs:
    return Inputs.fit([TOKENS], vectors=False, min_frequency=1, spelling=spelling)


def of_vectors() -> Inputs:
    return Inputs.fit([VECTORS], vectors=True, min_frequency=1, spelling=["affixes"])


def test_tokens_become_ids() -> None:
    inputs = of_tokens()
    assert not inputs.reads_vectors
    encoded = inputs.encode({"tokens": ["b", "z", "a"]})
    assert {name: ids.tolist() for name, ids in encoded.items()} == {"word": [3, 1, 2]}


def test_vectors_are_standardised() -> None:
    inputs = of_vectors()
    assert inputs.reads_vectors
    encoded = inputs.encode(VECTORS)
    assert {n: v.tolist() for n, v in encoded.items()} == {"vectors": [[-1.0, 0.0], [1.0, 0.0]]}


def test_rare_tokens_stay_unknown() -> None:
    inputs = Inputs.fit([TOKENS], vectors=False, min_frequency=2, spelling=["affixes"])
    assert inputs.unknown(TOKENS) == 1
    assert inputs.encode(TOKENS)["word"].tolist() == [2, 1, 2]


def test_words_are_spelt_where_that_is_asked_for() -> None:
    inputs = of_tokens("characters", "affixes")
    assert list(inputs.fields) == ["word", "characters", "affixes"]
    encoded = inputs.encode({"tokens": ["z", "aba"]})
    assert list(encoded) == ["word", "characters", "affixes"]
    assert encoded["word"].tolist() == [1, 1]
    # "b" was met once, which is too seldom to know it.
    assert encoded["characters"][:, :4].tolist() == [[1, 0, 0, 0], [2, 1, 2, 0]]
    assert encoded["affixes"].shape == (2, 13)


def test_rows_are_read_once() -> None:
    inputs = Inputs.fit(
        iter([TOKENS, TOKENS]), vectors=False, min_frequency=1, spelling=["affixes", "characters"]
    )
    assert inputs.state() == {
        "word": {"symbols": ["a", "b"]},
        "affixes": {},
        "characters": {"symbols": ["a", "b"]},
    }


def test_vectors_have_no_spelling() -> None:
    assert list(of_vectors().fields) == ["vectors"]


def test_a_spelling_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"embedding\.spelling has runes; there are affixes, char"):
        of_tokens("affixes", "runes")


def test_unknown_elements_are_counted_one_by_one() -> None:
    for inputs in (of_tokens(), of_tokens("affixes", "characters")):
        assert inputs.unknown({"tokens": ["z", "a", "z"]}) == 2
    assert of_vectors().unknown(VECTORS) == 0


@pytest.mark.parametrize(
    ("inputs", "row", "message"),
    [
        (of_tokens(), VECTORS, "f.jsonl:8: vectors, where this model reads tokens"),
        (of_vectors(), TOKENS, "f.tsv:3: tokens, where this model reads vectors"),
        (
            of_vectors(),
            {"vectors": [[1.0]], "file": "f", "line": 2},
            "f:2: the vectors have shape (1, 1); this model reads [elements, 2]",
        ),
    ],
    ids=["vectors", "tokens", "width"],
)
def test_rows_of_another_kind_are_refused_by_file_and_line(
    inputs: Inputs, row: Row, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        inputs.encode(row)


@pytest.mark.parametrize(
    ("inputs", "row"),
    [
        (of_tokens(), TOKENS),
        (of_tokens("affixes", "characters"), TOKENS),
        (of_tokens("characters", "affixes"), TOKENS),
        (of_vectors(), VECTORS),
    ],
)
def test_are_the_same_after_they_were_kept_as_plain_values(inputs: Inputs, row: Row) -> None:
    again = Inputs.from_state(json.loads(json.dumps(inputs.state())))
    assert list(again.fields) == list(inputs.fields)
    for name, values in inputs.encode(row).items():
        np.testing.assert_array_equal(again.encode(row)[name], values)


def test_length_counts_elements() -> None:
    assert length(TOKENS) == 3
    assert length(VECTORS) == 2
    assert length({"tokens": []}) == 0


def test_stacked_rows_have_zeros_behind() -> None:
    stacked = stack([np.array([1, 2, 3]), np.array([4])], np.array([3, 1]))
    assert stacked.tolist() == [[1, 2, 3], [4, 0, 0]]
    wide = stack([np.ones((1, 2), np.float32), np.ones((2, 2), np.float32)], np.array([1, 2]))
    assert wide.tolist() == [[[1, 1], [0, 0]], [[1, 1], [1, 1]]]
    assert wide.dtype == np.float32
