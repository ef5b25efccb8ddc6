"""What stands around and behind attention, against formulas that can be read."""

import functools
import math
import warnings

import pytest
import torch
from torch import Tensor, nn

from seqtag.configuration import build as build_node
from seqtag.configuration import compose_node, options
from seqtag.nn.blocks import FeedForward, Residual, RMSNorm, SwiGLU

DIM, HIDDEN = 3, 4
X = torch.tensor([[[1.0, 3.0]]])


@functools.cache
def option(group: str, name: str):
    """What a yaml of ``encoder/norm`` or ``encoder/activation`` builds."""
    return build_node(compose_node(f"encoder/{group}", name), kinds=(nn.Module,), name=group)


def residual(pre_norm: bool, dropout: float = 0.0, dim: int = 2) -> Residual:
    return Residual(dim=dim, norm=option("norm", "layer"), pre_norm=pre_norm, dropout=dropout)


def feedforward(activation: str, pre_norm: bool = True, dropout: float = 0.0) -> FeedForward:
    torch.manual_seed(0)
    made = FeedForward(
        dim=DIM,
        hidden=HIDDEN,
        activation=option("activation", activation),
        dropout=dropout,
        residual=residual(pre_norm, dim=DIM),
    )
    return made.double()


@pytest.mark.parametrize(
    ("pre_norm", "expected"),
    # (1, 3) has mean 2 and deviation 1. Before: (1, 3) + 2 * (-1, 1). Behind: norm of (3, 9).
    [(True, [-1.0, 5.0]), (False, [-1.0, 1.0])],
)
def test_the_norm_stands_before_the_sublayer_or_behind_the_sum(pre_norm, expected) -> None:
    given = residual(pre_norm)(X, lambda x: 2 * x)
    torch.testing.assert_close(given, torch.tensor([[expected]]), rtol=0, atol=1e-4)


def test_dropout_takes_what_the_sublayer_adds_and_not_the_elements() -> None:
    assert residual(True, dropout=1.0)(X, lambda x: 2 * x).equal(X)
    around = residual(False, dropout=1.0)
    assert around(X, lambda x: 2 * x).equal(around.norm(X))
    assert not around.eval()(X, lambda x: x.flip(-1)).equal(around.norm(X))


def gelu(x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def swish(x: float) -> float:
    return x / (1 + math.exp(-x))


def hidden_layer(activation: str, widened: list[float]) -> list[float]:
    if activation == "swiglu":
        return [swish(widened[i]) * widened[i + HIDDEN] for i in range(HIDDEN)]
    return [gelu(x) if activation == "gelu" else max(x, 0.0) for x in widened]


def looped(made: FeedForward, activation: str, x: Tensor) -> list[float]:
    """What the sublayer adds to one element."""
    widened = [
        float(row @ x + b) for row, b in zip(made.widen.weight, made.widen.bias, strict=True)
    ]
    hidden = hidden_layer(activation, widened)
    return [
        sum(float(weight) * unit for weight, unit in zip(row, hidden, strict=True)) + float(b)
        for row, b in zip(made.narrow.weight, made.narrow.bias, strict=True)
    ]


@pytest.mark.parametrize("activation", ["gelu", "relu", "swiglu"])
@pytest.mark.parametrize("pre_norm", [True, False])
@torch.no_grad()
def test_the_fully_connected_sublayer_equals_a_loop(activation: str, pre_norm: bool) -> None:
    made, x = feedforward(activation, pre_norm), torch.randn(2, 3, DIM).double()
    norm = made.residual.norm
    for row in range(2):
        for place in range(3):
            element = x[row, place]
            added = looped(made, activation, norm(element) if pre_norm else element)
            total = element + torch.tensor(added, dtype=torch.float64)
            expected = total if pre_norm else norm(total)
            torch.testing.assert_close(made(x)[row, place], expected)


def test_dropout_takes_the_hidden_layer_and_leaves_the_last_bias() -> None:
    made, x = feedforward("gelu", dropout=1.0), torch.randn(1, 2, DIM).double()
    torch.testing.assert_close(made(x), x + made.narrow.bias)
    assert not torch.allclose(made.eval()(x), x + made.narrow.bias)


def test_swiglu_gates_the_second_half_with_the_first() -> None:
    given = SwiGLU()(torch.tensor([0.0, 1.0, 7.0, 2.0]))
    torch.testing.assert_close(given, torch.tensor([0.0, 2 * 0.7310586]))  # 1 * sigmoid(1) * 2


@pytest.mark.parametrize("name", options("encoder/activation"))
def test_width_counts_behind_every_activation(name: str) -> None:
    made = feedforward(name)
    assert made.narrow.weight.shape == (DIM, HIDDEN)
    assert made.widen.weight.shape == ((2 if name == "swiglu" else 1) * HIDDEN, DIM)
    assert made(torch.randn(2, 5, DIM).double()).shape == (2, 5, DIM)


def test_rms_norm_divides_by_the_root_mean_square_and_keeps_the_mean() -> None:
    norm = option("norm", "rms")(2)
    expected = torch.tensor([3.0, 4.0]) / math.sqrt(12.5)  # (9 + 16) / 2
    torch.testing.assert_close(norm(torch.tensor([3.0, 4.0])), expected, rtol=1e-5, atol=0)
    assert [tuple(p.shape) for p in norm.parameters()] == [(2,)], "no bias"


@pytest.mark.parametrize("name", options("encoder/norm"))
def test_every_norm_forgets_the_scale_of_an_element(name: str) -> None:
    norm, x = option("norm", name)(8), 100 * torch.randn(2, 3, 8)
    torch.testing.assert_close(norm(3 * x), norm(x))
    assert norm(torch.zeros(1, 1, 8)).isfinite().all()
    assert norm.eps == 1e-5


def test_rms_norm_is_exact_in_mixed_precision_and_does_not_warn() -> None:
    norm, x = RMSNorm(8, eps=1e-5), torch.randn(2, 8).bfloat16()
    with warnings.catch_warnings(), torch.autocast("cpu", dtype=torch.bfloat16):
        warnings.simplefilter("error")
        given = norm(x)
    assert given.dtype == torch.float32
    torch.testing.assert_close(given, norm(x.float()))
    assert norm.bfloat16()(x).dtype == torch.bfloat16
