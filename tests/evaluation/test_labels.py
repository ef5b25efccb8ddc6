import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.labels import Accuracy, BalancedAccuracy, MacroF1

from .padded import padded_labels, score

SPEC = TargetSpec(labels=("a", "b", "c"), unseen=("d",))


def test_accuracy_counts_present_gold_only():
    # Right, wrong, missing; then a label that training lacks, which nothing can predict.
    value, target = padded_labels([[0, 1, 2], [0]], [[0, 0, None], [3]])
    statistics = Accuracy(SPEC).row_statistics(Prediction(value), target)
    assert statistics.tolist() == [[1, 2], [0, 1]]
    assert score(Accuracy(SPEC), value, target) == pytest.approx(1 / 3)


def test_a_missing_gold_value_is_not_the_label_zero():
    value, target = padded_labels([[0, 0, 0]], [[None, None, 1]])
    assert score(Accuracy(SPEC), value, target) == 0


def test_one_label_per_sequence():
    target = Target(value=torch.tensor([0, 1, 0]), present=torch.tensor([True, True, False]))
    value = torch.tensor([0, 2, 0])
    assert Accuracy(SPEC).row_statistics(Prediction(value), target).tolist() == [
        [1, 1],
        [0, 1],
        [0, 0],
    ]
    # F1: a 1, b 0 (never predicted), c 0 (never gold).
    assert score(MacroF1(SPEC), value, target) == pytest.approx(1 / 3)


def test_macro_f1_by_hand():
    # a: correct 1, predicted 2, gold 2, F1 1/2. b: 1, 1, 1, F1 1. d: 0, 0, 1, F1 0. c is nowhere.
    value, target = padded_labels([[0, 0], [1, 1]], [[0, 3], [0, 1]])
    # The second row predicts b for a gold a: b is predicted twice, F1 2/3.
    assert score(MacroF1(SPEC), value, target) == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)


def test_an_unseen_gold_label_lowers_macro_f1_as_a_label_of_its_own():
    known, target_known = padded_labels([[0, 1]], [[0, 1]])
    assert score(MacroF1(SPEC), known, target_known) == 1
    value, target = padded_labels([[0, 1]], [[0, 3]])
    # a 1, b 0 (predicted, never gold), d 0.
    assert score(MacroF1(SPEC), value, target) == pytest.approx(1 / 3)


def test_balanced_accuracy_by_hand():
    # a: 2 of 3 found. b: 1 of 1. c: never gold, so that it has no recall. d: none can be found.
    value, target = padded_labels([[0, 0, 2, 1], [1]], [[0, 0, 0, 1], [3]])
    assert score(BalancedAccuracy(SPEC), value, target) == pytest.approx((2 / 3 + 1 + 0) / 3)
    always, known = padded_labels([[0] * 10], [[0] * 9 + [1]])
    assert score(BalancedAccuracy(SPEC), always, known) == 0.5


CELLS = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))), max_size=6),
    min_size=1,
    max_size=8,
)


@given(CELLS)
@settings(max_examples=100, deadline=None)
def test_equal_to_scikit_learn(rows):
    value, target = padded_labels(
        [[predicted for predicted, _ in row] for row in rows],
        [[gold for _, gold in row] for row in rows],
    )
    pairs = [pair for row in rows for pair in row if pair[1] is not None]
    if not pairs:
        assert math.isnan(score(Accuracy(SPEC), value, target))
        assert math.isnan(score(MacroF1(SPEC), value, target))
        assert math.isnan(score(BalancedAccuracy(SPEC), value, target))
        return
    predicted, gold = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = f1_score(gold, predicted, average="macro", zero_division=0)
        balanced = balanced_accuracy_score(gold, predicted)
    assert score(MacroF1(SPEC), value, target) == pytest.approx(expected)
    assert score(BalancedAccuracy(SPEC), value, target) == pytest.approx(balanced)
    assert score(Accuracy(SPEC), value, target) == pytest.approx(accuracy_score(gold, predicted))
