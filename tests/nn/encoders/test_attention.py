from functools import partial

import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.attention import record_weights
from seqtag.nn.encoders.attention import AttentionEncoder
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary
from seqtag.nn.positions.sinusoidal import Sinusoidal
from seqtag.nn.scorers import DotProductScorer


def build(**changes) -> AttentionEncoder:
    torch.manual_seed(0)
    settings = {
        "dim": 8,
        "num_layers": 2,
        "num_heads": 2,
        "num_kv_heads": 2,
        "head_dim": None,
        "feedforward_dim": 12,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "position": Position,
        "scorer": partial(DotProductScorer, scaled=True),
    }
    return AttentionEncoder(8, **(settings | changes))


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
