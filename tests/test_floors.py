import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import seqtag
from seqtag.batch import Target
from seqtag.datamodule import DataModule
from seqtag.floors import ngrams
from seqtag.floors.fitted import fit_floors
from seqtag.floors.floor import score_each
from seqtag.floors.words import WordFloor
from seqtag.report.tables import print_scores


def read(config) -> DataModule:
    data = DataModule(config)
    data.read_all(test=True)
    return data


def score_floors(data: DataModule) -> dict[str, float]:
    """Scores on dev, as ``<floor>/dev/<metric>``."""
    floors = fit_floors(data)
    return {
        f"{kind.name}/dev/{metric}": value
        for kind, scores in zip(floors, score_each(data, "dev", floors), strict=True)
        for metric, value in scores.compute().items()
    }


def floor(config, name: str = "floor") -> dict[str, float]:
    """Scores on dev of one floor, by metric."""
    data = read(config)
    scores = score_floors(data)
    begin = f"{name}/dev/"
    return {key.removeprefix(begin): v for key, v in scores.items() if key.startswith(begin)}


def said(data: DataModule, rows: list[list[str]], like: torch.Tensor) -> list:
    """What the floor that reads the input says of these rows."""
    _, reading = fit_floors(data)
    target = Target(value=like, present=torch.ones_like(like, dtype=torch.bool))
    return reading.predict(target, rows).value.tolist()


def test_labels_of_elements_are_the_most_frequent_one(small_config) -> None:
    files = {"train": "a\tX\nb\tX\nc\tY\n", "dev": "a\tX\n\nb\tY\nc\tX\nd\tZ\n\ne\t_\n"}
    scores = floor(small_config("tagging", files=files))
    assert scores["accuracy"] == pytest.approx(2 / 4)
    # X has 2 of 4 predictions right and all of its 2 gold labels found, Y and Z have nothing.
    assert scores["macro_f1"] == pytest.approx((2 / 3) / 3)


def test_labels_of_rows_are_the_most_frequent_one(small_config) -> None:
    # In training "yes" stands three times and "no" twice.
    assert floor(small_config("classification"))["accuracy"] == pytest.approx(1 / 2)


def test_numbers_of_rows_are_the_training_mean(small_config) -> None:
    # The mean of 3, 1, 4, 4 is 3; dev has 2 and 2.
    scores = floor(small_config("regression"))
    assert scores["rmse"] == pytest.approx(1.0)
    assert scores["mae"] == pytest.approx(1.0)


def test_numbers_of_elements_are_the_training_mean(small_config) -> None:
    files = {"train": "a\t1\nb\t3\nc\t_\n", "dev": "a\t2\n\nb\t5\nc\t_\n"}
    assert floor(small_config("token_regression", files=files))["mae"] == pytest.approx(1.5)


@pytest.mark.parametrize("rows", [1, 2, 32])
def test_the_batch_size_does_not_matter(small_config, rows: int) -> None:
    config = small_config("tagging", f"batching.max_rows={rows}")
    assert floor(config) == floor(small_config("tagging"))


def test_a_word_has_its_most_frequent_label_and_an_unseen_one_that_of_all(small_config) -> None:
    # "saw" is V twice and N once; "dog" never has a label; of all labels T is the most frequent.
    train = "saw\tV\nsaw\tV\nsaw\tN\n\nthe\tT\nthe\tT\na\tT\ndog\t_\n"
    dev = "saw\tV\nthe\tT\ndog\tT\n\nfish\tT\nsaw\tN\nthe\tZ\nthe\t_\n"
    config = small_config("tagging", files={"train": train, "dev": dev})
    # Wrong are "saw" as N, and "the" as Z, which training lacks; one has no gold label.
    assert floor(config, "floor_word")["accuracy"] == pytest.approx(4 / 6)
    labels = read(config).target.labels
    ids = said(read(config), [["saw", "dog"], ["fish"]], torch.zeros(2, 2, dtype=torch.int64))
    assert [labels[ids[0][0]], labels[ids[0][1]], labels[ids[1][0]]] == ["V", "T", "T"]


@pytest.mark.parametrize("label", ["X", "Y"])
def test_of_two_labels_equally_frequent_a_word_has_the_one_more_frequent_everywhere(
    small_config, label: str
) -> None:
    # "b" is X once and Y once.
    train = f"b\tX\nb\tY\na\t{label}\nc\t{label}\n"
    config = small_config("tagging", files={"train": train, "dev": f"b\t{label}\n"})
    assert floor(config, "floor_word")["accuracy"] == 1.0


