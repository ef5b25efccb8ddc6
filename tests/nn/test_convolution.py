"""A convolution is a special case of attention: one head for each offset of its kernel.

Queries and keys are nothing, so the scores are those of the position alone, and a head looks at the
element at its offset whatever it holds. The one value head passes elements on as they are, and the
output map holds the kernel (Cordonnier et al. 2020, theorem 1).

Where an offset leads beyond an end, a convolution with zero padding reads zero. Here that is either
an element of zeros, put before and behind the sequence as keys that nobody asks from; or a mask
that leaves such a head nothing to attend to, which by the rule for fully masked rows gives zeros.
"""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.nn.attention import Attention
from seqtag.nn.positions.peaked import Peaked
from seqtag.nn.scorers import DotProductScorer

CHANNELS, OUTPUT, LENGTH = 3, 5, 9


def convolution(kernel: int, dilation: int) -> tuple[nn.Conv1d, list[int]]:
    """A layer with as many outputs as inputs, and the offsets that it reads."""
    torch.manual_seed(0)
    reach = dilation * (kernel // 2)
    layer = nn.Conv1d(CHANNELS, OUTPUT, kernel, padding=reach, dilation=dilation)
    return layer, list(range(-reach, reach + 1, dilation))


def attention_of(layer: nn.Conv1d, offsets: list[int]) -> Attention:
    heads = len(offsets)
    attention = Attention(
        query_dim=CHANNELS,
        key_dim=CHANNELS,
        value_dim=CHANNELS,
        output_dim=OUTPUT,
        num_heads=heads,
        num_kv_heads=1,
        head_dim=1,
        value_head_dim=CHANNELS,
        scorer=DotProductScorer(head_dim=1, num_heads=heads, scaled=True),
        position=Peaked(
            dim=CHANNELS,
            num_heads=heads,
            head_dim=1,
            num_layers=1,
            max_distance=max(offsets) + 1,
            offsets=offsets,
            strength=100.0,  # the weight of any other element is exp(-100)
        ),
        dropout=0.0,
        bias=True,
    )
    for linear in (attention.query, attention.key, attention.value):
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
    with torch.no_grad():
        attention.value.weight.copy_(torch.eye(CHANNELS))
        # [output, channels, kernel] -> [output, kernel * channels]
        attention.output.weight.copy_(layer.weight.transpose(1, 2).flatten(1))
        attention.output.bias.copy_(layer.bias)
    return attention


def with_zero_elements(attention: Attention, offsets: list[int], x: Tensor) -> Tensor:
    reach = max(offsets)
    around = functional.pad(x, (0, 0, reach, reach))
    return attention(
        x,
        around,
        around,
        query_positions=torch.arange(reach, reach + LENGTH).unsqueeze(0),
        key_positions=torch.arange(around.shape[1]).unsqueeze(0),
    )


def with_masked_heads(attention: Attention, offsets: list[int], x: Tensor) -> Tensor:
    read = torch.arange(LENGTH) + torch.tensor(offsets).unsqueeze(1)
    within = (read >= 0) & (read < LENGTH)  # [heads, query]
    return attention(x, x, x, mask=within.unsqueeze(-1).expand(-1, -1, LENGTH))


@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (3, 1), (5, 1), (3, 2), (3, 4)])
@pytest.mark.parametrize("run", [with_zero_elements, with_masked_heads])
def test_attention_built_by_hand_is_a_convolution(run, kernel: int, dilation: int) -> None:
    layer, offsets = convolution(kernel, dilation)
    attention = attention_of(layer, offsets)
    x = torch.randn(2, LENGTH, CHANNELS, requires_grad=True)
    other = x.detach().clone().requires_grad_()

    expected = layer(x.transpose(1, 2)).transpose(1, 2)
    output = run(attention, offsets, other)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=0)

    (expected**2).sum().backward()
    (output**2).sum().backward()
    torch.testing.assert_close(other.grad, x.grad, atol=1e-4, rtol=0)


def test_without_a_care_for_the_ends_the_interior_is_the_same() -> None:
    layer, offsets = convolution(3, 1)
    x = torch.randn(2, LENGTH, CHANNELS)
    output = attention_of(layer, offsets)(x, x, x)
    expected = layer(x.transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(output[:, 1:-1], expected[:, 1:-1], atol=1e-5, rtol=0)
    assert not torch.allclose(output[:, 0], expected[:, 0], atol=1e-2)
