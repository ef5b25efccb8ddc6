"""What holds for every measure that a config can name."""

import math
import subprocess
import sys

import pytest
import torch
import yaml
from omegaconf import OmegaConf

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.configuration import build, config_directory, options
from seqtag.data.tokenizers import Tokenizer
from seqtag.evaluation.label_sets import as_sets
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.metrics import Measure, Metric
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.spans import SpanF1Strict

ROWS, SOURCE = 30, 9
SPANS = TargetSpec(
    labels=("B-LOC", "B-PER", "I-LOC", "I-PER", "O"), unseen=("B-ORG",), scheme="IOB2"
)
TAGS = TargetSpec(labels=("NOUN", "VERB"))
NUMBERS = TargetSpec(mean=(10.0, -3.0), deviation=(1.0, 1.0))
SETS = TargetSpec(labels=("x", "y", "z"), unseen=("new",), multi=True)
SYMBOLS = TargetSpec(labels=("a", "b", "c"), unseen=("d",), sequence=True)
KINDS = {
    "labels of elements": SPANS,
    "labels of rows": SPANS,
    "numbers of elements": NUMBERS,
    "numbers of rows": NUMBERS,
    "sets": SETS,
    "sequences": SYMBOLS,
}


def measure_class(option):
    """What a file of ``conf/metric`` builds, called with a spec."""
    node = OmegaConf.load(config_directory() / "metric" / f"{option}.yaml")
    tokenizer = {"_target_": "seqtag.data.tokenizers.Whitespace"}
    whole = OmegaConf.create({"data": {"target_tokenizer": tokenizer}, "metric": node})
    stated = OmegaConf.to_container(whole, resolve=True)["metric"]
    return build(stated, kinds=(Measure, Tokenizer), name=f"metric.{option}")


MEASURES = {option: measure_class(option) for option in options("metric")}
CASES = [
    pytest.param(option, kind, id=f"{option} of {kind}")
    for option, made in MEASURES.items()
    for kind, spec in KINDS.items()
    if made.func.applies(spec) and not (option.startswith("span") and kind == "labels of rows")
]


def random_batch(kind):
    """Predictions and gold values, with gaps, and junk at padding."""
    generator = torch.Generator().manual_seed(3)
    spec = KINDS[kind]

    def chance(*shape):
        return torch.rand(shape, generator=generator)

    if kind == "sets":
        has, given = chance(ROWS, 4) < 0.4, chance(ROWS, 3)
        value, there = as_sets(has), (chance(ROWS, 1) < 0.8)
        ends = torch.arange(value.shape[1]) <= has.sum(dim=1, keepdim=True)
        target = Target(torch.where(there, value, 0), ends & there)
        return Prediction(as_sets(given > 0.5), given), target
    if kind == "sequences":
        gold = torch.randint(1, 5, (ROWS, SOURCE), generator=generator)
        guess = torch.where(chance(ROWS, SOURCE) < 0.6, gold, 1).clamp(max=3)
        lengths = torch.randint(1, SOURCE, (2, ROWS, 1), generator=generator)
        there = chance(ROWS, 1) < 0.8
        places = torch.arange(SOURCE)
        target = Target(
            torch.where((places < lengths[0]) & there, gold, END), (places <= lengths[0]) & there
        )
        return Prediction(torch.where(places < lengths[1], guess, END)), target
    shape = (ROWS, SOURCE) if kind.endswith("elements") else (ROWS,)
    lengths = torch.randint(0, SOURCE + 1, (ROWS, 1), generator=generator)
    valid = torch.arange(SOURCE) < lengths if len(shape) == 2 else torch.ones(shape) > 0
    if spec.labels:
        classes = len(spec.labels)
        probabilities = (3 * torch.randn(*shape, classes, generator=generator)).softmax(dim=-1)
        value = probabilities.argmax(dim=-1)
        gold = torch.randint(0, classes + 1, shape, generator=generator)
        gold = torch.where(chance(*shape) < 0.5, value, gold)
        probabilities[~valid] = math.nan
        value[~valid] = 999
        present = valid & (chance(*shape) < 0.8)
        return Prediction(value, probabilities), Target(torch.where(present, gold, 0), present)
    gold = torch.randn(*shape, 2, generator=generator)
    value = gold + torch.randn(*shape, 2, generator=generator)
    present = valid.unsqueeze(-1) & (chance(*shape, 2) < 0.8)
    value[~valid] = math.nan
    return Prediction(value), Target(torch.where(present, gold, 0), present)


def part(prediction, target, *index):
    chances = prediction.probabilities
    return (
        Prediction(prediction.value[index], None if chances is None else chances[index]),
        Target(target.value[index], target.present[index]),
    )


def given(measure, prediction, target):
    """What each row gives to a measure of either kind."""
    if isinstance(measure, Metric):
        return list(measure.row_statistics(prediction, target))
    return measure.row_cells(prediction, target)


def scored(measure, rows):
    if isinstance(measure, Metric):
        return measure.score(torch.stack(rows).sum(dim=0))
    return measure.score(torch.cat(rows))


