"""The options of the attention decoder's layers, beside what every decoder promises."""

from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import END, Layout
from seqtag.nn.blocks import RMSNorm, SwiGLU
from seqtag.nn.decoders.attention import AttentionDecoder
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary
from seqtag.nn.positions.sinusoidal import Sinusoidal
from seqtag.nn.scorers import DotProductScorer

CLASSES, MEMORY_DIM, DIM = 7, 6, 8
LENGTHS = torch.tensor([5, 2, 1, 0])
SYMBOLS = torch.tensor([[END, 3, 1, 6], [END, 2, 2, 2], [END, 5, 4, 3], [END, 1, 2, 3]])


def build(**changes) -> AttentionDecoder:
    """Small, in float64, its biases not zero and its norms not one."""
    torch.manual_seed(0)
    settings = {
        "dim": DIM,
        "num_layers": 2,
        "num_heads": 2,
        "num_kv_heads": 2,
        "head_dim": None,
        "feedforward_dim": 12,
        "pre_norm": True,
        "dropout": 0.0,
        "feedforward_dropout": 0.0,
        "attention_dropout": 0.0,
        "input_dropout": 0.0,
        "position": Rotary,
        "cross_position": Position,
        "scorer": partial(DotProductScorer, scaled=True),
        "norm": partial(nn.LayerNorm, eps=1e-5),
        "activation": nn.GELU,
    }
    decoder = AttentionDecoder(MEMORY_DIM, classes=CLASSES, **(settings | changes))
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return decoder.double()


def memory(lengths: Tensor = LENGTHS) -> tuple[Tensor, Layout]:
    torch.manual_seed(1)
    layout = Layout.of(lengths)
    return torch.randn(*layout.valid.shape, MEMORY_DIM).double(), layout


def stepped(decoder: AttentionDecoder) -> Tensor:
    state, logits = decoder.start(*memory()), []
    for place in range(SYMBOLS.shape[1]):
        scores, state = decoder.step(SYMBOLS[:, place], state)
        logits.append(scores)
    return torch.stack(logits, dim=1)


RMS = partial(RMSNorm, eps=1e-5)


@pytest.mark.parametrize("pre_norm", [True, False])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": RMS},
        {"activation": SwiGLU},
        {"norm": RMS, "activation": SwiGLU, "num_kv_heads": 1, "position": Sinusoidal},
        {"feedforward_dim": 0, "head_dim": 6, "cross_position": Rotary},
    ],
    ids=["plain", "rms", "swiglu", "rms swiglu sinusoidal", "attention alone"],
)
@torch.no_grad()
def test_steps_with_a_cache_give_what_the_whole_sequence_gives(changes, pre_norm: bool) -> None:
    decoder = build(pre_norm=pre_norm, **changes)
    torch.testing.assert_close(stepped(decoder), decoder(SYMBOLS, *memory()))


@pytest.mark.parametrize("pre_norm", [True, False])
@torch.no_grad()
def test_norms_before_or_behind_each_sublayer_equal_the_formula(pre_norm: bool) -> None:
    decoder = build(pre_norm=pre_norm, position=Position)
    states, layout = memory(torch.tensor([5, 5, 5, 5]))
    inputs = torch.cat((states, decoder.end.expand(4, 1, -1)), dim=1)

    def norm(x: Tensor, module: nn.LayerNorm) -> Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        scale = (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        return centred / scale * module.weight + module.bias

    expected = decoder.embedding(SYMBOLS) * DIM**0.5
    for layer in decoder.layers:

        def to_symbols(x: Tensor, layer=layer) -> Tensor:
            return layer.self_attention(x, x, x, causal=True)

        def to_inputs(x: Tensor, layer=layer) -> Tensor:
            return layer.cross_attention(x, inputs, inputs)

        def connected(x: Tensor, connect=layer.feedforward) -> Tensor:
            return connect.narrow(functional.gelu(connect.widen(x)))

        for sublayer, of in (
            (to_symbols, layer.self_residual.norm),
            (to_inputs, layer.cross_residual.norm),
            (connected, layer.feedforward.residual.norm),
        ):
            if pre_norm:
                expected = expected + sublayer(norm(expected, of))
            else:
                expected = norm(expected + sublayer(expected), of)
    if pre_norm:
        expected = norm(expected, decoder.norm)
    else:
        assert not list(decoder.norm.parameters()), "nothing stands behind the last layer"
    torch.testing.assert_close(decoder(SYMBOLS, states, layout), decoder.output(expected))


@pytest.mark.parametrize(
    ("place", "zeroed"),
    [
        ("dropout", ("n.output.weight", "n.output.bias", "narrow.weight", "narrow.bias")),
        ("feedforward_dropout", ("narrow.weight",)),
        ("attention_dropout", ("n.output.weight",)),
        ("input_dropout", ("embedding.weight",)),
    ],
)
@torch.no_grad()
def test_each_dropout_acts_in_its_place_alone(place: str, zeroed: tuple[str, ...]) -> None:
    decoder = build(**{place: 1.0})
    in_training = decoder(SYMBOLS, *memory())
    evaluated = decoder.eval()(SYMBOLS, *memory())
    torch.testing.assert_close(evaluated, build()(SYMBOLS, *memory()))
    assert not torch.allclose(evaluated, in_training)
    for name, parameter in decoder.named_parameters():
        if name.endswith(zeroed):
            parameter.zero_()
    torch.testing.assert_close(decoder(SYMBOLS, *memory()), in_training)


def test_norm_and_activation_are_used_in_every_place() -> None:
    kinds = [type(module) for module in build(norm=RMS, activation=SwiGLU).modules()]
    assert kinds.count(RMSNorm) == 2 * 3 + 1
    assert kinds.count(SwiGLU) == 2
    assert nn.LayerNorm not in kinds
    assert nn.GELU not in kinds


def test_the_longest_output_is_that_of_the_position() -> None:
    class Short(Position):
        longest = 12

    assert build(position=Short).longest == 12
    assert build().longest is None


def test_without_a_layer_the_input_would_not_be_read() -> None:
    with pytest.raises(ValueError, match=r"decoder\.num_layers is 0"):
        build(num_layers=0)
