import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.ranks import MOST_LABELS, AveragePrecision, RocAuc

LETTERS = TargetSpec(labels=("a", "b", "c"), unseen=("d",))
TWO = TargetSpec(labels=("no", "yes"))
SETS = TargetSpec(labels=("x", "y"), unseen=("z",), multi=True)


def rows(gold, probabilities):
    """One label a row; a gold None is missing."""
    there = [label is not None for label in gold]
    target = Target(torch.tensor([label or 0 for label in gold]), torch.tensor(there))
    chances = torch.tensor(probabilities, dtype=torch.float32)
    return Prediction(chances.argmax(dim=1), chances), target


def scored(measure, prediction, target):
    return measure.score(torch.cat(measure.row_cells(prediction, target)))


def test_by_hand():
    # "yes" by probability: yes, no, yes, no. Of four pairs three are in order.
    given = rows([1, 0, 1, 0], [[0.1, 0.9], [0.25, 0.75], [0.5, 0.5], [0.9, 0.1]])
    assert scored(RocAuc(TWO), *given) == 3 / 4
    # Precision 1 at the first, 2/3 at the second; of "no" likewise, from the other end.
    assert scored(AveragePrecision(TWO), *given) == pytest.approx((1 + 2 / 3) / 2)


def test_equal_probabilities_count_half():
    tied = rows([1, 0, 1, 0], [[0.5, 0.5]] * 4)
    assert scored(RocAuc(TWO), *tied) == 0.5
    assert scored(AveragePrecision(TWO), *tied) == 0.5
    # One pair of two is tied, the other is in order.
    some = rows([1, 1, 0], [[0.2, 0.8], [0.5, 0.5], [0.5, 0.5]])
    assert scored(RocAuc(TWO), *some) == 3 / 4


@pytest.mark.parametrize("measure", [RocAuc, AveragePrecision])
def test_undefined_where_every_row_has_the_same_label(measure):
    assert math.isnan(scored(measure(TWO), *rows([1, 1], [[0.2, 0.8], [0.9, 0.1]])))
    assert math.isnan(scored(measure(TWO), *rows([None, 1], [[0.2, 0.8], [0.9, 0.1]])))


@pytest.mark.parametrize("measure", [RocAuc, AveragePrecision])
def test_undefined_without_probabilities(measure):
    prediction, target = rows([1, 0], [[0.2, 0.8], [0.9, 0.1]])
    prediction.probabilities = None
    cells = measure(TWO).row_cells(prediction, target)
    assert [tuple(row.shape) for row in cells] == [(0, 4), (0, 4)]
    assert math.isnan(measure(TWO).score(torch.cat(cells)))


@pytest.mark.parametrize("measure", [RocAuc, AveragePrecision])
def test_a_probability_that_is_no_number_makes_the_score_none(measure):
    assert math.isnan(scored(measure(TWO), *rows([1, 0], [[0.2, math.nan], [0.9, 0.1]])))


def test_a_label_that_training_lacks_is_not_told_apart():
    given = rows([0, 3], [[0.9, 0.05, 0.05], [0.1, 0.6, 0.3]])
    assert RocAuc(LETTERS).details(torch.cat(RocAuc(LETTERS).row_cells(*given))) == {
        "a": 1.0,
        "d": 0.5,
    }
    assert scored(AveragePrecision(LETTERS), *given) == (1 + 0.5) / 2


def test_sets_of_labels_by_hand():
    # x is in the first row alone, and z, which training lacks, in the second; y is in all of them.
    target = Target(
        torch.tensor([[1, 2, 0], [2, 3, 0], [2, 0, 0], [0, 0, 0]]),
        torch.tensor([[True] * 3, [True] * 3, [True, True, False], [False] * 3]),
    )
    prediction = Prediction(
        torch.zeros(4, 1, dtype=torch.int64),
        torch.tensor([[0.7, 0.1], [0.6, 0.2], [0.8, 0.3], [1.0, 1.0]]),
    )
    cells = torch.cat(RocAuc(SETS).row_cells(prediction, target))
    assert RocAuc(SETS).details(cells) == {"x": 1 / 2, "z": 1 / 2}
    assert AveragePrecision(SETS).details(cells) == {"x": 1 / 2, "z": pytest.approx(1 / 3)}