def test_words_rarer_than_the_vocabulary_takes_still_have_their_label(small_config) -> None:
    config = small_config("tagging", "data.min_frequency=2")
    # Of the five words of dev only "fish" is not in training; the, cat, runs and a are.
    assert floor(config, "floor_word")["accuracy"] == pytest.approx(4 / 5)


def test_a_word_has_the_mean_of_its_numbers(small_config) -> None:
    # "a" has 1 and 3; "b" has 8; "c" none, so that of all, which is 4.
    files = {"train": "a\t1\na\t3\nb\t8\nc\t_\n", "dev": "a\t2\nb\t7\n\nc\t4\nd\t2\n"}
    scores = floor(small_config("token_regression", files=files), "floor_word")
    assert scores["mae"] == pytest.approx((0 + 1 + 0 + 2) / 4)


def jsonl(*rows: tuple[list, object]) -> str:
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)


def test_a_word_has_the_mean_of_each_of_several_numbers(small_config) -> None:
    # "a" lacks its second number everywhere: 6, the mean of 4 and 8, stands for it.
    train = jsonl((["a", "b", "a"], [[1, None], [2, 4], [3, None]]), (["b"], [[4, 8]]))
    data = read(
        small_config("token_regression", data="jsonl", files={"train": train, "dev": train})
    )
    assert said(data, [["a", "b"], ["z"]], torch.zeros(2, 2, 2)) == [
        [[2.0, 6.0], [3.0, 6.0]],
        [[2.5, 6.0], [0.0, 0.0]],  # z, and padding
    ]


def test_rows_without_an_element_have_no_answer() -> None:
    found = WordFloor({"a": 1}, 2).predict(
        Target(torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, 1, dtype=torch.bool)),
        [[], ["a"]],
    )
    assert found.value.tolist() == [[0], [1]]


def test_labels_of_rows_come_from_their_ngrams(small_config) -> None:
    # The words alone say nothing, as each label has every word once; their order does.
    train = "text\tlabel\n" + "a b\tyes\nb a\tno\nc d\tyes\nd c\tno\n" * 5
    files = {"train": train, "dev": "text\tlabel\na b\tyes\nd c\tno\nc d\tmaybe\n"}
    config = small_config("classification", files=files)
    assert floor(config, "floor_ngrams")["accuracy"] == pytest.approx(2 / 3)


def test_of_symbols_up_to_four_in_a_row_are_read(small_config) -> None:
    # "abba" and "baab" share all single symbols and pairs but not "abb".
    train = "text\tlabel\n" + "xabbax\tyes\nxbaabx\tno\n" * 5
    files = {"train": train, "dev": "text\tlabel\nabb\tyes\nbaa\tno\n"}
    config = small_config("classification", "data/input_tokenizer=characters", files=files)
    assert floor(config, "floor_ngrams")["accuracy"] == 1.0
    _, reading = fit_floors(read(config))
    # Of one to four symbols there are 3, 8, 8 and 6 different ones.
    assert reading.model.weights.shape == (1, 25)


def test_sets_of_labels_are_those_that_serve_training_best(small_config) -> None:
    # x is in three of four rows, y in one: x alone is 2 * 3 / (4 + 4). Dev: 2 * 1 / (2 + 3).
    files = {"train": "text\tlabel\n" + "a\tx y\nb\tx\nc\tx\nd\tz\n"}
    files["dev"] = "text\tlabel\na\tx y\nb\tz\n"
    assert floor(small_config("multi_label", files=files))["micro_f1"] == pytest.approx(2 / 5)


def test_sets_of_labels_come_from_their_ngrams(small_config) -> None:
    # Each word has a label of its own, all is in every row, and nobody has seen "new".
    rows = "a\tx all\nb\ty all\na b\tx y all\nc\tall\nd\t_\n"
    files = {"train": "text\tlabel\n" + rows * 5, "dev": "text\tlabel\na b\tx y all new\n"}
    config = small_config("multi_label", "data.missing=_", files=files)
    assert floor(config, "floor_ngrams")["micro_f1"] == pytest.approx(2 * 3 / (3 + 4))
    _, reading = fit_floors(read(config))
    # The n-grams are a, b, c, d and "a b"; d has no target.
    assert reading.model.weights.shape == (3, 5)
    assert reading.predict(
        Target(torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, 1, dtype=torch.bool)),
        [["b"], ["c"]],
    ).value.tolist() == [[1, 3, 0], [1, 0, 0]]


