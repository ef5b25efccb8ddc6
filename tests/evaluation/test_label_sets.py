import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.evaluation.label_sets import (
    LabelSetMacroF1,
    MicroF1,
    SubsetAccuracy,
    as_sets,
    as_switches,
)
from seqtag.evaluation.labels import Accuracy, MacroF1

from .padded import score

SPEC = TargetSpec(labels=("a", "b", "c"), unseen=("d",), multi=True)
METRICS = [MicroF1, LabelSetMacroF1, SubsetAccuracy]


def sets(predicted: list[set[int]], gold: list[set[int] | None]) -> tuple[torch.Tensor, Target]:
    """Sets of ids from 1 on as the model has them; a gold None is missing."""

    def padded(rows: list[list[int]]) -> torch.Tensor:
        longest = max((len(row) for row in rows), default=0)
        return torch.tensor(
            [[*row, *[END] * (longest + 1 - len(row))] for row in rows], dtype=torch.int64
        ).reshape(len(rows), longest + 1)

    value = padded([sorted(ids or ()) for ids in gold])
    sizes = torch.tensor([[-1 if ids is None else len(ids)] for ids in gold]).reshape(-1, 1)
    return padded([sorted(ids) for ids in predicted]), Target(
        value=value, present=torch.arange(value.shape[1]) <= sizes
    )


def test_switches_and_sets_are_two_spellings_of_the_same():
    value = torch.tensor([[1, 3, END], [END, END, END], [2, END, END]])
    switches = as_switches(value, 3)
    assert switches.int().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert as_sets(switches).equal(value)
    assert as_sets(torch.zeros(2, 3, dtype=torch.bool)).tolist() == [[END], [END]]
    assert as_sets(torch.zeros(0, 3, dtype=torch.bool)).shape == (0, 1)


def test_scores_by_hand():
    # Right but for a missed b; right, as none applies; a label that training lacks; not counted.
    value, target = sets([{1}, set(), {1, 3}, {2}], [{1, 2}, set(), {3, 4}, None])
    assert MicroF1(SPEC).row_statistics(Prediction(value), target).tolist() == [
        [1, 1, 2],
        [0, 0, 0],
        [1, 2, 2],
        [0, 0, 0],
    ]
    assert score(MicroF1(SPEC), value, target) == pytest.approx(2 * 2 / (3 + 4))
    # a is right once of two given, one gold; b is missed; c is right; d can only be missed.
    assert score(LabelSetMacroF1(SPEC), value, target) == pytest.approx((2 / 3 + 0 + 1 + 0) / 4)
    assert score(SubsetAccuracy(SPEC), value, target) == pytest.approx(1 / 3)
    total = MicroF1(SPEC).row_statistics(Prediction(value), target).sum(dim=0)
    assert MicroF1(SPEC).details(total) == {"precision": 2 / 3, "recall": 1 / 2}


@pytest.mark.parametrize("metric", METRICS)
def test_nothing_is_scored_without_gold(metric):
    value, target = sets([{1, 2}, {3}], [None, None])
    assert not metric(SPEC).row_statistics(Prediction(value), target).any()
    assert math.isnan(score(metric(SPEC), value, target))
    none = metric(SPEC).row_statistics(
        Prediction(value[:0]), Target(target.value[:0], target.present[:0])
    )
    assert none.shape == (0, metric(SPEC).size)


def test_rows_to_which_no_label_applies_have_no_f1_but_can_be_right():
    value, target = sets([set(), {1}], [set(), set()])
    assert math.isnan(score(MicroF1(SPEC), value, target))
    assert math.isnan(score(LabelSetMacroF1(SPEC), value, target))
    assert score(SubsetAccuracy(SPEC), value, target) == 0.5


def test_sets_and_single_labels_have_their_own_metrics():
    single = TargetSpec(labels=("a", "b"))
    sequence = TargetSpec(labels=("a", "b"), sequence=True)
    for metric in METRICS:
        assert metric.applies(SPEC)
        assert not metric.applies(single)
        assert not metric.applies(sequence)
        assert metric.higher_is_better
    for metric in (Accuracy, MacroF1):
        assert not metric.applies(SPEC)
        assert metric.applies(single)


ROWS = st.lists(
    st.tuples(st.sets(st.integers(1, 3)), st.one_of(st.none(), st.sets(st.integers(1, 4)))),
    min_size=1,
    max_size=8,
)


@given(ROWS)
@settings(max_examples=100, deadline=None)
def test_equal_to_scikit_learn(rows):
    value, target = sets([predicted for predicted, _ in rows], [gold for _, gold in rows])
    pairs = [pair for pair in rows if pair[1] is not None]
    if not pairs:
        assert math.isnan(score(SubsetAccuracy(SPEC), value, target))
        return
    predicted, gold = (
        np.array([[label in ids for label in (1, 2, 3, 4)] for ids in side], dtype=int)
        for side in zip(*pairs, strict=True)
    )
    assert score(SubsetAccuracy(SPEC), value, target) == pytest.approx(
        accuracy_score(gold, predicted)
    )
    if not gold.any():
        assert math.isnan(score(MicroF1(SPEC), value, target))
        return
    occurs = np.flatnonzero((gold + predicted).any(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        micro = f1_score(gold, predicted, average="micro", zero_division=0)
        macro = f1_score(gold, predicted, average="macro", labels=occurs, zero_division=0)
    assert score(MicroF1(SPEC), value, target) == pytest.approx(micro)
    assert score(LabelSetMacroF1(SPEC), value, target) == pytest.approx(macro)
