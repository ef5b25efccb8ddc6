"""What attention does where there is nothing to attend to, or nothing that may be looked at."""

import pytest
import torch
from torch import Tensor

from seqtag.nn.attention import Attention, record_weights
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer


@pytest.fixture(params=["fused", "eager"])
def attention(request):
    torch.manual_seed(0)
    module = Attention(
        query_dim=6,
        key_dim=6,
        value_dim=6,
        output_dim=6,
        num_heads=2,
        num_kv_heads=1,
        head_dim=4,
        value_head_dim=3,
        scorer=DotProductScorer(head_dim=4, num_heads=2, scaled=True),
        position=Position(dim=6, num_heads=2, head_dim=4, num_layers=1),
        dropout=0.0,
        bias=True,
    )
    torch.nn.init.ones_(module.output.bias)
    if request.param == "fused":
        yield module
    else:
        with record_weights(module):
            yield module


NOTHING = torch.tensor([[True] * 4, [False] * 4])
WAYS = {
    "valid": {"valid": NOTHING},
    "bool": {"mask": NOTHING[:, None, None, :]},
    "additive": {"mask": torch.where(NOTHING, 0.0, -torch.inf)[:, None, None, :]},
    "together": {
        "valid": torch.tensor([[True] * 4, [True, True, False, False]]),
        "mask": torch.tensor([[True] * 4, [False, False, True, True]])[:, None, None, :],
    },
}


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("masks", WAYS.values(), ids=WAYS.keys())
def test_a_query_with_nothing_to_attend_to_gives_zeros(attention: Attention, masks) -> None:
    x = torch.randn(2, 4, 6, requires_grad=True)
    with torch.autograd.detect_anomaly():  # no NaN on the way either, where kernels may differ
        output = attention(x, x, x, **masks)
        output.sum().backward()
    assert output[1].count_nonzero() == 0
    assert output[0].count_nonzero() == 24
    assert x.grad is not None
    assert x.grad[1].count_nonzero() == 0
    for tensor in (x, *attention.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


@torch.no_grad()
def test_one_head_with_nothing_adds_nothing(attention: Attention) -> None:
    x = torch.randn(1, 4, 6)
    mask = torch.tensor([True, False]).view(2, 1, 1).expand(2, 4, 4)
    output = attention(x, x, x, mask=mask)
    attention.output.weight[:, 3:] = 0  # what head 1 feeds
    torch.testing.assert_close(output, attention(x, x, x))


@torch.no_grad()
def test_no_key_at_all_gives_zeros(attention: Attention) -> None:
    none = torch.randn(2, 0, 6)
    assert attention(torch.randn(2, 3, 6), none, none).equal(torch.zeros(2, 3, 6))
    assert attention(none, none, none).shape == (2, 0, 6)


@pytest.mark.parametrize("poison", [float("nan"), float("inf"), 1e30])
def test_padded_keys_and_values_are_never_looked_at(attention: Attention, poison: float) -> None:
    valid = torch.tensor([[True, True, True], [True, False, False]])
    query, clean = torch.randn(2, 2, 6), torch.randn(2, 3, 6)

    def run(content: float) -> list[Tensor]:
        key = torch.where(valid.unsqueeze(-1), clean, content).requires_grad_()
        value = torch.where(valid.unsqueeze(-1), -clean, content).requires_grad_()
        attention.zero_grad()
        output = attention(query, key, value, valid=valid)
        output.square().sum().backward()
        return [
            output,
            *(x.grad for x in (key, value, *attention.parameters()) if x.grad is not None),
        ]

    for poisoned, expected in zip(run(poison), run(0.0), strict=True):
        assert poisoned.isfinite().all()
        torch.testing.assert_close(poisoned, expected, rtol=0, atol=0)
    alone = attention(query[1:], clean[1:, :1], -clean[1:, :1])
    torch.testing.assert_close(run(poison)[0][1:], alone)
