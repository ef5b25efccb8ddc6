import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqtag.batch import UNKNOWN
from seqtag.data.vocabulary import Moments, VectorScale, Vocabulary


class TestVocabulary:
    def test_frequent_symbols_come_first_and_equally_frequent_ones_by_name(self) -> None:
        found = Vocabulary.count([["b", "a"], ["é", "a", "b"], ["C"]], minimum=1)
        assert found.symbols == ("a", "b", "C", "é")
        assert len(found) == 6

    def test_the_order_of_the_rows_does_not_matter(self) -> None:
        rows = [[random.Random(n).choice("abcdefgh") for _ in range(n)] for n in range(20)]
        shuffled = random.Random(1).sample(rows, len(rows))
        first, second = (Vocabulary.count(r, minimum=1) for r in (rows, shuffled))
        assert first.symbols == second.symbols

    def test_symbols_below_the_minimum_are_unknown(self) -> None:
        found = Vocabulary.count([["a", "b", "b"], ["c", "c", "c"]], minimum=2)
        assert found.symbols == ("c", "b")
        assert found.encode(["a", "b", "c", "never"]).tolist() == [1, 3, 2, 1]
        assert "a" not in found
        assert "b" in found

    def test_no_symbol_takes_the_id_of_padding_or_unknown(self) -> None:
        found = Vocabulary(["<pad>", "<unk>", "0", ""])
        assert found.encode(found.symbols).tolist() == [2, 3, 4, 5]

    def test_an_empty_sequence_has_no_ids(self) -> None:
        ids = Vocabulary(["a"]).encode([])
        assert ids.shape == (0,)
        assert ids.dtype == np.int32

    def test_is_the_same_after_it_was_kept_as_plain_values(self) -> None:
        found = Vocabulary(["b", "a"])
        assert Vocabulary(**json.loads(json.dumps(found.state()))).symbols == ("b", "a")

    def test_symbols_may_have_been_counted_before(self) -> None:
        found = Vocabulary.of_counts({"a": 1, "c": 3, "b": 3}, minimum=2)
        assert found.symbols == ("b", "c")
        assert found.encode(["a", "b"]).tolist() == [UNKNOWN, UNKNOWN + 1]

    def test_knows_how_often_training_has_each_symbol_and_those_it_leaves_out(self) -> None:
        found = Vocabulary.of_counts({"a": 1, "c": 3, "b": 3}, minimum=2)
        assert found.counts is not None
        assert found.counts.tolist() == [0, 0, 3, 3]
        assert found.outside == {"a": 1}
        again = Vocabulary(**json.loads(json.dumps(found.state())))
        assert again.counts is not None
        assert again.counts.tolist() == [0, 0, 3, 3]
        assert again.outside == {"a": 1}

    def test_symbols_of_a_file_may_be_unseen_and_training_may_have_others(self) -> None:
        found = Vocabulary(["x", "a"]).counted({"a": 4, "b": 2})
        assert found.symbols == ("x", "a")
        assert found.counts is not None
        assert found.counts.tolist() == [0, 0, 0, 4]
        assert found.outside == {"b": 2}

    def test_symbols_that_were_never_counted_have_no_counts(self) -> None:
        assert Vocabulary(["x"]).counts is None
        assert Vocabulary(["x"]).state() == {"symbols": ["x"]}


class TestMoments:
    @given(
        cuts=st.lists(st.integers(0, 50), max_size=6),
        around=st.sampled_from([(0.0, 1e-3), (-3.0, 1e4), (1e8, 1.0)]),
    )
    def test_in_pieces_equal_numpy_on_the_whole(
        self, cuts: list[int], around: tuple[float, float]
    ) -> None:
        values = np.random.default_rng(len(cuts)).normal(*around, (50, 2))
        moments = Moments()
        for piece in np.split(values, sorted(cuts)):
            moments.add(piece)
        np.testing.assert_allclose(moments.mean, values.mean(0), rtol=1e-9)
        np.testing.assert_allclose(moments.deviation, values.std(0), rtol=1e-6)

    def test_a_large_mean_does_not_hide_the_deviation(self) -> None:
        # Sums of squares in float64 would give anything between 0 and 2 here.
        moments = Moments()
        for value in [1e8 - 1, 1e8 + 1] * 500:
            moments.add(np.array([[value]]))
        assert moments.mean == pytest.approx([1e8], abs=1e-6)
        assert moments.deviation == pytest.approx([1.0], rel=1e-6)

    @pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1e15])
    def test_a_constant_column_has_deviation_1(self, constant: float) -> None:
        moments = Moments()
        for size in (1, 3, 1000):
            moments.add(np.full((size, 1), constant))
        assert moments.deviation.tolist() == [1.0]
        assert moments.mean == pytest.approx([constant])

    def test_a_column_of_tiny_numbers_is_not_taken_for_constant(self) -> None:
        moments = Moments()
        moments.add(np.array([[-3e-19, 5.0], [3e-19, 5.0]]))
        assert moments.deviation == pytest.approx([3e-19, 1.0])

    def test_nothing_at_all_has_no_columns(self) -> None:
        moments = Moments()
        moments.add(np.zeros((0, 3)))
        assert moments.count == 0
        assert moments.deviation.tolist() == []


class TestVectorScale:
    SCALE = VectorScale(mean=[10.0, 0.0], deviation=[2.0, 1.0])

    def test_measures_every_element_of_every_sequence(self) -> None:
        scale = VectorScale.measure([[[8.0, 5.0], [8.0, 5.0]], [[12.0, 5.0], [12.0, 5.0]]])
        assert scale.mean.tolist() == [10.0, 5.0]
        assert scale.deviation.tolist() == [2.0, 1.0]
        assert len(scale) == 2

    def test_standardises(self) -> None:
        encoded = self.SCALE.encode([[14.0, -1.5], [10.0, 0.0]])
        assert encoded.tolist() == [[2.0, -1.5], [0.0, 0.0]]
        assert encoded.dtype == np.float32

    @pytest.mark.parametrize(
        ("vectors", "message"),
        [
            ([[1.0, 2.0, 3.0]], r"shape \(1, 3\); this model reads \[elements, 2\]"),
            ([1.0, 2.0], r"shape \(2,\)"),
            ([[1.0, 2.0], [1.0]], "no vectors of 2 numbers each"),
            ([["a", "b"]], "no vectors of 2 numbers each"),
            ([[{}, {}]], "no vectors of 2 numbers each"),
            ([[float("nan"), 1.0]], "NaN or infinity"),
            ([[None, 1.0]], "NaN or infinity"),
            ([[1.0, float("inf")]], "NaN or infinity"),
        ],
    )
    def test_other_things_than_such_vectors_are_refused(self, vectors: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.SCALE.encode(vectors)

    def test_is_the_same_after_it_was_kept_as_plain_values(self) -> None:
        again = VectorScale(**json.loads(json.dumps(self.SCALE.state())))
        assert again.encode([[14.0, -1.5]]).tolist() == [[2.0, -1.5]]
