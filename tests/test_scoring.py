import torch

from seqtag.datamodule import DataModule
from seqtag.model import Model
from seqtag.scoring import empty_scores, predict_batches

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


def test_scores_are_of_the_split_with_its_own_unseen_labels(small_config) -> None:
    files = {"train": "a\tX\nb\tY\n", "dev": "a\tZ\nb\tY\n"}
    data = DataModule(small_config("tagging", files=files))
    data.read_all(test=True)
    assert set(empty_scores(data, "dev").metrics) == {"accuracy", "macro_f1"}
    assert empty_scores(data, "dev").metrics["macro_f1"].size == 9
    assert empty_scores(data, "train").metrics["macro_f1"].size == 6
