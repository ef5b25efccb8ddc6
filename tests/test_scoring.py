import csv
import math

import pytest
import torch

from seqtag.datamodule import DataModule
from seqtag.model import Model
from seqtag.scoring import empty_scores, predict_batches, selection_metric
from seqtag.training.fit import fit

CPU = torch.device("cpu")


def test_every_row_is_predicted_once_without_dropout_or_gradient(small_config) -> None:
    config = small_config("tagging", "batching.max_rows=1", "head.dropout=0.9")
    data = DataModule(config)
    data.read_all(test=True)
    model = Model.from_config(config, data.inputs.fields, data.target).train()
    first, second = (list(predict_batches(model, data, "train", CPU)) for _ in range(2))
    assert sorted(row for batch, _ in first for row in batch.rows.tolist()) == [0, 1, 2, 3]
    for (batch, prediction), (_, again) in zip(first, second, strict=True):
        assert prediction.value.shape == batch.inputs["word"].shape
        assert prediction.value.equal(again.value)
        assert prediction.value.is_inference()


def test_what_a_beam_has_found_beside_the_best_comes_along(small_config) -> None:
    for n_best in (1, 3):
        config = small_config("seq2seq", "search=beam", f"search.n_best={n_best}")
        data = DataModule(config)
        data.read_all(test=True)
        model = Model.from_config(config, data.inputs.fields, data.target)
        for batch, prediction in predict_batches(model, data, "train", CPU):
            rows, target = prediction.value.shape
            assert prediction.candidates.shape == (rows, n_best, target)
            assert prediction.candidates[:, 0].equal(prediction.value)
            assert len(batch.rows) == rows


def test_scores_are_of_the_split_with_its_own_unseen_labels(small_config) -> None:
    files = {"train": "a\tX\nb\tY\n", "dev": "a\tZ\nb\tY\n"}
    data = DataModule(small_config("tagging", files=files))
    data.read_all(test=True)
    assert set(empty_scores(data, "dev").metrics) == {"accuracy", "macro_f1"}
    assert empty_scores(data, "dev").metrics["macro_f1"].size == 9
    assert empty_scores(data, "train").metrics["macro_f1"].size == 6


def test_probabilities_come_along_where_a_measure_reads_them(small_config) -> None:
    for task, wanted in (("classification", True), ("multi_label", True), ("tagging", False)):
        config = small_config(task)
        data = DataModule(config)
        data.read_all(test=True)
        model = Model.from_config(config, data.inputs.fields, data.target)
        for batch, prediction in predict_batches(model, data, "dev", CPU):
            assert (prediction.probabilities is not None) == wanted
            if wanted:
                shape = (len(batch.rows), len(data.target.labels))
                assert prediction.probabilities.shape == shape


@pytest.mark.parametrize(
    ("task", "measure"),
    [
        ("classification", "roc_auc"),
        ("classification", "ece"),
        ("multi_label", "average_precision"),
        ("token_regression", "spearman"),
        ("seq2seq", "chrf"),
    ],
)
def test_any_measure_may_choose_the_best_epoch(small_config, task, measure) -> None:
    data = DataModule(small_config(task, f"task.selection=[{measure}]"))
    data.read_all(test=False)
    assert selection_metric(data, "dev") == measure


def test_a_measure_without_both_kinds_of_rows_does_not_choose(small_config) -> None:
    files = {
        "train": "text\tlabel\ngood\tyes\nbad\tno\n",
        "dev": "text\tlabel\ngood\tyes\nbad\tyes\n",
    }
    config = small_config("classification", "task.selection=[roc_auc,accuracy]", files=files)
    data = DataModule(config)
    data.read_all(test=False)
    assert selection_metric(data, "dev") == "accuracy"


def test_the_best_model_has_the_temperature_that_dev_was_scored_with(small_config) -> None:
    config = small_config("classification", "head.temperature=fit", "trainer.max_epochs=2")
    run = fit(config)
    with (run.folder / "metrics.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    epoch = rows[int(run.metrics["best_epoch"]) - 1]
    for measure in ("nll", "ece", "roc_auc", "average_precision"):
        value = run.metrics[f"dev/{measure}"]
        assert math.isfinite(value)
        assert float(epoch[f"dev/{measure}"]) == pytest.approx(value, rel=1e-4)
