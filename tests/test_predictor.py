from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqtag
from seqtag.batch import Output
from seqtag.checkpoint import load_checkpoint
from seqtag.device import choose_device
from seqtag.predictor import Predictor, load

VECTORS = (
    '{"text": [[1, 2], [3, 2]], "label": "x"}\n'
    '{"text": [[5, 1]], "label": "y"}\n'
    '{"text": [[0, 0], [1, 1], [2, 2]], "label": "x"}\n'
)
MANY = [["the", "dog", "runs", "a", "fish"] * (n % 5) + ["cat"] * (n % 3) for n in range(100)]


@pytest.fixture
def run(small_config, save_run) -> Path:
    return save_run(small_config("tagging"))


@pytest.fixture
def predictor(run: Path) -> Predictor:
    return load(run, device="cpu")


@pytest.fixture
def of_vectors(small_config, save_run) -> Predictor:
    files = {"train": VECTORS, "dev": VECTORS}
    return load(save_run(small_config("classification", files=files, data="jsonl")), device="cpu")


class Counted:
    """An endless iterator that knows how many items it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            self.asked += 1
            yield ["dog"] * (self.asked % 4)


def values(outputs: Iterator[Output]) -> list[Any]:
    return [output.value for output in outputs]


class TestOrder:
    def test_one_output_per_item_in_the_order_of_the_items(self, predictor: Predictor) -> None:
        outputs = values(predictor.predict(MANY))
        assert [len(value) for value in outputs] == [len(item) for item in MANY]
        alone = [value for item in MANY[:15] for value in values(predictor.predict([item]))]
        assert outputs[:15] == alone

    def test_empty_items_have_empty_outputs(self, predictor: Predictor) -> None:
        outputs = values(predictor.predict(["", "the dog", [], "  ", ["cat"]]))
        assert [len(value) for value in outputs] == [0, 2, 0, 0, 1]
        assert values(predictor.predict(["", []])) == [[], []]
        assert values(predictor.predict([])) == []

    def test_an_empty_sequence_has_no_label(self, small_config, save_run) -> None:
        predictor = load(save_run(small_config("classification")), device="cpu")
        first, second = values(predictor.predict(["", "good dog"]))
        assert first is None
        assert second in ("yes", "no")

    def test_empty_items_have_probabilities_where_others_have(
        self, predictor: Predictor, small_config, save_run
    ) -> None:
        # A writer of tables gives every row a cell for them, or none.
        assert next(predictor.predict([""], probabilities=True)).probabilities == []
        assert next(predictor.predict([""])).probabilities is None
        for task, expected in (("classification", {}), ("regression", None)):
            other = load(save_run(small_config(task), task), device="cpu")
            assert next(other.predict([""], probabilities=True)).probabilities == expected

    @pytest.mark.parametrize("max_rows", [1, 7, 64])
    def test_the_batch_size_changes_nothing(self, run: Path, max_rows: int) -> None:
        expected = list(load(run, device="cpu").predict(MANY, probabilities=True))
        other = load(run, device="cpu", max_rows=max_rows)
        for one, two in zip(other.predict(MANY, probabilities=True), expected, strict=True):
            assert one.value == two.value
            for first, second in zip(one.probabilities, two.probabilities, strict=True):
                assert first == pytest.approx(second, abs=1e-6)

    def test_a_small_look_ahead_changes_nothing(self, predictor: Predictor) -> None:
        assert values(predictor.predict(MANY, look_ahead=3)) == values(predictor.predict(MANY))


class TestLaziness:
    def test_nothing_is_read_before_an_answer_is_asked_for(self, predictor: Predictor) -> None:
        items = Counted()
        predictor.predict(items)
        assert items.asked == 0

    def test_no_more_is_read_than_the_look_ahead(self, predictor: Predictor) -> None:
        items = Counted()
        outputs = predictor.predict(items, look_ahead=4)
        for answered in range(1, 10):
            next(outputs)
            assert items.asked == 4 * -(-answered // 4)

    def test_a_look_ahead_of_1_answers_each_at_once(self, predictor: Predictor) -> None:
        items = Counted()
        outputs = predictor.predict(items, look_ahead=1)
        for answered in range(1, 5):
            next(outputs)
            assert items.asked == answered

    def test_a_look_ahead_of_0_is_refused_rather_than_an_end(self, predictor: Predictor) -> None:
        with pytest.raises(ValueError, match="look_ahead is 0; it must be at least 1"):
            next(predictor.predict(["dog"], look_ahead=0))


class TestAnswers:
    def test_probabilities_are_of_every_label_and_choose_the_label(
        self, predictor: Predictor
    ) -> None:
        (output,) = predictor.predict(["the dog"], probabilities=True)
        for label, shares in zip(output.value, output.probabilities, strict=True):
            assert set(shares) == {"D", "N", "V"}
            assert sum(shares.values()) == pytest.approx(1.0)
            assert max(shares, key=shares.__getitem__) == label
        assert next(predictor.predict(["the dog"])).probabilities is None

    def test_numbers_are_in_the_units_of_the_target(self, small_config, save_run) -> None:
        files = {"train": "text\tv\na\t1000\nb\t1002\n", "dev": "text\tv\na\t1000\n"}
        predictor = load(save_run(small_config("regression", files=files)), device="cpu")
        (value,) = values(predictor.predict(["a b"]))
        assert isinstance(value, float)
        assert 990 < value < 1010

    def test_a_string_is_split_as_the_model_was_trained(self, small_config, save_run) -> None:
        files = {"train": "text\tlabel\nCCl\tX X\nC\tY\n", "dev": "text\tlabel\nC\tY\n"}
        overrides = ("data/input_tokenizer=smiles",)
        predictor = load(
            save_run(small_config("tagging", *overrides, files=files, data="tsv")), device="cpu"
        )
        assert [len(value) for value in values(predictor.predict(["CCl", "ClCl[nH]"]))] == [2, 3]

    def test_rows_keep_their_outputs(self, predictor: Predictor) -> None:
        rows = [{"tokens": ["dog"], "file": "f", "line": 1}, {"tokens": [], "file": "f", "line": 2}]
        pairs = list(predictor.predict_rows(rows, probabilities=False, look_ahead=8))
        assert [row for row, _ in pairs] == rows
        assert [len(output.value) for _, output in pairs] == [1, 0]


class TestBeam:
    @pytest.fixture
    def run(self, small_config, save_run) -> Path:
        return save_run(small_config("seq2seq", "search=beam", "search.n_best=3"))

    def test_the_best_have_probabilities_and_the_first_is_the_value(self, run: Path) -> None:
        items = ["one two", "", "two"]
        outputs = list(load(run, device="cpu").predict(items, probabilities=True))
        assert (outputs[1].value, outputs[1].probabilities) == (None, {})
        for output in (outputs[0], outputs[2]):
            chances = list(output.probabilities.values())
            assert next(iter(output.probabilities)) == output.value
            assert len(chances) == 3
            assert chances == sorted(chances, reverse=True)
            assert 0 < sum(chances) < 1
        plain = list(load(run, device="cpu").predict(items))
        assert [output.value for output in plain] == [output.value for output in outputs]
        assert [output.probabilities for output in plain] == [None] * 3

    def test_the_batch_size_changes_nothing(self, run: Path) -> None:
        items = [" ".join(["one", "two", "one"][: n % 4] * (n % 3 + 1)) for n in range(30)]
        expected = list(load(run, device="cpu").predict(items, probabilities=True))
        for rows in (1, 7):
            found = list(load(run, device="cpu", max_rows=rows).predict(items, probabilities=True))
            for one, two in zip(found, expected, strict=True):
                assert one.value == two.value
                assert list(one.probabilities) == list(two.probabilities)
                assert one.probabilities == pytest.approx(two.probabilities, rel=1e-4)


class TestItems:
    @pytest.mark.parametrize(
        "item",
        [
            ["the", "dog"],
            ("the", "dog"),
            "the dog",
            np.array(["the", "dog"]),
            {"tokens": ["the", "dog"]},
        ],
    )
    def test_a_sequence_of_tokens_comes_in_several_forms(
        self, predictor: Predictor, item: Any
    ) -> None:
        expected = values(predictor.predict([["the", "dog"]]))
        assert values(predictor.predict([item])) == expected

    def test_a_generator_of_tokens_is_a_sequence(self, predictor: Predictor) -> None:
        outputs = predictor.predict([(word for word in ("the", "dog"))])
        assert len(next(outputs).value) == 2

    @pytest.mark.parametrize(
        "item", [5, None, 2.5, [1, 2], [["the"]], ["the", None], b"the", {"text": "the dog"}]
    )
    def test_other_things_than_tokens_are_refused_by_number(
        self, predictor: Predictor, item: Any
    ) -> None:
        message = r"^item 2 is .*; this model reads strings or lists of tokens$"
        with pytest.raises(ValueError, match=message):
            list(predictor.predict(["dog", item]))

    def test_vectors_are_refused_where_tokens_are_read(self, predictor: Predictor) -> None:
        with pytest.raises(ValueError, match="item:1: vectors, where this model reads tokens"):
            list(predictor.predict([{"vectors": [[1.0, 2.0]]}]))

    @pytest.mark.parametrize("items", ["the dog", {"tokens": ["the"]}])
    def test_one_sequence_is_not_taken_for_many(self, predictor: Predictor, items: Any) -> None:
        with pytest.raises(ValueError, match=r"give a list of sequences, even if it is one: \["):
            list(predictor.predict(items))

    @pytest.mark.parametrize(
        "item",
        [
            [[1.0, 2.0], [3.0, 4.0]],
            np.array([[1, 2], [3, 4]]),
            np.array([[1, 2], [3, 4]], np.float32),
            {"vectors": [[1, 2], [3, 4]]},
        ],
    )
    def test_vectors_come_in_several_forms(self, of_vectors: Predictor, item: Any) -> None:
        expected, given = of_vectors.predict([[[1.0, 2.0], [3.0, 4.0]], item], probabilities=True)
        assert given.probabilities == pytest.approx(expected.probabilities)

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            ([[1.0, 2.0], [3.0]], r"item:2: .* are no vectors of 2 numbers each"),
            ([[1.0, 2.0, 3.0]], r"item:2: the vectors have shape \(1, 3\)"),
            ([1.0, 2.0], r"item:2: the vectors have shape \(2,\)"),
            (np.zeros((1, 2, 2)), r"item:2: the vectors have shape \(1, 2, 2\)"),
            ([["a", "b"]], r"item:2: .* are no vectors of 2 numbers each"),
            ([[1.0, float("nan")]], r"item:2: the vectors hold NaN or infinity"),
            ("a b", r"item:2: tokens, where this model reads vectors"),
            (5, r"item 2 is 5; this model reads lists of vectors"),
        ],
    )
    def test_other_things_than_vectors_are_refused_by_number(
        self, of_vectors: Predictor, item: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            list(of_vectors.predict([[[1.0, 2.0]], item]))

    def test_no_vectors_at_all_are_an_empty_item(self, of_vectors: Predictor) -> None:
        assert values(of_vectors.predict([[], np.zeros((0, 2)), ""])) == [None] * 3

    def test_an_item_over_the_limit_is_read_in_windows(self, run: Path) -> None:
        predictor = load(run, device="cpu", max_tokens=3)
        lengths = [len(output.value) for output in predictor.predict(["dog dog dog", "dog " * 50])]
        assert lengths == [3, 50]
        assert predictor.long == 1


class TestLoading:
    def test_the_package_has_it_by_name(self, run: Path) -> None:
        assert seqtag.load is load
        assert isinstance(seqtag.load(str(run)), Predictor)
        with pytest.raises(AttributeError, match="has no attribute 'lode'"):
            _ = seqtag.lode

    def test_a_misspelt_setting_is_refused(self, run: Path) -> None:
        with pytest.raises(TypeError, match="max_row"):
            load(run, max_row=3)  # type: ignore[call-arg]

    def test_settings_that_are_not_given_are_those_of_the_run(self, run: Path) -> None:
        config = load_checkpoint(run).config
        assert load(run).checkpoint.config == config
        changed = load(run, max_rows=2).checkpoint.config["batching"]
        assert changed == {**config["batching"], "max_rows": 2}

    def test_a_device_is_what_torch_calls_it(self) -> None:
        assert choose_device("cpu").type == "cpu"
        assert choose_device("auto").type in ("cpu", "cuda")

    @pytest.mark.parametrize("device", ["gpu", "cuda:99", ""])
    def test_a_device_that_is_not_there_is_refused(self, device: str) -> None:
        with pytest.raises(ValueError, match=f"device={device} cannot be used: "):
            choose_device(device)
