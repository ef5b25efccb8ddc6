import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from seqtag.batch import Batch, Layout, Prediction, Target, TargetSpec
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.numbers import R2
from seqtag.evaluation.scores import Scores
from seqtag.evaluation.spans import SpanF1Strict

from .two_processes import ROWS, label_scores, labelled_split, plain_table, update


def test_scores_do_not_depend_on_the_batch_size():
    results = []
    for size in (1, 7, ROWS):
        scores = label_scores()
        update(scores, range(ROWS), size)
        results.append(scores.compute())
    assert results[0] == results[1] == results[2]
    assert list(results[0]) == ["accuracy", "roc_auc", "macro_f1", "average_precision", "ece"]


def test_compute_gives_the_score_of_the_summed_row_statistics():
    prediction, target = labelled_split()
    scores = label_scores()
    update(scores, range(ROWS), 5)
    for name, measure in scores.metrics.items():
        if isinstance(measure, Metric):
            gathered = measure.row_statistics(prediction, target).sum(dim=0)
        else:
            gathered = torch.cat(measure.row_cells(prediction, target))
        assert scores.compute()[name] == pytest.approx(measure.score(gathered), rel=1e-14)


def test_row_table_is_in_order_of_the_rows_with_the_statistics_of_each():
    prediction, target = labelled_split()
    scores = label_scores()
    update(scores, reversed(range(ROWS)), 4)
    table = scores.row_table()
    assert table["row"].tolist() == list(range(ROWS))
    assert table["row"].dtype == np.int64
    for name, measure in scores.metrics.items():
        if isinstance(measure, Metric):
            assert table[name].dtype == np.float64
            expected = measure.row_statistics(prediction, target).numpy()
            np.testing.assert_array_equal(table[name], expected)
            continue
        assert len(table[name]) == ROWS
        for found, cells in zip(table[name], measure.row_cells(prediction, target), strict=True):
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, cells.numpy())


def test_a_row_that_comes_twice_counts_once():
    once, twice = label_scores(), label_scores()
    update(once, range(ROWS), 4)
    update(twice, [*range(ROWS), 0, 1, 2, ROWS - 1], 4)
    assert twice.compute() == once.compute()
    assert len(twice.row_table()["row"]) == ROWS


def test_rows_without_any_statistic_are_in_the_table():
    scores = Scores({"accuracy": Accuracy(TargetSpec(labels=("a",)))})
    target = Target(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(2, 0, dtype=torch.bool))
    batch = Batch(
        inputs={}, layout=Layout.of(torch.tensor([0, 0])), target=target, rows=torch.tensor([4, 3])
    )
    scores.update(Prediction(value=target.value), batch)
    assert scores.row_table()["row"].tolist() == [3, 4]
    assert scores.row_table()["accuracy"].tolist() == [[0, 0], [0, 0]]
    assert math.isnan(scores.compute()["accuracy"])


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
def test_nothing_scored_is_undefined():
    scores = label_scores()
    assert all(math.isnan(score) for score in scores.compute().values())
    assert scores.row_table()["macro_f1"].shape == (0, 12)
    assert scores.row_table()["roc_auc"] == []


def test_reset_forgets_the_rows():
    scores = label_scores()
    update(scores, range(ROWS), 4)
    scores.compute()
    scores.reset()
    update(scores, [2], 1)
    assert scores.row_table()["row"].tolist() == [2]


def test_no_logits_are_kept():
    scores = label_scores()
    update(scores, range(ROWS), 4)
    kept = scores.metric_state
    # Two numbers for accuracy; correct, predicted and gold for each label of the row; and the bins.
    assert sum(len(part) for part in kept["values"]) <= ROWS * (2 + 3 * 4 + 3 * 6)
    assert scores.state_dict() == {}


@pytest.mark.parametrize(
    "move", [torch.nn.Module.half, lambda module: module.to(torch.bfloat16), torch.nn.Module.float]
)
def test_statistics_stay_float64_in_a_module_of_another_precision(move):
    generator = torch.Generator().manual_seed(0)
    gold = 1e6 + torch.randn(50, 1, generator=generator)
    value = gold + 0.1 * torch.randn(50, 1, generator=generator)
    target = Target(gold, torch.ones(50, 1, dtype=torch.bool))
    # Around such a mean the values are no float32, even though they came as such.
    metric = R2(TargetSpec(mean=(1e6 - 0.3,), deviation=(1.0,)))
    module = torch.nn.Module()
    module.scores = Scores({"r2": metric})
    module.linear = torch.nn.Linear(1, 1)
    move(module)
    batch = Batch(inputs={}, layout=Layout.of(torch.ones(50)), target=target, rows=torch.arange(50))
    module.scores.update(Prediction(value=value), batch)
    expected = metric.score(metric.row_statistics(Prediction(value), target).sum(dim=0))
    assert module.scores.compute()["r2"] == pytest.approx(expected, rel=1e-12)


def test_forward_gives_the_scores_of_the_batch_and_adds_it():
    prediction, target = labelled_split()
    scores = label_scores()
    update(scores, range(4), 4)
    first = scores.compute()
    batch = Batch(
        inputs={},
        layout=Layout.of(target.present.sum(dim=1)),
        target=target,
        rows=torch.arange(ROWS),
    )
    assert scores(prediction, batch) != first
    assert scores.row_table()["row"].tolist() == list(range(ROWS))


def test_scores_can_be_sent_to_another_process():
    scores = Scores({"spans": SpanF1Strict(TargetSpec(labels=("B-X", "O"), scheme="IOB2"))})
    assert pickle.loads(pickle.dumps(scores)).metrics.keys() == {"spans"}


def test_two_processes_give_the_scores_of_one(tmp_path):
    script = Path(__file__).with_name("two_processes.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    workers = [
        subprocess.Popen(
            [sys.executable, str(script), str(rank), str(tmp_path)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors

    scores = label_scores()
    update(scores, range(ROWS), 4)
    table = plain_table(scores)
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert first == second
    # Shared out with one row repeated, and all rows in one process with none in the other.
    for result in (first["shared"], first["lopsided"]):
        assert result["scores"] == scores.compute()
        assert result["table"] == table
    # What one process knows is its own again after the exchange.
    assert first["added"]["scores"] == scores.compute()
