import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqtag.batch import Row, length
from seqtag.data.inputs import Inputs, stack

TOKENS: Row = {"tokens": ["a", "b", "a"], "file": "f.tsv", "line": 3}
VECTORS: Row = {"vectors": [[1.0, 2.0], [3.0, 2.0]], "file": "f.jsonl", "line": 8}


DATA: dict[str, Any] = {
    "min_frequency": 1,
    "features": [],
    "numeric_features": [],
    "vocabulary": None,
    "word_vectors": None,
    "word_vectors_limit": 200_000,
    "normalization": None,
}


def fit(*rows: Row, spelling: tuple[str, ...] = (), words: bool = True, **data: Any) -> Inputs:
    return Inputs.fit(
        iter(rows),
        vectors="vectors" in rows[0],
        words=words,
        spelling=spelling,
        data={**DATA, **data},
    )


def of_tokens(*spelling: str) -> Inputs:
    return fit(TOKENS, spelling=spelling)


def of_vectors() -> Inputs:
    return fit(VECTORS, spelling=("affixes",))


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
    inputs = fit(TOKENS, spelling=("affixes",), min_frequency=2)
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
    inputs = fit(TOKENS, TOKENS, spelling=("affixes", "characters"))
    assert inputs.state() == {
        "word": {"symbols": ["a", "b"], "counts": [4, 2], "outside": {}},
        "affixes": {},
        "characters": {"symbols": ["a", "b"]},
    }


def test_vectors_have_no_spelling() -> None:
    assert list(of_vectors().fields) == ["vectors"]


def test_symbols_that_are_no_words_have_no_spelling() -> None:
    assert list(fit(TOKENS, spelling=("affixes",), words=False).fields) == ["word"]


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


TAGGED: Row = {
    "tokens": ["a", "b", "a"],
    "features": {"UPOS": ["N", "V", "N"], "a.b: c": [1.0, 5.0, None], "": ["x", "x", "x"]},
    "file": "f.tsv",
    "line": 3,
}


