import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.configuration import build, compose, options
from seqtag.nn.attention import record_weights
from seqtag.nn.pooling import AttentionPooling, MeanPooling, Pooling
from seqtag.nn.scorers import DotProductScorer

LENGTHS = torch.tensor([3, 1, 0, 2])


def make(option: str) -> Pooling:
    torch.manual_seed(0)
    config = compose("train", ["task=classification", f"head/pooling={option}", "data.train=x"])
    pooling: Pooling = build(config["head"]["pooling"], kinds=(nn.Module,), name="head.pooling")(8)
    return pooling.eval()


def pooled(pooling: Pooling, poison: float) -> tuple[Tensor, Tensor]:
    layout = Layout.of(LENGTHS)
    states = torch.randn(4, 3, 8, generator=torch.Generator().manual_seed(1))
    states = torch.where(layout.valid.unsqueeze(-1), states, poison).requires_grad_()
    return states, pooling(states, layout)


@pytest.mark.parametrize("option", options("head/pooling"))
def test_padding_never_matters_and_an_empty_row_is_finite(option: str) -> None:
    pooling = make(option)
    _, clean = pooled(pooling, 0.0)
    states, poisoned = pooled(pooling, math.nan)
    assert poisoned.shape == (4, pooling.output_dim)
    assert poisoned.isfinite().all()
    torch.testing.assert_close(poisoned, clean, rtol=0, atol=0)
    poisoned.square().sum().backward()
    assert states.grad is not None
    assert states.grad.isfinite().all()
    assert (states.grad[~Layout.of(LENGTHS).valid] == 0).all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in pooling.parameters())


@pytest.mark.parametrize("option", options("head/pooling"))
def test_a_row_alone_is_the_row_in_a_batch(option: str) -> None:
    pooling = make(option)
    states, together = pooled(pooling, math.nan)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = pooling(states[row : row + 1, :length], Layout.of(LENGTHS[row : row + 1]))
        torch.testing.assert_close(alone[0], together[row])


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


def plain(**settings: float) -> AttentionPooling:
    """A query of (1, 0) in one head of two numbers, with all four maps the identity."""
    pooling = AttentionPooling(
        2,
        scorer=partial(DotProductScorer, scaled=False),
        **({"num_heads": 1, "dropout": 0.0} | settings),  # type: ignore[arg-type]
    )
    with torch.no_grad():
        pooling.query.copy_(torch.tensor([1.0, 0.0]))
        for name in ("query", "key", "value", "output"):
            getattr(pooling.attention, name).weight.copy_(torch.eye(2))
    return pooling


def test_a_query_weighs_the_elements_by_how_well_they_match() -> None:
    # exp(log 3) : exp(0) = 3 : 1
    states = torch.tensor([[[math.log(3), 4.0], [0.0, 8.0]]])
    pooling = plain()
    layout = Layout.of(torch.tensor([2]))
    torch.testing.assert_close(
        pooling(states, layout), torch.tensor([[0.75 * math.log(3), 0.75 * 4 + 0.25 * 8]])
    )
    with record_weights(pooling) as weights:
        pooling(states, layout)
    (recorded,) = weights["attention"]
    torch.testing.assert_close(recorded, torch.tensor([[[[0.75, 0.25]]]]))


def test_each_head_weighs_for_itself() -> None:
    # Head 1 scores by the first number, head 2 (whose query is 0) not at all.
    states = torch.tensor([[[math.log(3), 4.0], [0.0, 8.0]]])
    pooling = plain(num_heads=2)
    with record_weights(pooling) as weights:
        pooling(states, Layout.of(torch.tensor([2])))
    assert weights["attention"][0].squeeze().tolist() == [
        pytest.approx([0.75, 0.25]),
        pytest.approx([0.5, 0.5]),
    ]


def test_weights_are_dropped_in_training_alone() -> None:
    states, layout = torch.randn(1, 50, 2), Layout.of(torch.tensor([50]))
    pooling = plain(dropout=0.5)
    assert not torch.equal(pooling(states, layout), pooling(states, layout))
    pooling.eval()
    assert torch.equal(pooling(states, layout), pooling(states, layout))


@pytest.mark.parametrize("num_heads", [0, 3])
def test_heads_that_do_not_divide_the_width_are_refused(num_heads: int) -> None:
    with pytest.raises(ValueError, match=rf"num_heads \({num_heads}\).*\(2\)"):
        plain(num_heads=num_heads)