def test_dev_chooses_the_threshold_of_sets(small_config, monkeypatch) -> None:
    # Under a heavy penalty a label that one row of three has never reaches one half.
    monkeypatch.setattr(ngrams, "INVERSE_PENALTIES", (1e-6,))
    rows = "text\tlabel\n" + "a\tx\nb\tx\nc\ty\n" * 5
    config = small_config("multi_label", files={"train": rows, "dev": "text\tlabel\nc\tx y\n"})
    assert floor(config, "floor_ngrams")["micro_f1"] == 1.0
    _, reading = fit_floors(read(config))
    assert reading.model.threshold == 0.3


def test_numbers_of_rows_come_from_their_ngrams(small_config) -> None:
    # A row of "one" has 1 and one of "two" has 3, whatever its length.
    train = "text\tvalue\n" + "one\t1\ntwo\t3\none one\t1\ntwo two\t3\n" * 20
    files = {"train": train, "dev": "text\tvalue\none\t1\ntwo\t3\n"}
    scores = floor(small_config("regression", files=files), "floor_ngrams")
    assert scores["rmse"] < 0.02
    assert floor(small_config("regression", files=files))["rmse"] == pytest.approx(1.0)


def two_numbers(small_config, rows: str) -> DataModule:
    files = dict.fromkeys(("train", "dev"), f"text\tx\ty\n{rows}")
    return read(small_config("regression", "data.target=[x,y]", "data.missing=_", files=files))


def test_each_of_several_numbers_is_fitted_where_it_is_there(small_config) -> None:
    data = two_numbers(small_config, "one\t1\t_\ntwo\t3\t30\ntwo\t_\t30\none\t1\t10\n" * 20)
    found = said(data, [["one"], ["two"]], torch.zeros(2, 2))
    assert np.allclose(found, [[1, 10], [3, 30]], atol=0.5)


def test_a_number_that_one_row_has_is_its_mean(small_config) -> None:
    data = two_numbers(small_config, "one\t1\t7\ntwo\t3\t_\ntwo\t3\t_\n")
    found = said(data, [["one"], ["two"]], torch.zeros(2, 2))
    assert [row[1] for row in found] == [7.0, 7.0]


@pytest.mark.parametrize("labels", [("yes", "yes"), ("yes", "_")])
def test_one_label_is_the_only_answer(small_config, labels: tuple[str, str]) -> None:
    train = "text\tlabel\n" + "".join(f"a b\t{label}\n" for label in labels)
    config = small_config(
        "classification",
        "data.missing=_",
        files={"train": train, "dev": "text\tlabel\nc\tyes\nb\tno\n"},
    )
    assert floor(config, "floor_ngrams")["accuracy"] == pytest.approx(1 / 2)


def test_rows_without_a_label_are_not_learnt_from(small_config) -> None:
    train = "text\tlabel\n" + "good\tyes\nbad\tno\ngood\t_\ngood\t_\n" * 3
    config = small_config(
        "classification",
        "data.missing=_",
        files={"train": train, "dev": "text\tlabel\ngood\tyes\nbad\tno\nbad\t_\n"},
    )
    assert floor(config, "floor_ngrams")["accuracy"] == 1.0
    _, reading = fit_floors(read(config))
    assert len(reading.model.classes) == 2


def test_dev_chooses_among_the_penalties(small_config, monkeypatch) -> None:
    # Under the first, hardly anything is learnt; the second fits.
    monkeypatch.setattr(ngrams, "PENALTIES", (1e9, 1e-3))
    train = "text\tvalue\n" + "one\t1\ntwo\t3\n" * 5
    files = {"train": train, "dev": "text\tvalue\none\t1\n"}
    assert floor(small_config("regression", files=files), "floor_ngrams")["rmse"] < 0.1
    files |= {"dev": "text\tvalue\none\t2\n"}
    assert floor(small_config("regression", files=files), "floor_ngrams")["rmse"] < 0.1


def test_dev_chooses_by_scores_of_which_more_is_better(small_config, monkeypatch) -> None:
    # Under the first penalty every row is "yes", which is more frequent.
    monkeypatch.setattr(ngrams, "INVERSE_PENALTIES", (1e-9, 1e3))
    train = "text\tlabel\n" + "good\tyes\n" * 3 + "bad\tno\n" * 2
    files = {"train": train, "dev": "text\tlabel\nbad\tno\n"}
    assert floor(small_config("classification", files=files), "floor_ngrams")["accuracy"] == 1.0


