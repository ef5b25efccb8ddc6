"""Losses whose readout ignores the states, so that every number can be checked by hand."""

import math

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch.nn import functional

from seqtag.batch import Batch, Layout, Target, TargetSpec
from seqtag.nn.class_weights import label_weights
from seqtag.nn.heads import LabelHead
from seqtag.nn.multi_label import MultiLabelHead
from seqtag.nn.pooling import MeanPooling

LABELS = TargetSpec(labels=("a", "b"), counts=(1, 3))
LAYOUT = Layout.of(torch.tensor([3, 1]))
STATES = torch.ones(2, 3, 5)


def label_head(class_weights, pooling=None, label_smoothing: float = 0.0) -> LabelHead:
    """Gives label a 1/4 and label b 3/4 to whatever comes."""
    head = LabelHead(
        5,
        target=LABELS,
        pooling=pooling,
        dropout=0.0,
        label_smoothing=label_smoothing,
        class_weights=class_weights,
        temperature=1.0,
    )
    with torch.no_grad():
        head.readout.linear.weight.zero_()
        head.readout.linear.bias.copy_(torch.tensor([0.0, math.log(3)]))
    return head


def batch(value, present) -> Batch:
    target = Target(torch.tensor(value), torch.tensor(present))
    return Batch(inputs={}, layout=LAYOUT, target=target, rows=torch.arange(2))


def test_a_weighted_loss_is_a_weighted_mean() -> None:
    # Gold is a, b, b with the weights 5, 1, 1; unseen and missing labels have none.
    given = batch([[0, 1, 2], [1, 0, 0]], [[True, True, True], [True, False, False]])
    head = label_head({"a": 5})
    expected = (5 * math.log(4) + 2 * math.log(4 / 3)) / 7
    assert head.loss(STATES, given).item() == pytest.approx(expected)
    assert head.loss_weight(given).item() == 7


def test_equal_weights_change_nothing() -> None:
    given = batch([[0, 1, 2], [1, 0, 0]], [[True, True, True], [True, False, False]])
    plain = label_head(None)
    for same in (label_head({}), label_head({"a": 1, "b": 1.0}), label_head({"a": 3, "b": 3})):
        assert same.loss(STATES, given).item() == pytest.approx(plain.loss(STATES, given).item())
    assert plain.loss_weight(given).item() == 3


@pytest.mark.parametrize("pooling", [None, MeanPooling])
def test_weights_below_one_are_still_weights(pooling) -> None:
    # Of a single gold label the mean is its own loss, whatever its weight.
    value, present = ([[0] * 3] * 2, [[True, False, False], [False] * 3])
    if pooling:
        value, present = [0, 0], [True, False]
    loss = label_head({"a": 0.01}, pooling).loss(STATES, batch(value, present))
    assert loss.item() == pytest.approx(math.log(4))


def test_no_target_gives_no_loss() -> None:
    head = label_head("balanced")
    for given in (batch([[0] * 3] * 2, [[False] * 3] * 2), batch([[2] * 3] * 2, [[True] * 3] * 2)):
        assert head.loss(STATES, given).item() == 0
        assert head.loss_weight(given).item() == 0


def test_smoothing_and_weights_together_are_those_of_torch() -> None:
    torch.manual_seed(0)
    given = batch([[0, 1, 1], [1, 0, 0]], [[True] * 3, [True, False, False]])
    head = label_head({"a": 5, "b": 0.5}, label_smoothing=0.2)
    logits = torch.tensor([0.0, math.log(3)]).expand(4, 2)
    expected = functional.cross_entropy(
        logits,
        torch.tensor([0, 1, 1, 1]),
        weight=torch.tensor([5, 0.5]),
        label_smoothing=0.2,
    )
    assert head.loss(STATES, given).item() == pytest.approx(expected.item())


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    assert label_weights("balanced", LABELS).tolist() == pytest.approx([4 / 2, 4 / 6])
    gold = ["x"] * 5 + ["y"] * 2 + ["z"]
    spec = TargetSpec(labels=("x", "y", "z"), counts=(5, 2, 1))
    expected = compute_class_weight("balanced", classes=np.array(["x", "y", "z"]), y=gold)
    assert label_weights("balanced", spec).tolist() == pytest.approx(expected.tolist())


def test_a_mapping_names_some_labels_and_digits_are_names_too() -> None:
    spec = TargetSpec(labels=("0", "1", "x"), counts=(1, 1, 1))
    assert label_weights({1: 2.5, "x": 3}, spec).tolist() == [1, 2.5, 3]
    assert label_weights(None, spec) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("equal", r"head\.class_weights is 'equal'; it must be null, balanced, or a weight"),
        (2.0, "is 2.0; it must be null"),
        (["a"], "it must be null"),
        ({"c": 2.0}, r"names 'c', which is no label of the training data: a, b$"),
        ({True: 2.0}, "names True, which is no label"),
        ({"a": 0}, "gives 'a' the weight 0; it must be a number greater than 0"),
        ({"a": -1.5}, "weight -1.5"),
        ({"a": math.nan}, "weight nan"),
        ({"a": math.inf}, "weight inf"),
        ({"a": 1e300}, r"weight 1e\+300"),
        ({"a": 1e-300}, "weight 1e-300"),
        ({"a": 10**400}, "weight 10000"),
        ({"a": True}, "weight True"),
        ({"a": "2"}, "weight '2'"),
        ({"a": None}, "weight None"),
    ],
)
def test_weights_that_are_none_are_refused_in_one_line(given, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        label_weights(given, LABELS)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=message):
        label_head(given)
    with pytest.raises(ValueError, match=message):
        MultiLabelHead(
            5,
            target=TargetSpec(labels=("a", "b"), counts=(1, 3), multi=True),
            pooling=MeanPooling,
            dropout=0.0,
            class_weights=given,
            threshold=None,
        )


def test_weights_are_no_part_of_the_checkpoint() -> None:
    assert set(label_head("balanced").state_dict()) == set(label_head(None).state_dict())
