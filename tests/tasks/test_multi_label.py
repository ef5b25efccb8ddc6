from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import END, Prediction, Row, Target, TargetSpec
from seqtag.data.tokenizers import Separated
from seqtag.evaluation.label_sets import MicroF1
from seqtag.tasks.multi_label import MultiLabel

TASK = MultiLabel(
    metrics={"micro_f1": partial(MicroF1)},
    selection=["micro_f1"],
    target_tokenizer=Separated(separator="|"),
)
SPEC = TASK.fit(lambda: [["yes", "no"], [], None, ["yes"]])


def row(target) -> Row:
    return {"tokens": ["a", "b"], "target": target, "file": "f.csv", "line": 3}


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        (["yes", "no"], ["yes", "no"]),
        ("yes|no way", ["yes", "no way"]),
        ("yes", ["yes"]),
        ([], []),
        (None, None),
        (["b", "a", "b"], ["b", "a"]),
        ([1, True, "x"], ["1", "true", "x"]),
        (7, ["7"]),
    ],
)
def test_a_target_is_a_list_of_labels_or_missing(cell, labels) -> None:
    assert TASK.parse(row(cell)) == labels


def test_a_row_may_have_no_target_at_all() -> None:
    assert TASK.parse({"tokens": ["a"]}) is None


@pytest.mark.parametrize("cell", [{"label": "yes"}, [["yes"]], ["a", None], ["a", ""], [None]])
def test_what_is_no_list_of_labels_is_an_error_with_file_and_line(cell) -> None:
    with pytest.raises(ValueError, match=r"^f.csv:3: .*label"):
        TASK.parse(row(cell))


def test_labels_of_elements_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^f.csv:3: .*task=tagging"):
        TASK.parse({**row(["X", "Y"]), "element_lines": [3, 4]})


def test_labels_are_sorted_and_counted() -> None:
    assert (SPEC.labels, SPEC.counts, SPEC.multi) == (("no", "yes"), (1, 2), True)
    assert (SPEC.classes, SPEC.ids) == (3, {"no": 1, "yes": 2})
    assert TargetSpec.from_state(SPEC.state()) == SPEC


@pytest.mark.parametrize("targets", [[None], [[], []], [[], None]])
def test_no_label_at_all_is_an_error(targets) -> None:
    with pytest.raises(ValueError, match="no label at all"):
        TASK.fit(lambda: targets)


def test_no_label_and_no_target_are_told_apart_and_unseen_labels_follow_the_known() -> None:
    spec = TASK.extend(SPEC, [["no", "maybe"], None, [], ["maybe"]])
    assert spec.unseen == ("maybe",)
    targets = (["yes", "maybe", "no"], [], None, ["yes"])
    encoded = [TASK.encode(labels, spec) for labels in targets]
    target = TASK.collate(encoded, np.array([4, 2, 9, 1]))
    assert target.value.tolist() == [[1, 2, 3, END], [END] * 4, [END] * 4, [2, END, END, END]]
    assert target.present.int().tolist() == [[1] * 4, [1, 0, 0, 0], [0] * 4, [1, 1, 0, 0]]
    assert target.value.dtype == torch.int64


def test_decode_undoes_encode() -> None:
    sets = [["no", "yes"], [], ["yes"]]
    target = TASK.collate([TASK.encode(labels, SPEC) for labels in sets], np.array([1, 1, 1]))
    outputs = TASK.decode(Prediction(target.value), [1, 1, 1], SPEC, probabilities=True)
    assert [output.value for output in outputs] == sets
    assert outputs[0].probabilities is None


def test_every_label_has_a_probability_where_they_are_asked_for() -> None:
    prediction = Prediction(torch.tensor([[2, END]]), torch.tensor([[0.25, 0.75]]))
    (output,) = TASK.decode(prediction, [5], SPEC, probabilities=True)
    assert (output.value, output.probabilities) == (["yes"], {"no": 0.25, "yes": 0.75})
    (output,) = TASK.decode(prediction, [5], SPEC, probabilities=False)
    assert output.probabilities is None


@pytest.mark.parametrize(
    ("targets", "best"),
    [
        # a alone: 2 * 3 / (4 + 4). a and b: 2 * 4 / (8 + 4), which is less.
        ([["a"], ["a"], ["a", "b"], []], ["a"]),
        # a alone: 2 * 3 / (3 + 5). a and b: 2 * 5 / (6 + 5).
        ([["a"], ["a", "b"], ["a", "b"], None], ["a", "b"]),
        # One label of four rows beats nothing: 2 / (4 + 1).
        ([["a"], [], [], []], ["a"]),
    ],
)
def test_the_floor_is_the_set_that_serves_training_best(targets, best) -> None:
    spec = TASK.fit(lambda: targets)
    gold = Target(torch.tensor([[1, END], [END, END]]), torch.tensor([[True] * 2] * 2))
    prediction = TASK.floor(gold, spec)
    decoded = TASK.decode(prediction, [1, 1], spec, probabilities=False)
    assert [output.value for output in decoded] == [best, best]