def test_too_many_labels_are_refused():
    many = TargetSpec(labels=tuple(str(number) for number in range(MOST_LABELS + 1)))
    assert RocAuc.applies(replace(many, labels=many.labels[1:]))
    assert not RocAuc.applies(many)
    assert not RocAuc.applies(TargetSpec(labels=("a",), sequence=True))
    assert not AveragePrecision.applies(TargetSpec(mean=(0.0,), deviation=(1.0,)))


# Sixteenths: ties are frequent, and one less a probability is exact.
CASES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 16)), min_size=1, max_size=30)


@given(CASES)
@settings(max_examples=60, deadline=None)
def test_equal_to_scikit_learn_with_two_labels(cases):
    gold, chance = np.array(cases).T / [[1], [16]]
    given = rows([int(label) for label in gold], np.stack([1 - chance, chance], axis=1))
    if 0 < gold.sum() < len(gold):
        assert scored(RocAuc(TWO), *given) == pytest.approx(roc_auc_score(gold, chance))
        both = np.stack([1 - gold, gold], axis=1)
        expected = average_precision_score(both, np.stack([1 - chance, chance], axis=1))
        assert scored(AveragePrecision(TWO), *given) == pytest.approx(expected)
    else:
        assert math.isnan(scored(RocAuc(TWO), *given))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.lists(st.integers(0, 8), min_size=3, max_size=3).filter(any)
        ),
        min_size=2,
        max_size=25,
    )
)
@settings(max_examples=60, deadline=None)
def test_equal_to_scikit_learn_with_several_labels(cases):
    gold = np.array([label for label, _ in cases])
    weights = np.array([weight for _, weight in cases], dtype=np.float32)
    chances = weights / weights.sum(axis=1, keepdims=True)
    given = rows(gold.tolist(), chances)
    chances = np.concatenate([chances, np.zeros((len(gold), 1))], axis=1)
    both_kinds = [label for label in range(4) if 0 < (gold == label).sum() < len(gold)]
    for measure, reference in (
        (RocAuc, roc_auc_score),
        (AveragePrecision, average_precision_score),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = [reference(gold == label, chances[:, label]) for label in both_kinds]
        score = scored(measure(LETTERS), *given)
        assert score == pytest.approx(np.mean(expected)) if expected else math.isnan(score)


@pytest.mark.parametrize("measure", [RocAuc, AveragePrecision])
def test_a_selection_scores_as_its_rows_do_when_they_are_written_out(measure):
    generator = torch.Generator().manual_seed(5)
    gold = torch.randint(0, 4, (40,), generator=generator)  # the last label is unknown
    chances = torch.randint(0, 5, (40, 3), generator=generator).double() / 4  # with ties
    made = measure(LETTERS)
    target = Target(gold, torch.ones(40, dtype=torch.bool))
    cells = torch.cat(made.row_cells(Prediction(gold, chances), target))
    times = torch.randint(0, 3, (20, 40), generator=generator).double()
    times[0] = 0
    times[1] = gold == 2  # of one label alone there is no order
    times[2] = (gold < 2) * times[2]  # two of the labels never stand there
    found = made.scores(cells, times)
    for score, often in zip(found, times, strict=True):
        written_out = made.score(cells.repeat_interleave(often.long(), dim=0))
        assert float(score) == pytest.approx(written_out, rel=1e-12, nan_ok=True)
    assert found[:2].isnan().all()
    assert not found[2:].isnan().any()


@pytest.mark.parametrize("measure", [RocAuc, AveragePrecision])
def test_a_probability_that_is_none_counts_only_where_it_is_selected(measure):
    prediction, target = rows([1, 0, 1], [[0.2, 0.8], [0.9, 0.1], [math.nan, math.nan]])
    made = measure(TWO)
    cells = torch.cat(made.row_cells(prediction, target))
    found = made.scores(cells, torch.tensor([[1.0, 1, 0], [1, 1, 1]], dtype=torch.float64))
    assert found[0] == 1
    assert found[1].isnan()
