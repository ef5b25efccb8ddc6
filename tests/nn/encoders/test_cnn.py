from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.encoders.cnn import CNNEncoder
from seqtag.nn.encoders.window import WindowEncoder


def build(**changes: Any) -> CNNEncoder:
    torch.manual_seed(0)
    settings = {
        "dim": 5,
        "num_layers": 2,
        "kernel_sizes": [3, 5],
        "dilation": 1,
        "global_pooling": False,
        "dropout": 0.0,
    }
    return CNNEncoder(5, **(settings | changes)).double()


def elements(*lengths: int) -> tuple[Tensor, Layout]:
    x = torch.randn(len(lengths), max(lengths), 5, dtype=torch.float64)
    return x, Layout.of(torch.tensor(lengths))


def convolve(x: Tensor, weight: Tensor, bias: Tensor, dilation: int) -> Tensor:
    """``weight [out, in, taps]`` over a sequence ``[source, in]`` with zeros beyond its ends."""
    taps = weight.shape[2]
    out = []
    for place in range(len(x)):
        total = bias.clone()
        for tap in range(taps):
            seen = place + (tap - taps // 2) * dilation
            if 0 <= seen < len(x):
                total += weight[:, :, tap] @ x[seen]
        out.append(total)
    return torch.stack(out)


@pytest.mark.parametrize("dilation", [1, 2, 3])
@torch.no_grad()
def test_layers_are_those_of_the_equations(dilation: int) -> None:
    encoder = build(dilation=dilation, num_layers=3)
    x, layout = elements(7, 2, 4)
    states = encoder(x, layout)
    for row, length in enumerate([7, 2, 4]):
        expected = x[row, :length]
        for index, layer in enumerate(encoder.layers):
            normed = layer.norm(expected)
            found = [
                convolve(normed, kernel.weight, kernel.bias, dilation**index)
                for kernel in layer.kernels
            ]
            expected = expected + functional.gelu(torch.cat(found, dim=1))
        torch.testing.assert_close(states[row, :length], encoder.norm(expected))


@torch.no_grad()
def test_one_layer_is_torchs_convolution() -> None:
    (layer,) = build(kernel_sizes=[3], num_layers=1).layers
    x, layout = elements(6)
    (kernel,) = layer.kernels
    normed = layer.norm(x).transpose(1, 2)
    torch.testing.assert_close(
        layer(x, layout) - x,
        functional.gelu(functional.conv1d(normed, kernel.weight, kernel.bias, padding=1))
        .transpose(1, 2),
    )  # fmt: skip


@torch.no_grad()
def test_one_kernel_makes_the_layer_of_a_window() -> None:
    cnn = build(kernel_sizes=[5], num_layers=1)
    window = WindowEncoder(5, dim=5, num_layers=1, radius=2, dropout=0.0).double()
    (kernel,), (layer,) = cnn.layers[0].kernels, window.layers
    # [out, in, taps] -> [out, taps * in]
    layer.connect.weight.copy_(kernel.weight.transpose(1, 2).flatten(1))
    layer.connect.bias.copy_(kernel.bias)
    x, layout = elements(6, 3)
    torch.testing.assert_close(cnn(x, layout)[layout.valid], window(x, layout)[layout.valid])


@pytest.mark.parametrize(
    ("dilation", "num_layers", "reach"), [(1, 1, 2), (1, 3, 6), (2, 3, 2 + 4 + 8), (3, 2, 2 + 6)]
)
@torch.no_grad()
def test_an_element_sees_as_far_as_the_layers_reach(dilation, num_layers, reach) -> None:
    encoder = build(dilation=dilation, num_layers=num_layers)
    x, layout = elements(33)
    other = x.clone()
    other[0, 16, 0] += 1  # a norm would take away what all of an element has in common
    moved = (encoder(x, layout) - encoder(other, layout)).abs().sum(dim=-1)[0] > 0
    seen = [abs(place - 16) for place in range(33) if moved[place]]
    assert max(seen) == reach
    assert not any(moved[: 16 - reach])


@torch.no_grad()
def test_global_pooling_adds_a_map_of_mean_and_maximum_to_every_element() -> None:
    encoder = build(global_pooling=True, num_layers=1)
    (layer,) = encoder.layers
    x, layout = elements(4, 2)
    added = layer(x, layout) - x
    for row, length in enumerate([4, 2]):
        normed = layer.norm(x[row, :length])
        pooled = layer.pooled(torch.cat([normed.mean(dim=0), normed.amax(dim=0)]))
        found = torch.cat([convolve(normed, k.weight, k.bias, 1) for k in layer.kernels], dim=1)
        torch.testing.assert_close(added[row, :length], functional.gelu(found + pooled))


@torch.no_grad()
def test_with_global_pooling_every_element_sees_every_other() -> None:
    x, layout = elements(20)
    other = x.clone()
    other[0, 19, 0] += 1
    for pooled in (False, True):
        encoder = build(global_pooling=pooled, num_layers=1)
        moved = (encoder(x, layout) - encoder(other, layout)).abs().sum(dim=-1)[0] > 0
        assert bool(moved.all()) == pooled


@pytest.mark.parametrize("pooled", [False, True])
def test_kernels_share_the_width(pooled: bool) -> None:
    encoder = build(kernel_sizes=[1, 3], global_pooling=pooled)
    # Of 5 channels the first kernel makes 3.
    layer = (5 * 1 * 3 + 3) + (5 * 3 * 2 + 2) + 2 * 5 + pooled * (10 * 5 + 5)
    assert sum(x.numel() for x in encoder.parameters()) == 2 * layer + 2 * 5


@pytest.mark.parametrize("wrong", [3, "3", [], [3, 4], [0], [-1], ["3"], [3.0], [True], None])
def test_kernel_sizes_that_cannot_be_are_refused_with_the_key(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"encoder\.kernel_sizes is .*odd whole numbers") as error:
        build(kernel_sizes=wrong)
    assert "\n" not in str(error.value)


def test_sizes_that_cannot_be_are_refused_with_the_key() -> None:
    with pytest.raises(ValueError, match=r"encoder\.dilation is 0; it must be at least 1"):
        build(dilation=0)
    with pytest.raises(ValueError, match=r"encoder\.dim is 1; it is shared out among the 2 ker"):
        build(dim=1)