class TestFeatures:
    INPUTS = fit(TAGGED, TAGGED, features=["UPOS", ""], numeric_features=["a.b: c"])

    def test_stand_beside_the_tokens_by_column(self) -> None:
        row: Row = {
            "tokens": ["b", "z"],
            "features": {"UPOS": ["X", "V"], "": ["x", "x"], "a.b: c": [None, 7]},
        }
        encoded = self.INPUTS.encode(row)
        assert {name: values.tolist() for name, values in encoded.items()} == {
            "word": [3, 1],
            "feature:UPOS": [1, 3],
            "feature:": [2, 2],
            "number:a.b: c": [[0, 0], [2, 1]],
        }
        assert self.INPUTS.unknown(row) == 1
        assert self.INPUTS.unknown_categories(row) == {"UPOS": 1, "": 0}

    def test_stand_beside_vectors_too(self) -> None:
        row: Row = {**VECTORS, "features": {0: ["N", "V"], "f": [1.0, 3.0]}}  # type: ignore[dict-item]
        row["features"]["0"] = ["N", "V"]
        inputs = fit(row, features=[0], numeric_features=["f"])
        assert list(inputs.fields) == ["vectors", "feature:0", "number:f"]
        encoded = inputs.encode(row)
        assert encoded["vectors"].tolist() == [[-1.0, 0.0], [1.0, 0.0]]
        assert encoded["feature:0"].tolist() == [2, 3]
        assert encoded["number:f"].tolist() == [[-1, 1], [1, 1]]

    def test_one_value_is_that_of_every_element(self) -> None:
        row: Row = {"tokens": ["a", "b"], "features": {"UPOS": "V", "": "x", "a.b: c": 3.0}}  # type: ignore[dict-item]
        encoded = self.INPUTS.encode(row)
        assert encoded["feature:UPOS"].tolist() == [3, 3]
        assert encoded["number:a.b: c"].tolist() == [[0, 1], [0, 1]]

    def test_that_say_little_are_noted(self) -> None:
        assert self.INPUTS.notes == [
            "data.features: '' is 'x' in all of training; it says nothing",
            "data.numeric_features: 'a.b: c' is missing in 2 of the 6 training elements",
        ]

    @pytest.mark.parametrize(
        ("values", "note", "encoded"),
        [
            ([4.0, 4.0, None], "is 4 wherever it is there, in all of training", [[0, 1], [0, 0]]),
            ([None, None, None], "is missing in all of training", [[0, 0], [0, 0]]),
        ],
    )
    def test_what_training_could_not_teach_is_not_shown(
        self, values: list[float | None], note: str, encoded: list[list[float]]
    ) -> None:
        inputs = fit({"tokens": ["a", "b", "c"], "features": {"f": values}}, numeric_features=["f"])
        assert inputs.notes == [f"data.numeric_features: 'f' {note}"]
        found = inputs.encode({"tokens": ["a", "b"], "features": {"f": [1e6, None]}})
        assert found["number:f"].tolist() == encoded

    @pytest.mark.parametrize(
        ("features", "message"),
        [
            (None, "f:2: no feature 'k', which this model reads beside the input; it has none"),
            ({"x": ["a"]}, "f:2: no feature 'k', which .* it has 'x'"),
            ({"k": ["a"]}, "f:2: feature 'k' has 1 values for 2 elements"),
            ({"k": ["a", 3]}, "f:2: feature 'k' is 3; a category is a string"),
            ({"k": ["a", None]}, "f:2: feature 'k' is None; a category is a string"),
            ({"k": ["a", "b"], "n": [1.0, float("nan")]}, "f:2: feature 'n' is nan; it must be a"),
            ({"k": ["a", "b"], "n": [float("inf"), 1]}, "f:2: feature 'n' is inf; it must be a"),
            ({"k": ["a", "b"], "n": ["1", 1]}, "f:2: feature 'n' is '1'; it must be a finite"),
            ({"k": ["a", "b"], "n": [True, 1]}, "f:2: feature 'n' is True; it must be a finite"),
            ({"k": ["a", "b"], "n": [10**400, 1]}, "f:2: feature 'n' is 10"),
            ({"k": ["a", "b"], "n": [1e300, 1]}, "f:2: a number that is too large beside those of"),
        ],
    )
    def test_other_things_are_refused_by_place(self, features: Any, message: str) -> None:
        good: Row = {"tokens": ["a", "b"], "features": {"k": ["a", "b"], "n": [1.0, 1.0 + 1e-9]}}
        inputs = fit(good, features=["k"], numeric_features=["n"])
        row: Row = {"tokens": ["a", "b"], "file": "f", "line": 2}
        if features is not None:
            row["features"] = features
        with pytest.raises(ValueError, match=f"^{message}"):
            inputs.encode(row)

    def test_numbers_that_cannot_be_measured_are_refused(self) -> None:
        row: Row = {"tokens": ["a", "b"], "features": {"n": [1e308, -1e308]}}
        with pytest.raises(ValueError, match="numbers of 'n' are too large to be measured"):
            fit(row, numeric_features=["n"])

    def test_a_column_is_a_category_or_a_number(self) -> None:
        with pytest.raises(ValueError, match=r"data\.numeric_features=\['1'\]: 1 is named twice"):
            fit(TAGGED, features=[1], numeric_features=["1"])

    def test_many_numbers_are_measured_in_pieces(self) -> None:
        values = np.random.default_rng(1).normal(5, 3, 10_000)
        row: Row = {"tokens": ["a"] * 100}
        rows = (Row(**row, features={"n": part.tolist()}) for part in values.reshape(100, 100))
        inputs = fit(*rows, numeric_features=["n"])
        state = inputs.state()["number:n"]
        assert state["mean"] == pytest.approx(values.mean())
        assert state["deviation"] == pytest.approx(values.std())


COMPOSED, APART = "\u00e9", "e\u0301"


class TestNormalization:
    def test_spellings_of_a_word_are_one_word_to_the_model(self) -> None:
        rows: list[Row] = [{"tokens": [COMPOSED]}, {"tokens": [APART, "\ufb01"]}]
        inputs = fit(*rows, spelling=("characters",), normalization="NFC")
        assert inputs.state()["word"]["symbols"] == [COMPOSED, "\ufb01"]
        assert inputs.state()["characters"] == {"symbols": [COMPOSED]}
        assert inputs.encode({"tokens": [APART]})["word"].tolist() == [2]
        assert inputs.unknown({"tokens": [APART, "z"]}) == 1
        compatible = fit(*rows, normalization="NFKC")
        assert compatible.encode({"tokens": ["fi", COMPOSED]})["word"].tolist() == [3, 2]

    def test_nothing_is_normalised_unasked(self) -> None:
        inputs = fit({"tokens": [COMPOSED]})
        assert inputs.encode({"tokens": [COMPOSED, APART]})["word"].tolist() == [2, 1]

    def test_rows_stay_as_they_are(self) -> None:
        row: Row = {"tokens": [APART]}
        fit(row, normalization="NFC").encode(row)
        assert row == {"tokens": [APART]}

    def test_counts_of_spellings_are_added(self) -> None:
        row: Row = {"tokens": [COMPOSED, APART, "a"]}
        assert fit(row, normalization="NFD", min_frequency=2).state()["word"] == {
            "symbols": [APART],
            "counts": [2],
            "outside": {"a": 1},
        }

    def test_categories_are_normalised(self) -> None:
        row: Row = {**VECTORS, "features": {"k": [COMPOSED, "x"]}}
        inputs = fit(row, features=["k"], normalization="NFD")
        again: Row = {**VECTORS, "features": {"k": [APART, APART]}}
        assert inputs.encode(again)["feature:k"].tolist() == [2, 2]
        assert inputs.unknown_categories(again) == {"k": 0}

    @pytest.mark.parametrize("form", ["nfc", "C", 1, True])
    def test_a_form_that_there_is_not_is_refused(self, form: Any) -> None:
        with pytest.raises(
            ValueError, match=r"data\.normalization is .*; it must be NFC, NFD, NFKC"
        ):
            fit(TOKENS, normalization=form)


class TestVocabularyFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> str:
        path = tmp_path / "symbols.txt"
        path.write_bytes(f"z\nb\n \n{APART}\n".encode())
        return str(path)

    def test_gives_the_symbols_and_their_order(self, file: str) -> None:
        inputs = fit(TOKENS, spelling=("characters",), vocabulary=file)
        assert inputs.encode({"tokens": ["a", "b", "z", " "]})["word"].tolist() == [1, 3, 2, 4]
        # What is spelt is still what training has.
        assert inputs.state()["characters"] == {"symbols": ["a"]}

    def test_its_coverage_is_stated(self, file: str) -> None:
        assert fit(TOKENS, vocabulary=file).notes == [
            "data.vocabulary: 4 symbols; they cover 33.3% of the 3 training elements, and 50.0% of "
            "the 2 different ones"
        ]

    def test_is_normalised_with_the_rest(self, file: str) -> None:
        inputs = fit({"tokens": [COMPOSED]}, vocabulary=file, normalization="NFC")
        assert inputs.encode({"tokens": [APART, COMPOSED]})["word"].tolist() == [5, 5]

    def test_of_another_kind_is_refused(self, file: str) -> None:
        with pytest.raises(
            ValueError, match="has none of the 1 different elements of the training"
        ):
            fit({"tokens": ["q"]}, vocabulary=file)

    def test_leaves_no_meaning_to_a_frequency(self, file: str) -> None:
        with pytest.raises(ValueError, match=r"data\.min_frequency=2 chooses .* data\.vocabulary="):
            fit(TOKENS, vocabulary=file, min_frequency=2)


VECTOR_FILE = "3 2\na 1 0\nB 3 0\nb 5 0\n"


class TestWordVectors:
    @pytest.fixture
    def file(self, tmp_path: Path) -> str:
        path = tmp_path / "vectors.txt"
        path.write_text(VECTOR_FILE, encoding="utf-8")
        return str(path)

    def test_are_one_more_field(self, file: str) -> None:
        inputs = fit(TOKENS, spelling=("affixes",), word_vectors=file)
        assert list(inputs.fields) == ["word", "affixes", "word_vectors"]
        assert inputs.encode({"tokens": ["A", "B", "?"]})["word_vectors"].tolist() == [2, 3, 1]

    def test_their_coverage_is_stated(self, file: str) -> None:
        row: Row = {"tokens": ["a", "a", "a", "A", "A", "B", "x", "y"]}
        assert fit(row, word_vectors=file).notes == [
            "data.word_vectors: 3 words, 2 numbers each; of the 8 training elements 50.0% are "
            "found exactly, 25.0% lower-cased, 25.0% not; of the 5 different ones 40.0%, 20.0% and "
            "40.0%"
        ]

    def test_of_another_language_are_refused(self, file: str) -> None:
        with pytest.raises(
            ValueError, match=r"has none of the 1 different elements .* such as 'q'"
        ):
            fit({"tokens": ["q"]}, word_vectors=file)

    def test_the_state_holds_words_and_no_numbers(self, file: str) -> None:
        inputs = fit(TOKENS, word_vectors=file, word_vectors_limit=1)
        assert inputs.state()["word_vectors"] == {"symbols": ["a"], "width": 2}


@pytest.mark.parametrize(
    ("key", "value"), [("vocabulary", "f"), ("word_vectors", "f"), ("normalization", "NFC")]
)
def test_settings_for_text_are_refused_with_vectors(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"data.{key}={value} is for text, and the elements"):
        fit(VECTORS, **{key: value})


def test_inputs_without_features_are_kept_as_before() -> None:
    assert list(of_tokens().state()) == ["word"]
    assert Inputs.from_state({"word": {"symbols": ["a", "b"]}}).notes == []


@pytest.mark.parametrize(
    ("inputs", "row"),
    [
        (of_tokens(), TOKENS),
        (of_tokens("affixes", "characters"), TOKENS),
        (of_tokens("characters", "affixes"), TOKENS),
        (of_vectors(), VECTORS),
        (TestFeatures.INPUTS, TAGGED),
        (fit({"tokens": ["e\u0301"]}, normalization="NFC"), {"tokens": ["\u00e9", "e\u0301"]}),
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
