import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.rank_correlation import SpearmanCorrelation

from .padded import padded_numbers

ONE = TargetSpec(mean=(0.0,), deviation=(1.0,))
TWO = TargetSpec(mean=(0.0, 5.0), deviation=(1.0, 1.0))


def scored(spec, value, target):
    measure = SpearmanCorrelation(spec)
    return measure.score(torch.cat(measure.row_cells(Prediction(value), target)))


def rows(predicted, gold):
    target = Target(torch.tensor(gold).unsqueeze(1), torch.ones(len(gold), 1, dtype=torch.bool))
    return torch.tensor(predicted).unsqueeze(1), target


def test_only_the_order_counts():
    assert scored(ONE, *rows([1.0, 2.0, 1000.0], [-3.0, 0.1, 0.2])) == pytest.approx(1)
    assert scored(ONE, *rows([3.0, 2.0, 1.0], [-3.0, 0.1, 0.2])) == pytest.approx(-1)
    # Ranks 2, 1, 3 and 1, 2, 3: 1 - 6 * 2 / (3 * 8).
    assert scored(ONE, *rows([2.0, 1.0, 3.0], [1.0, 2.0, 3.0])) == pytest.approx(0.5)
    # An infinity has a place in the order.
    assert scored(ONE, *rows([1.0, 2.0, math.inf], [-3.0, 0.1, 0.2])) == pytest.approx(1)


def test_undefined_without_an_order():
    assert math.isnan(scored(ONE, *rows([1.0, 1.0], [1.0, 2.0])))
    assert math.isnan(scored(ONE, *rows([1.0, 2.0], [1.0, 1.0])))
    assert math.isnan(scored(ONE, *rows([1.0], [1.0])))
    assert math.isnan(scored(ONE, *rows([1.0, math.nan, 2.0], [1.0, 2.0, 3.0])))


def test_several_numbers_each_by_itself():
    predicted = [[[1.0, 9.0], [2.0, 8.0]], [[3.0, 7.0]]]
    value, target = padded_numbers(predicted, [[[1.0, 1.0], [None, 2.0]], [[3.0, 3.0]]], width=2)
    assert scored(TWO, value, target) == pytest.approx((1 - 1) / 2)
    # Gold of the second number does not vary, so that the first is all there is.
    value, target = padded_numbers(predicted, [[[1.0, 1.0], [None, 1.0]], [[3.0, 1.0]]], width=2)
    assert scored(TWO, value, target) == pytest.approx(1)


SMALL = st.integers(-3, 3)


@given(st.lists(st.tuples(SMALL, SMALL), min_size=2, max_size=30))
@settings(max_examples=60, deadline=None)
def test_equal_to_scipy_with_ties(cases):
    predicted, gold = np.array(cases, dtype=np.float32).T
    score = scored(ONE, *rows(predicted.tolist(), gold.tolist()))
    if len(set(predicted)) == 1 or len(set(gold)) == 1:
        assert math.isnan(score)
    else:
        assert score == pytest.approx(spearmanr(predicted, gold).statistic)


@given(
    st.lists(
        st.tuples(st.floats(width=32, allow_subnormal=False), st.integers(-(2**24), 2**24)),
        min_size=3,
    )
)
@settings(max_examples=60, deadline=None)
def test_equal_to_scipy_on_any_numbers(cases):
    predicted, gold = ([float(pair[side]) for pair in cases] for side in (0, 1))
    if len(set(predicted)) > 1 and len(set(gold)) > 1:
        expected = spearmanr(predicted, gold).statistic
        score = scored(ONE, *rows(predicted, gold))
        assert score == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_selection_scores_as_its_rows_do_when_they_are_written_out():
    generator = torch.Generator().manual_seed(5)
    value = torch.randint(0, 6, (30, 2), generator=generator).double()  # with ties
    gold = torch.randint(0, 6, (30, 2), generator=generator).double()
    value[7, 0] = math.nan
    present = torch.rand(30, 2, generator=generator) < 0.8
    made = SpearmanCorrelation(TWO)
    cells = torch.cat(made.row_cells(Prediction(value), Target(gold, present)))
    times = torch.randint(0, 3, (20, len(cells)), generator=generator).double()
    times[0] = 0
    times[1] = torch.arange(len(cells)) == 0
    times[2:10, 7] = 0
    found = made.scores(cells, times)
    for score, often in zip(found, times, strict=True):
        written_out = made.score(cells.repeat_interleave(often.long(), dim=0))
        assert float(score) == pytest.approx(written_out, rel=1e-12, nan_ok=True)
    assert not found[2:7].isnan().any()
