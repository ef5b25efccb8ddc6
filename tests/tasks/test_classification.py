from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import Prediction, Row, Target
from seqtag.data.tokenizers import Whitespace
from seqtag.evaluation.labels import Accuracy
from seqtag.tasks.classification import Classification

TASK = Classification(
    metrics={"accuracy": partial(Accuracy)}, selection=["accuracy"], target_tokenizer=Whitespace()
)
SPEC = TASK.fit(lambda: ["yes", "no", None, "yes"])


def row(target) -> Row:
    return {"tokens": ["a", "b"], "target": target, "file": "f.csv", "line": 3}


@pytest.mark.parametrize(
    ("cell", "label"),
    [("yes", "yes"), (None, None), (1, "1"), (0.5, "0.5"), (True, "true"), (False, "false")],
)
def test_a_cell_is_the_name_of_a_label(cell, label) -> None:
    assert TASK.parse(row(cell)) == label


def test_a_row_may_have_no_target_at_all() -> None:
    assert TASK.parse({"tokens": ["a"]}) is None


@pytest.mark.parametrize("cell", [["yes", "no"], {"label": "yes"}])
def test_more_than_a_label_is_an_error_with_file_and_line(cell) -> None:
    with pytest.raises(ValueError, match=r"^f.csv:3: .*label"):
        TASK.parse(row(cell))


def test_labels_are_sorted_and_counted_and_missing_ones_are_not() -> None:
    assert (SPEC.labels, SPEC.counts, SPEC.scheme) == (("no", "yes"), (1, 2), None)


def test_labels_that_look_like_spans_are_none() -> None:
    assert TASK.fit(lambda: ["B-X", "I-X", "O"]).scheme is None


def test_no_label_at_all_is_an_error() -> None:
    with pytest.raises(ValueError, match="every target is missing"):
        TASK.fit(lambda: [None, None])


def test_unseen_labels_are_present_behind_the_known_ones() -> None:
    spec = TASK.extend(SPEC, ["no", "maybe", None, "maybe"])
    assert spec.unseen == ("maybe",)
    encoded = [TASK.encode(label, spec) for label in ("maybe", "no", None)]
    target = TASK.collate(encoded, np.array([4, 2, 9]))
    assert target.value.tolist() == [2, 0, 0]
    assert target.present.tolist() == [True, True, False]
    assert target.value.dtype == torch.int64


def test_decode_undoes_encode() -> None:
    labels = ["no", "yes", "yes"]
    target = TASK.collate([TASK.encode(label, SPEC) for label in labels], np.array([1, 1, 1]))
    outputs = TASK.decode(Prediction(target.value), [1, 1, 1], SPEC, probabilities=True)
    assert [output.value for output in outputs] == labels
    assert outputs[0].probabilities is None


def test_every_label_has_a_probability_where_they_are_asked_for() -> None:
    prediction = Prediction(torch.tensor([1]), torch.tensor([[0.25, 0.75]]))
    (output,) = TASK.decode(prediction, [5], SPEC, probabilities=True)
    assert output.probabilities == {"no": 0.25, "yes": 0.75}
    (output,) = TASK.decode(prediction, [5], SPEC, probabilities=False)
    assert output.probabilities is None


def test_the_floor_is_the_most_frequent_label() -> None:
    target = Target(torch.tensor([0, 7]), torch.tensor([True, True]))
    assert TASK.floor(target, SPEC).value.tolist() == [1, 1]