def test_of_many_rows_some_are_drawn_and_that_is_said(small_config, monkeypatch, caplog) -> None:
    train = "text\tlabel\n" + "good x\tyes\nbad x\tno\n" * 50
    config = small_config("classification", files={"train": train, "dev": "text\tlabel\nbad\tno\n"})
    # A row of two words counts as four n-grams: 60 of them are 15 rows.
    monkeypatch.setattr(ngrams, "MOST_NGRAMS", 60)
    with caplog.at_level("INFO", logger="seqtag"):
        assert floor(config, "floor_ngrams")["accuracy"] == 1.0
    assert "floor of n-grams: fitted to 15 of 100 rows" in caplog.text


@pytest.mark.parametrize("task", ["tagging", "classification", "regression", "multi_label"])
def test_vectors_are_no_words_and_have_no_ngrams(small_config, task: str) -> None:
    target = {
        "tagging": ["X", "Y"],
        "classification": "X",
        "regression": 1.0,
        "multi_label": ["X", "Y", "Z"],
    }[task]
    train = jsonl(([[0.0], [1.0]], target), ([[2.0], [1.0]], target))
    data = read(small_config(task, data="jsonl", files={"train": train, "dev": train}))
    assert [kind.name for kind in fit_floors(data)] == ["floor"]


def test_a_new_sequence_has_the_constant_floor_only(small_config) -> None:
    assert [kind.name for kind in fit_floors(read(small_config("seq2seq")))] == ["floor"]


def test_without_training_data_there_is_what_a_checkpoint_knows(small_config) -> None:
    config = small_config("tagging")
    trained = read(config)
    data = DataModule(config, inputs=trained.inputs, target=trained.target)
    data.read_split("dev")
    scores = score_floors(data)
    assert {name.split("/")[0] for name in scores} == {"floor"}
    assert scores["floor/dev/accuracy"] == floor(config)["accuracy"]


@pytest.mark.parametrize("task", ["tagging", "classification", "multi_label"])
def test_every_floor_is_a_column_and_a_line_that_says_what_it_is(
    small_config, task, capsys
) -> None:
    data = read(small_config(task))
    scores = score_floors(data)
    print_scores({"dev/accuracy": 0.75, "dev/macro_f1": math.nan}, scores)
    text = capsys.readouterr().out
    heading = {"tagging": "words"}.get(task, "n-grams")
    assert f"dev {heading}" in text
    assert f"\n{heading}: " in text
    assert "\nconstant: the most frequent" in text
    other = {"tagging": "n-grams: "}.get(task, "words: ")
    assert other not in text


def test_a_floor_that_is_not_there_is_not_named(capsys) -> None:
    print_scores({"test/rmse": 1.0}, {"floor/test/rmse": 2.0})
    lines = capsys.readouterr().out.splitlines()
    assert "2.0000" in lines[4]
    assert (
        lines[-1] == "constant: the most frequent label, labels or symbols, or the mean, everywhere"
    )
    assert sum(": " in line for line in lines) == 1


def test_scikit_learn_is_imported_only_when_it_is_needed() -> None:
    # Its import at the top of a module would cost every command a second.
    for path in Path(seqtag.__file__).parent.rglob("*.py"):
        top = ast.parse(path.read_text(encoding="utf-8")).body
        names = [
            alias.name for node in top if isinstance(node, ast.Import) for alias in node.names
        ] + [node.module or "" for node in top if isinstance(node, ast.ImportFrom)]
        assert not [name for name in names if name.partition(".")[0] == "sklearn"], path


@pytest.mark.parametrize("labels", [("yes", "no"), ("yes", "no", "so"), ("yes",)])
def test_ngrams_give_the_probabilities_that_choose_their_label(small_config, labels) -> None:
    words = ["good", "bad", "fair"]
    rows = [f"{words[i % len(labels)]} {i}\t{labels[i % len(labels)]}\n" for i in range(24)]
    text = "text\tlabel\n" + "".join(rows)
    files = {"train": text, "dev": text, "test": text}
    data = read(small_config("classification", files=files))
    _, floor = fit_floors(data)
    target = Target(value=torch.zeros(2, dtype=torch.long), present=torch.ones(2, dtype=torch.bool))
    found = floor.predict(target, [["good"], ["bad"]])
    assert found.probabilities.shape == (2, len(labels))
    torch.testing.assert_close(found.probabilities.sum(dim=1), torch.ones(2, dtype=torch.float64))
    assert found.probabilities.argmax(dim=1).tolist() == found.value.tolist()
    if len(labels) > 1:
        assert found.value[0] != found.value[1]
