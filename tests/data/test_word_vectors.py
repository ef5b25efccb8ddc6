import json
import pickle

import numpy as np
import pytest

from seqtag.data.word_vectors import WordVectors

FOUND = WordVectors(["apple", "Apple", "i\u0307x"], 2)


def test_a_word_is_found_exactly_before_it_is_lower_cased() -> None:
    assert FOUND.encode(["apple", "Apple", "APPLE", "pear", "\u0130X"]).tolist() == [2, 3, 2, 1, 4]


def test_lower_case_does_not_find_upper_case() -> None:
    assert WordVectors(["NASA"], 1).encode(["nasa", "NASA", "Nasa"]).tolist() == [1, 2, 1]


def test_an_empty_sequence_has_no_ids() -> None:
    assert FOUND.encode([]).shape == (0,)


def test_is_the_same_after_it_was_kept_as_plain_values_but_for_the_numbers() -> None:
    again = WordVectors(**json.loads(json.dumps(FOUND.state())))
    assert (again.symbols, again.width, again.table) == (FOUND.symbols, 2, None)
    assert len(again) == len(FOUND) == 5


def test_other_processes_are_not_sent_the_numbers() -> None:
    found = WordVectors(["a"], 1, np.ones((3, 1), np.float32))
    again = pickle.loads(pickle.dumps(found))
    assert again.encode(["A"]).tolist() == [2]
    assert again.table is None
    assert found.table is not None


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ({"apple": 1}, "100% are found exactly, 0% lower-cased, 0% not"),
        ({"apple": 9_999, "x": 1}, "over 99.9% are found exactly, 0% lower-cased, under 0.1% not"),
        ({"APPLE": 1, "x": 1}, "0% are found exactly, 50.0% lower-cased, 50.0% not"),
    ],
)
def test_coverage_is_all_only_where_nothing_is_missing(counts: dict[str, int], shares: str) -> None:
    assert shares in FOUND.describe_coverage("f", counts)
