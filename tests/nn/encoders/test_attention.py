from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.attention import record_weights
from seqtag.nn.blocks import RMSNorm, SwiGLU
from seqtag.nn.encoders.attention import AttentionEncoder
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary
from seqtag.nn.positions.sinusoidal import Sinusoidal

from .attentions import build, shaken


@pytest.mark.parametrize("position", [Position, Sinusoidal, Rotary])
@torch.no_grad()
def test_reordering_shows_only_where_positions_are_known(position) -> None:
    encoder, x, layout = (
        build(position=position),
        torch.randn(1, 5, 8),
        Layout.of(torch.tensor([5])),
    )
    order = torch.tensor([3, 1, 4, 0, 2])
    reordered = encoder(x[:, order], layout)
    assert torch.allclose(reordered, encoder(x, layout)[:, order], atol=1e-5) == (
        position is Position
    )


@torch.no_grad()
def test_every_element_sees_every_other() -> None:
    encoder, layout = build(num_layers=1), Layout.of(torch.tensor([40]))
    x = torch.randn(1, 40, 8)
    changed = x.clone()
    changed[0, 39] *= -1
    assert ((encoder(x, layout) - encoder(changed, layout)).abs().sum(dim=-1) > 0).all()


@torch.no_grad()
def test_weights_of_every_layer_are_recorded_under_its_name() -> None:
    encoder, layout = build(num_kv_heads=1), Layout.of(torch.tensor([3, 1]))
    with record_weights(encoder) as weights:
        encoder(torch.randn(2, 3, 8), layout)
    assert list(weights) == ["layers.0.attention", "layers.1.attention"]
    for (recorded,) in weights.values():
        assert recorded.shape == (2, 2, 3, 3)
        assert recorded[1, :, :, 0].equal(torch.ones(2, 3)), "only one key is real"


def test_layers_share_no_weights_and_each_asks_for_its_own_position() -> None:
    asked = []

    class PerLayer(Position):
        def layer(self, index: int) -> Position:
            asked.append(index)
            return self

    encoder = build(position=PerLayer, num_layers=3)
    assert asked == [0, 1, 2]
    first, second, third = encoder.layers
    assert len({id(x) for layer in (first, second, third) for x in layer.parameters()}) == 3 * len(
        list(first.parameters())
    )
    assert first.attention.scorer is not second.attention.scorer


def test_attention_alone_has_no_fully_connected_sublayer() -> None:
    encoder = build(feedforward_dim=0, num_layers=1)
    # Four projections of 8 x 8 with a bias, and two norms.
    assert sum(x.numel() for x in encoder.parameters()) == 4 * (64 + 8) + 2 * 16


def test_head_width_is_free_where_given() -> None:
    encoder = build(head_dim=5, num_layers=1, feedforward_dim=0)
    assert encoder.layers[0].attention.query.weight.shape == (10, 8)


def test_head_width_must_come_out_even_where_not_given() -> None:
    with pytest.raises(ValueError, match=r"dim \(8\) must be a multiple of num_heads \(3\)"):
        build(num_heads=3, num_kv_heads=3)


@pytest.mark.parametrize("pre_norm", [True, False])
@torch.no_grad()
def test_norms_before_or_behind_each_sublayer_equal_the_formula(pre_norm: bool) -> None:
    encoder, x = shaken(build(pre_norm=pre_norm)), torch.randn(1, 4, 8).double()

    def norm(x: Tensor, module: nn.LayerNorm) -> Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        scale = (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        return centred / scale * module.weight + module.bias

    expected = x
    for layer in encoder.layers:
        connect = layer.feedforward

        def attend(x: Tensor, layer=layer) -> Tensor:
            return layer.attention(x, x, x)

        def connected(x: Tensor, connect=connect) -> Tensor:
            return connect.narrow(functional.gelu(connect.widen(x)))

        for sublayer, of in ((attend, layer.residual.norm), (connected, connect.residual.norm)):
            if pre_norm:
                expected = expected + sublayer(norm(expected, of))
            else:
                expected = norm(expected + sublayer(expected), of)
    if pre_norm:
        expected = norm(expected, encoder.norm)
    else:
        assert not list(encoder.norm.parameters()), "nothing stands behind the last layer"
    torch.testing.assert_close(encoder(x, Layout.of(torch.tensor([4]))), expected)


@pytest.mark.parametrize("pre_norm", [True, False])
def test_norm_and_activation_are_used_in_every_place(pre_norm: bool) -> None:
    encoder = build(norm=partial(RMSNorm, eps=1e-5), activation=SwiGLU, pre_norm=pre_norm)
    kinds = [type(module) for module in encoder.modules()]
    assert kinds.count(RMSNorm) == 2 * 2 + pre_norm
    assert kinds.count(SwiGLU) == 2
    assert nn.LayerNorm not in kinds
    assert nn.GELU not in kinds


def without(encoder: AttentionEncoder, *ends: str) -> AttentionEncoder:
    """The same with the parameters of these endings zero, not in training."""
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if name.endswith(ends):
                parameter.zero_()
    return encoder.eval()


FOUR = Layout.of(torch.tensor([4]))


@pytest.mark.parametrize(
    ("place", "zeroed"),
    [
        (
            "dropout",
            ("attention.output.weight", "attention.output.bias", "narrow.weight", "narrow.bias"),
        ),
        ("feedforward_dropout", ("narrow.weight",)),
        ("attention_dropout", ("output.weight",)),
    ],
)
@torch.no_grad()
def test_each_dropout_acts_in_its_place_alone(place: str, zeroed: tuple[str, ...]) -> None:
    encoder, x, layout = shaken(build(**{place: 1.0})), torch.randn(1, 4, 8).double(), FOUR
    in_training = encoder(x, layout)
    torch.testing.assert_close(encoder.eval()(x, layout), shaken(build())(x, layout))
    assert not torch.allclose(encoder(x, layout), in_training)
    torch.testing.assert_close(without(encoder, *zeroed)(x, layout), in_training)


@torch.no_grad()
def test_input_dropout_takes_elements_with_their_positions() -> None:
    x, layout = torch.randn(1, 4, 8).double(), FOUR
    encoder = shaken(build(input_dropout=1.0, position=Sinusoidal))
    in_training = encoder(x, layout)
    torch.testing.assert_close(in_training, shaken(build())(torch.zeros_like(x), layout))
    assert not torch.allclose(encoder.eval()(x, layout), in_training)


def test_a_negative_width_is_refused() -> None:
    with pytest.raises(ValueError, match="feedforward_dim is -2; it must be at least 0"):
        build(feedforward_dim=-2)


def test_a_negative_number_of_layers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"encoder\.num_layers is -1; it must be at least 0"):
        build(num_layers=-1)


def test_the_longest_sequence_is_that_of_the_position() -> None:
    class Short(Position):
        longest = 12

    assert build(position=Short).longest == 12
    assert build().longest is None