@pytest.mark.parametrize(("option", "kind"), CASES)
class TestEveryMeasure:
    def test_gives_float64_for_each_row_and_a_score(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        rows = given(measure, *random_batch(kind))
        assert len(rows) == ROWS
        if isinstance(measure, Metric):
            assert {tuple(row.shape) for row in rows} == {(measure.size,)}
        else:
            assert {row.shape[1] for row in rows} == {measure.width}
        assert {row.dtype for row in rows} == {torch.float64}
        assert math.isfinite(scored(measure, rows))

    @pytest.mark.parametrize("size", [1, 7])
    def test_does_not_depend_on_the_batch_size(self, option, kind, size):
        measure = MEASURES[option](KINDS[kind])
        prediction, target = random_batch(kind)
        parts = [
            row
            for start in range(0, ROWS, size)
            for row in given(measure, *part(prediction, target, slice(start, start + size)))
        ]
        whole = given(measure, prediction, target)
        torch.testing.assert_close(parts, whole, rtol=1e-14, atol=1e-14, equal_nan=True)

    def test_does_not_count_padding(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        prediction, target = random_batch(kind)
        if kind.endswith("rows"):
            return

        def wider(values, fill):
            return torch.cat([values, torch.full_like(values[:, :4], fill)], dim=1)

        of_elements = kind.endswith("elements")
        junk = math.nan if prediction.value.is_floating_point() else 999 if of_elements else END
        chances = prediction.probabilities
        padded = Prediction(
            wider(prediction.value, junk),
            wider(chances, math.nan) if of_elements and chances is not None else chances,
        )
        behind = Target(wider(target.value, 0), wider(target.present, False))
        torch.testing.assert_close(
            given(measure, padded, behind),
            given(measure, prediction, target),
            rtol=1e-14,
            atol=1e-14,
            equal_nan=True,
        )

    def test_is_undefined_without_gold(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        prediction, target = random_batch(kind)
        nothing = Target(torch.zeros_like(target.value), torch.zeros_like(target.present))
        rows = given(measure, prediction, nothing)
        assert not any(row.any() for row in rows)
        assert math.isnan(scored(measure, rows))

    def test_takes_a_batch_without_rows_and_rows_without_elements(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        prediction, target = random_batch(kind)
        assert given(measure, *part(prediction, target, slice(0, 0))) == []
        if kind.endswith("elements"):
            rows = given(measure, *part(prediction, target, slice(None), slice(0, 0)))
            assert len(rows) == ROWS
            assert not any(row.any() for row in rows)

    def test_gives_the_same_score_of_one_sum_as_of_many(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        if not isinstance(measure, Metric):
            return
        statistics = torch.stack(given(measure, *random_batch(kind)))
        sums = torch.stack([statistics[:start].sum(dim=0) for start in (0, 1, 5, ROWS)])
        each = torch.tensor([measure.score(row) for row in sums], dtype=torch.float64)
        torch.testing.assert_close(
            measure.scores(sums), each, rtol=1e-14, atol=1e-14, equal_nan=True
        )
        assert measure.scores(sums).dtype == torch.float64

    def test_has_no_score_where_it_needs_probabilities_and_has_none(self, option, kind):
        measure = MEASURES[option](KINDS[kind])
        prediction, target = random_batch(kind)
        prediction.probabilities = None
        rows = given(measure, prediction, target)
        assert math.isnan(scored(measure, rows)) == measure.reads_probabilities


def test_every_measure_of_the_configs_is_in_a_case_and_in_a_task():
    assert {case.values[0] for case in CASES} == set(MEASURES)
    files = (config_directory() / "task").glob("*.yaml")
    named = {
        option
        for file in files
        for line in yaml.safe_load(file.read_text())["defaults"]
        if isinstance(line, dict)
        for option in line.values()
    }
    assert named == set(MEASURES)


def test_a_metric_refuses_a_target_it_does_not_apply_to():
    assert not RootMeanSquaredError.applies(TAGS)
    assert not Accuracy.applies(NUMBERS)
    assert Accuracy.applies(TAGS)
    assert not SpanF1Strict.applies(TAGS)
    with pytest.raises(ValueError, match=r"SpanF1Strict does not apply to a target of 2 labels"):
        SpanF1Strict(TAGS)


def test_only_errors_are_better_when_lower():
    lower = {option for option, made in MEASURES.items() if not made.func.higher_is_better}
    assert lower == {"rmse", "mae", "symbol_error_rate", "word_error_rate", "ece", "nll"}


def test_importing_metrics_brings_in_no_scoring_library():
    code = (
        "import sys\n"
        "from seqtag.evaluation import calibration, errors, labels, metrics, numbers, spans\n"
        "from seqtag.evaluation import rank_correlation, ranks, temperature, translation\n"
        "libraries = {'torchmetrics', 'seqeval', 'sklearn', 'scipy', 'sacrebleu'}\n"
        "print(sorted(libraries & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout.strip() == "[]"
