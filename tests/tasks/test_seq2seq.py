from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import END, Prediction, Row, Target, TargetSpec
from seqtag.data.tokenizers import Characters, Tokenizer, Whitespace
from seqtag.evaluation.sequences import WordErrorRate
from seqtag.tasks.seq2seq import Seq2Seq


def task(tokenizer: Tokenizer) -> Seq2Seq:
    return Seq2Seq(
        metrics={"word_error_rate": partial(WordErrorRate)},
        selection=["word_error_rate"],
        target_tokenizer=tokenizer,
    )


TASK = task(Whitespace())
SPEC = TASK.fit(lambda: ["K AE T", "K AE", None, "T AE K AE"])


def row(target) -> Row:
    return {"tokens": ["a", "b"], "target": target, "file": "f.tsv", "line": 3}


def test_a_target_is_a_string_as_its_tokenizer_writes_it() -> None:
    assert TASK.parse(row("K  AE\tT ")) == "K AE T"
    assert task(Characters()).parse(row("cat s")) == "cat s"
    assert TASK.parse(row(None)) is None
    assert TASK.parse({"tokens": ["a"]}) is None


def test_a_list_of_symbols_is_a_target_too_if_the_tokenizer_gives_it_back() -> None:
    assert TASK.parse(row(["K", "AE"])) == "K AE"
    with pytest.raises(ValueError, match=r"^f.tsv:3: .*data.target_tokenizer"):
        TASK.parse(row(["K AE", "T"]))


@pytest.mark.parametrize("target", [1, 0.5, ["a", None], [1, 2], {"a": 1}])
def test_anything_else_is_an_error_with_file_and_line(target) -> None:
    with pytest.raises(ValueError, match=r"^f.tsv:3: seq2seq wants a string"):
        TASK.parse(row(target))


def test_training_teaches_the_symbols_and_what_is_most_frequent_at_each_place() -> None:
    assert (SPEC.labels, SPEC.counts) == (("AE", "K", "T"), (4, 3, 2))
    assert (SPEC.sequence, SPEC.classes, SPEC.scheme) == (True, 4, None)
    # Places: K K T, AE AE AE, T K and one ended, AE and two ended.
    assert SPEC.typical == ("K", "AE")
    assert SPEC.ids == {"AE": 1, "K": 2, "T": 3}


def test_symbols_that_look_like_spans_are_none() -> None:
    assert TASK.fit(lambda: ["B-X I-X O"]).scheme is None


def test_no_target_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="every target is missing"):
        TASK.fit(lambda: [None, None])


def test_unseen_symbols_stand_behind_the_known_ones() -> None:
    spec = TASK.extend(SPEC, ["K Z", None, "Y K"])
    assert spec.unseen == ("Y", "Z")
    assert TASK.encode("Z K", spec)["target"].tolist() == [5, 2, END]
    assert spec.classes == 4


def test_targets_end_and_missing_and_empty_ones_differ() -> None:
    for text, ids, present in (
        ("K AE", [2, 1, END], [1, 1, 1]),
        ("", [END], [1]),
        (None, [0], [0]),
    ):
        encoded = TASK.encode(text, SPEC)
        assert (encoded["target"].tolist(), encoded["present"].tolist()) == (ids, present)


def test_targets_of_a_batch_are_padded_to_the_longest_target() -> None:
    encoded = [TASK.encode(text, SPEC) for text in ("K AE T", None, "T")]
    target = TASK.collate(encoded, np.array([2, 9, 1]))
    assert target.value.tolist() == [[2, 1, 3, 0], [0, 0, 0, 0], [3, 0, 0, 0]]
    assert target.present.sum(dim=1).tolist() == [4, 0, 2]
    assert target.value.dtype == torch.int64


def test_predictions_are_joined_up_to_their_end() -> None:
    value = torch.tensor([[2, 1, END, 3], [3, 1, 2, 1], [END, 1, 1, 1]])
    outputs = TASK.decode(Prediction(value), [1, 1, 1], SPEC, probabilities=True)
    assert [output.value for output in outputs] == ["K AE", "T AE K AE", ""]
    assert all(output.probabilities is None for output in outputs)
    joined = task(Characters())
    spec = joined.fit(lambda: ["ab"])
    (output,) = joined.decode(Prediction(torch.tensor([[2, 1]])), [1], spec, probabilities=False)
    assert output.value == "ba"


def test_the_probability_is_that_of_the_whole_output() -> None:
    prediction = Prediction(torch.tensor([[2, END]]), torch.tensor([0.25]))
    (output,) = TASK.decode(prediction, [1], SPEC, probabilities=True)
    assert output.probabilities == {"K": 0.25}
    (output,) = TASK.decode(prediction, [1], SPEC, probabilities=False)
    assert output.probabilities is None


def test_candidates_have_a_probability_each_best_first() -> None:
    found = torch.tensor([[[2, END], [END, END], [3, 1]], [[3, END], [2, END], [3, END]]])
    # The second row has only two outputs: its best one stands again, with nothing.
    chances = torch.tensor([[0.5, 0.25, 0.125], [0.5, 0.25, 0.0]])
    prediction = Prediction(found[:, 0], chances, candidates=found)
    outputs = TASK.decode(prediction, [1, 1], SPEC, probabilities=True)
    assert [output.value for output in outputs] == ["K", "T"]
    assert [list(output.probabilities.items()) for output in outputs] == [
        [("K", 0.5), ("", 0.25), ("T AE", 0.125)],
        [("T", 0.5), ("K", 0.25)],
    ]
    outputs = TASK.decode(prediction, [1, 1], SPEC, probabilities=False)
    assert [output.probabilities for output in outputs] == [None, None]


def test_candidates_that_are_one_text_share_its_probability() -> None:
    joined = task(Characters())
    spec = TargetSpec(labels=("a", "aa"), counts=(1, 1), sequence=True)
    found = torch.tensor([[[1, 1], [2, END], [1, END]]])
    prediction = Prediction(found[:, 0], torch.tensor([[0.5, 0.25, 0.125]]), candidates=found)
    (output,) = joined.decode(prediction, [1], spec, probabilities=True)
    assert list(output.probabilities.items()) == [("aa", 0.75), ("a", 0.125)]


def test_the_floor_says_the_most_frequent_symbol_of_each_place() -> None:
    target = Target(torch.zeros(2, 7, dtype=torch.int64), torch.ones(2, 7, dtype=torch.bool))
    assert TASK.floor(target, SPEC).value.tolist() == [[2, 1, END]] * 2
