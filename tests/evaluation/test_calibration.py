import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.calibration import CalibrationError, NegativeLogLikelihood

SPEC = TargetSpec(labels=("a", "b"), unseen=("c",))
ECE, NLL = CalibrationError(SPEC, bins=4), NegativeLogLikelihood(SPEC)


def rows(gold, chances):
    """One label a row, from the probability of label b."""
    second = torch.tensor(chances, dtype=torch.float32)
    probabilities = torch.stack([1 - second, second], dim=1)
    target = Target(torch.tensor(gold), torch.ones(len(gold), dtype=torch.bool))
    return Prediction(probabilities.argmax(dim=1), probabilities), target


def scored(metric, prediction, target):
    return metric.score(metric.row_statistics(prediction, target).sum(dim=0))


def test_calibration_error_by_hand():
    # Of 0.5 and 0.75, at most which the third and last bin begin: wrong 0.5 in bin 2, right 0.75
    # and wrong 0.625 in bin 3, right 1 and wrong 0.875 in bin 4.
    prediction, target = rows([1, 1, 0, 1, 2], [0.5, 0.75, 0.625, 1.0, 0.875])
    assert prediction.value.tolist() == [0, 1, 1, 1, 1]
    total = ECE.row_statistics(prediction, target).sum(dim=0)
    second = abs(0 - 0.5)
    third = abs(1 - (0.75 + 0.625))
    fourth = abs(1 - (1 + 0.875))
    assert ECE.score(total) == pytest.approx((second + third + fourth) / 5)
    bins = ECE.bins(total)
    assert [each.count for each in bins] == [0, 1, 2, 2]
    assert (bins[2].low, bins[2].high) == (0.5, 0.75)
    assert (bins[2].confidence, bins[2].accuracy) == ((0.75 + 0.625) / 2, 0.5)
    assert math.isnan(bins[0].accuracy)
    assert ECE.details(total)["accuracy up to 0.750"] == 0.5
    assert ECE.details(total)["count up to 1.000"] == 2


def test_certainty_that_is_right_has_no_error():
    assert scored(ECE, *rows([1, 0], [1.0, 0.0])) == 0
    assert scored(NLL, *rows([1, 0], [1.0, 0.0])) == 0


def test_likelihood_by_hand():
    given = rows([1, 0], [0.5, 0.75])
    assert scored(NLL, *given) == pytest.approx((math.log(2) + math.log(4)) / 2)


def test_a_gold_label_that_training_lacks_has_no_part_in_the_likelihood():
    assert scored(NLL, *rows([1, 2], [0.5, 0.75])) == pytest.approx(math.log(2))
    assert math.isnan(scored(NLL, *rows([2, 2], [0.5, 0.75])))
    # But it is wrong where accuracy counts.
    assert scored(ECE, *rows([2], [0.75])) == 0.75


def test_a_probability_of_nothing_is_no_infinity():
    assert scored(NLL, *rows([1], [0.0])) == pytest.approx(87.3, abs=0.1)


def test_undefined_without_probabilities():
    prediction, target = rows([1, 0], [0.5, 0.75])
    prediction.probabilities = None
    for metric in (ECE, NLL):
        statistics = metric.row_statistics(prediction, target)
        assert statistics.shape == (2, metric.size)
        assert not statistics.any()
        assert math.isnan(metric.score(statistics.sum(dim=0)))


def test_a_probability_that_is_no_number_makes_the_score_none():
    prediction, target = rows([1, 0], [0.5, math.nan])
    assert math.isnan(scored(ECE, prediction, target))
    assert math.isnan(scored(NLL, prediction, target))


def test_no_bin_at_all_is_refused():
    with pytest.raises(ValueError, match="bins of the calibration error is 0"):
        CalibrationError(SPEC, bins=0)


# In parts of 1024, one less a probability is exact, and none is the bound of a bin.
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 1023)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_equal_to_scikit_learn_and_to_a_histogram(cases):
    gold, chances = [label for label, _ in cases], [chance / 1024 for _, chance in cases]
    prediction, target = rows(gold, chances)
    probabilities = prediction.probabilities.double().numpy()
    expected = log_loss(gold, probabilities, labels=[0, 1])
    assert scored(NLL, prediction, target) == pytest.approx(expected)
    top = probabilities.max(axis=1)
    right = prediction.value.numpy() == np.array(gold)
    # A bin of the definition is open below and closed above.
    places = np.digitize(top, np.arange(16) / 15, right=True)
    expected = sum(
        (places == number).mean()
        * abs(right[places == number].mean() - top[places == number].mean())
        for number in set(places.tolist())
    )
    assert scored(CalibrationError(SPEC, bins=15), prediction, target) == pytest.approx(expected)
