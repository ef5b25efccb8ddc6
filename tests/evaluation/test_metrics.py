import math
import subprocess
import sys

import pytest
import torch

from seqtag.batch import Target, TargetSpec
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.numbers import (
    R2,
    MeanAbsoluteError,
    PearsonCorrelation,
    RootMeanSquaredError,
)
from seqtag.evaluation.spans import SpanF1Conlleval, SpanF1Strict

SPANS = TargetSpec(
    labels=("B-LOC", "B-PER", "I-LOC", "I-PER", "O"), unseen=("B-ORG",), scheme="IOB2"
)
TAGS = TargetSpec(labels=("NOUN", "VERB"))
NUMBERS = TargetSpec(mean=(10.0, -3.0), deviation=(1.0, 1.0))

LABEL_METRICS = [Accuracy, MacroF1, SpanF1Strict, SpanF1Conlleval]
NUMBER_METRICS = [RootMeanSquaredError, MeanAbsoluteError, R2, PearsonCorrelation]


def random_batch(metric, rows=30, source=9):
    """Predictions and gold values with padding and gaps."""
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(0, source + 1, (rows, 1), generator=generator)
    valid = torch.arange(source) < lengths
    if metric.applies(SPANS):
        shape, spec = (rows, source), SPANS
        value = torch.randint(0, len(spec.labels), shape, generator=generator)
        gold = torch.randint(0, len(spec.labels) + 1, shape, generator=generator)
        gold = torch.where(torch.rand(shape, generator=generator) < 0.5, value, gold)
        junk = 999
    else:
        shape, spec = (rows, source, 2), NUMBERS
        gold = torch.randn(shape, generator=generator)
        value = gold + torch.randn(shape, generator=generator)
        valid = valid.unsqueeze(2)
        junk = torch.nan
    present = valid & (torch.rand(shape, generator=generator) < 0.8)
    value = torch.where(valid, value, junk)
    target = Target(value=torch.where(present, gold, 0), present=present)
    return metric(spec), value, target


@pytest.mark.parametrize("metric", LABEL_METRICS + NUMBER_METRICS)
class TestEveryMetric:
    def test_gives_float64_statistics_of_its_size_for_each_row(self, metric):
        made, value, target = random_batch(metric)
        statistics = made.row_statistics(value, target)
        assert statistics.shape == (30, made.size)
        assert statistics.dtype == torch.float64
        assert math.isfinite(made.score(statistics.sum(dim=0)))

    @pytest.mark.parametrize("size", [1, 7])
    def test_does_not_depend_on_the_batch_size(self, metric, size):
        made, value, target = random_batch(metric)
        whole = made.row_statistics(value, target)
        parts = [
            made.row_statistics(
                value[start : start + size],
                Target(target.value[start : start + size], target.present[start : start + size]),
            )
            for start in range(0, len(value), size)
        ]
        torch.testing.assert_close(torch.cat(parts), whole, rtol=1e-14, atol=1e-14)

    def test_does_not_count_padding(self, metric):
        made, value, target = random_batch(metric)
        wider = [
            torch.cat([tensor, torch.full_like(tensor[:, :4], fill)], dim=1)
            for tensor, fill in (
                (value, torch.nan if value.is_floating_point() else 999),
                (target.value, 0),
                (target.present, False),
            )
        ]
        torch.testing.assert_close(
            made.row_statistics(wider[0], Target(wider[1], wider[2])),
            made.row_statistics(value, target),
            rtol=1e-14,
            atol=1e-14,
        )

    def test_is_undefined_without_gold(self, metric):
        made, value, target = random_batch(metric)
        nothing = Target(torch.zeros_like(target.value), torch.zeros_like(target.present))
        statistics = made.row_statistics(value, nothing)
        assert not statistics.any()
        assert math.isnan(made.score(statistics.sum(dim=0)))

    def test_takes_a_batch_without_rows_and_rows_without_elements(self, metric):
        made, value, target = random_batch(metric)
        none = made.row_statistics(value[:0], Target(target.value[:0], target.present[:0]))
        assert none.shape == (0, made.size)
        empty = made.row_statistics(
            value[:, :0], Target(target.value[:, :0], target.present[:, :0])
        )
        assert empty.shape == (30, made.size)
        assert not empty.any()


def test_a_metric_refuses_a_target_it_does_not_apply_to():
    for metric in NUMBER_METRICS:
        assert not metric.applies(TAGS)
    for metric in LABEL_METRICS:
        assert not metric.applies(NUMBERS)
    assert Accuracy.applies(TAGS)
    assert not SpanF1Strict.applies(TAGS)
    with pytest.raises(ValueError, match=r"SpanF1Strict does not apply to a target of 2 labels"):
        SpanF1Strict(TAGS)


def test_only_errors_are_better_when_lower():
    lower = [m for m in LABEL_METRICS + NUMBER_METRICS if not m.higher_is_better]
    assert lower == [RootMeanSquaredError, MeanAbsoluteError]


def test_importing_metrics_brings_in_no_scoring_library():
    code = (
        "import sys\n"
        "from seqtag.evaluation import errors, labels, metrics, numbers, spans\n"
        "print(sorted({'torchmetrics', 'seqeval', 'sklearn', 'scipy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout.strip() == "[]"
