"""A model that looks two elements around reads a long row in windows as it would in one piece."""

from typing import Any

import pytest
import torch

from seqtag.batch import Batch, Layout, Target, TargetSpec
from seqtag.data.windows import LongRows
from seqtag.model import Model
from seqtag.stretches import predict, predict_with_loss

SPEC = TargetSpec(labels=("X", "Y", "Z"), counts=(1, 1, 1))
LENGTHS = [37, 20, 3]


def long_rows(limit: int, *, per_element: bool = True) -> LongRows:
    return LongRows(
        limit=limit, budget=40, per_element=per_element, splits=per_element, truncates=False
    )


@pytest.fixture
def model(small_config: Any) -> Model:
    config = small_config("tagging", "embedding/spelling=none")
    torch.manual_seed(1)
    return Model.from_config(config, {"word": range(9)}, SPEC).eval()


@pytest.fixture
def batch() -> Batch:
    torch.manual_seed(2)
    layout = Layout.of(torch.tensor(LENGTHS))
    words = torch.where(layout.valid, torch.randint(2, 9, layout.valid.shape), 0)
    value = torch.where(layout.valid, torch.randint(0, 3, layout.valid.shape), 0)
    return Batch({"word": words}, layout, Target(value, layout.valid.clone()), torch.arange(3))


@pytest.mark.parametrize("limit", [16, 36])
@torch.inference_mode()
def test_predictions_and_loss_are_those_of_whole_rows(
    model: Model, batch: Batch, limit: int
) -> None:
    whole = model.predict(batch)
    prediction, loss = predict_with_loss(model, batch, long_rows(limit))
    assert prediction.probabilities is not None
    assert whole.probabilities is not None
    for row, length in enumerate(LENGTHS):
        assert prediction.value[row, :length].equal(whole.value[row, :length])
        torch.testing.assert_close(
            prediction.probabilities[row, :length], whole.probabilities[row, :length]
        )
    torch.testing.assert_close(loss, model(batch))


@torch.inference_mode()
def test_narrow_windows_see_less(model: Model, batch: Batch) -> None:
    whole = model.predict(batch).probabilities
    narrow = predict(model, batch, long_rows(2)).probabilities
    assert whole is not None
    assert narrow is not None
    assert not torch.allclose(whole[0], narrow[0])


@torch.inference_mode()
def test_no_batch_of_windows_is_larger_than_the_budget(model: Model, batch: Batch) -> None:
    shapes = []
    encode = model.encode
    model.encode = lambda piece: shapes.append(piece.layout.valid.shape) or encode(piece)  # type: ignore
    predict(model, batch, long_rows(16))
    assert len(shapes) > 1
    assert all(rows * source <= 40 for rows, source in shapes)


@torch.inference_mode()
def test_rows_that_fit_are_read_in_one_piece(model: Model, batch: Batch) -> None:
    assert predict(model, batch, long_rows(37)).value.equal(model.predict(batch).value)
