import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.pooling import MeanPooling


@pytest.mark.parametrize("poison", [9.0, float("nan")])
def test_mean_is_over_real_elements_and_zero_for_an_empty_row(poison: float) -> None:
    x = poison
    states = torch.tensor(
        [[[1.0, 2.0], [3.0, 6.0]], [[5.0, 7.0], [x, x]], [[x, x], [x, x]]], requires_grad=True
    )
    pooling = MeanPooling(2)
    pooled = pooling(states, Layout.of(torch.tensor([2, 1, 0])))
    assert pooled.tolist() == [[2.0, 4.0], [5.0, 7.0], [0.0, 0.0]]
    pooled.sum().backward()
    assert states.grad is not None
    assert states.grad[:, :, 0].tolist() == [[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]]
    assert pooling.output_dim == 2
