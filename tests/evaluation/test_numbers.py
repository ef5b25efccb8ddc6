import math

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from seqtag.batch import Target, TargetSpec
from seqtag.evaluation.numbers import (
    R2,
    MeanAbsoluteError,
    PearsonCorrelation,
    RootMeanSquaredError,
)

from .padded import padded_numbers, score

ONE = TargetSpec(mean=(0.0,), deviation=(1.0,))
TWO = TargetSpec(mean=(0.0, 0.0), deviation=(1.0, 1.0))
ALL = [RootMeanSquaredError, MeanAbsoluteError, R2, PearsonCorrelation]


def whole(values):
    """A target of one number per sequence."""
    tensor = torch.tensor(values).unsqueeze(1)
    return Target(value=tensor, present=torch.ones_like(tensor, dtype=torch.bool))


def test_by_hand_for_one_number_per_sequence():
    value, target = torch.tensor([[1.0], [2.0], [6.0]]), whole([1.0, 3.0, 5.0])
    assert score(RootMeanSquaredError(ONE), value, target) == pytest.approx(math.sqrt(2 / 3))
    assert score(MeanAbsoluteError(ONE), value, target) == pytest.approx(2 / 3)
    # The gold values are 2, 0 and 2 from their mean: a spread of 8, an error of 2.
    assert score(R2(ONE), value, target) == pytest.approx(1 - 2 / 8)


def test_root_mean_squared_error_is_over_elements_and_not_over_rows():
    value, target = padded_numbers([[[1.0]], [[0.0]] * 3], [[[0.0]], [[0.0]] * 3], width=1)
    assert score(RootMeanSquaredError(ONE), value, target) == pytest.approx(0.5)


def test_missing_numbers_and_nan_at_padding_do_not_count():
    value, target = padded_numbers([[[1.0], [50.0]], [[2.0]]], [[[0.0], [None]], [[4.0]]], width=1)
    assert score(MeanAbsoluteError(ONE), value, target) == pytest.approx(1.5)


def test_several_numbers_are_scored_apart_and_averaged():
    value, target = padded_numbers(
        [[[1.0, 10.0], [1.0, 10.0]]], [[[0.0, 7.0], [2.0, None]]], width=2
    )
    assert score(RootMeanSquaredError(TWO), value, target) == pytest.approx((1 + 3) / 2)


def test_a_number_that_is_never_present_is_left_out():
    value, target = padded_numbers([[[1.0, 5.0]]], [[[3.0, None]]], width=2)
    assert score(MeanAbsoluteError(TWO), value, target) == 2


@pytest.mark.parametrize("metric", ALL)
def test_a_prediction_that_is_not_a_number_is_not_left_out(metric):
    value, target = padded_numbers(
        [[[1.0, torch.nan], [2.0, 1.0]]], [[[3.0, 1.0], [4.0, 2.0]]], width=2
    )
    assert math.isnan(score(metric(TWO), value, target))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equal_to_scikit_learn_and_scipy_far_from_zero(offset):
    generator = np.random.default_rng(0)
    gold = np.float32(offset + generator.normal(size=(500, 2)) * (1, 30))
    predicted = np.float32(gold + generator.normal(size=(500, 2)) * (0.5, 40))
    # Training saw other rows, so that its mean is near, and not the same.
    mean = tuple(float(number) + 2.5 for number in gold.mean(axis=0, dtype=np.float64))
    spec = TargetSpec(mean=mean, deviation=(1.0, 1.0))
    value = torch.from_numpy(predicted)
    target = Target(torch.from_numpy(gold), torch.ones(500, 2, dtype=torch.bool))
    gold, predicted = gold.astype(np.float64), predicted.astype(np.float64)

    expected = {
        RootMeanSquaredError: root_mean_squared_error(gold, predicted),
        MeanAbsoluteError: mean_absolute_error(gold, predicted),
        R2: r2_score(gold, predicted),
        PearsonCorrelation: np.mean(
            [pearsonr(gold[:, i], predicted[:, i]).statistic for i in range(2)]
        ),
    }
    for metric, number in expected.items():
        assert score(metric(spec), value, target) == pytest.approx(number, rel=1e-10)


# The squares of either, a thousand times, differ from the square of the sum by rounding.
CONSTANTS = [(0.1, -7.3), (1e6 + 0.125, 0.3)]


@pytest.mark.parametrize(("constant", "mean"), CONSTANTS)
def test_constant_gold_leaves_r2_and_correlation_undefined(constant, mean):
    target = whole([constant] * 1000)
    value = target.value + torch.randn(1000, 1, generator=torch.Generator().manual_seed(0))
    spec = TargetSpec(mean=(mean,), deviation=(1.0,))
    assert math.isnan(score(R2(spec), value, target))
    assert math.isnan(score(PearsonCorrelation(spec), value, target))


@pytest.mark.parametrize(("constant", "mean"), CONSTANTS)
def test_constant_prediction_leaves_correlation_undefined_and_not_r2(constant, mean):
    target = whole([constant - 100, constant + 100] * 500)
    value = torch.full((1000, 1), constant)
    spec = TargetSpec(mean=(mean,), deviation=(1.0,))
    assert score(R2(spec), value, target) == pytest.approx(0, abs=1e-5)
    assert math.isnan(score(PearsonCorrelation(spec), value, target))


def test_correlation_knows_its_sign():
    target = whole([1.0, 2.0, 3.0])
    assert score(PearsonCorrelation(ONE), -5 * target.value, target) == pytest.approx(-1)
