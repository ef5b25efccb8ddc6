"""Layers that share their weights, and elements that see only their neighbours."""

import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.attention import record_weights
from seqtag.nn.encoders.attention import neighbours
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary

from .attentions import build, shaken

FOUR = Layout.of(torch.tensor([4]))


@pytest.mark.parametrize("pre_norm", [True, False])
def test_tied_layers_are_one_layer_run_several_times(pre_norm: bool) -> None:
    asked, layers = [], []

    class PerLayer(Rotary):
        def __init__(self, *, num_layers: int, **sizes) -> None:
            super().__init__(num_layers=num_layers, **sizes)
            layers.append(num_layers)

        def layer(self, index: int) -> Position:
            asked.append(index)
            return self

    tied = shaken(build(tied=True, num_layers=3, pre_norm=pre_norm, position=PerLayer))
    assert (asked, layers) == ([0], [1]), "no parameters for layers that there are not"
    one = build(num_layers=1, pre_norm=pre_norm)
    assert sum(p.numel() for p in tied.parameters()) == sum(p.numel() for p in one.parameters())

    untied = build(num_layers=3, pre_norm=pre_norm, position=Rotary).double()
    for layer in untied.layers:
        layer.load_state_dict(tied.layers[0].state_dict())
    untied.norm.load_state_dict(tied.norm.state_dict())
    x, layout = torch.randn(2, 4, 8).double(), Layout.of(torch.tensor([4, 2]))
    torch.testing.assert_close(tied(x, layout), untied(x, layout))

    with record_weights(tied) as of_tied, record_weights(untied) as of_untied:
        tied(x, layout), untied(x, layout)
    assert list(of_tied) == ["layers.0.attention"]
    each = [weights for (weights,) in of_untied.values()]
    torch.testing.assert_close(of_tied["layers.0.attention"], each)


@pytest.mark.parametrize("tied", [False, True])
def test_no_layer_at_all_leaves_the_elements(tied: bool) -> None:
    encoder, x = build(num_layers=0, tied=tied, pre_norm=False), torch.randn(1, 4, 8)
    assert encoder(x, FOUR).equal(x)
    assert not list(encoder.parameters())


@pytest.mark.parametrize("radius", [0, 1, 2, 7])
@torch.no_grad()
def test_a_radius_is_full_attention_with_distant_elements_masked(radius: int) -> None:
    local, full = (shaken(build(num_layers=1, position=Rotary, radius=r)) for r in (radius, None))
    x, lengths = torch.randn(2, 6, 8).double(), [6, 3]
    layout = Layout.of(torch.tensor(lengths))
    with record_weights(full) as weights, record_weights(local) as of_local:
        full(x, layout)
        recorded = local(x, layout)
    (everywhere,), (near,) = *weights.values(), *of_local.values()
    for row, length in enumerate(lengths):
        for i in range(length):
            for j in range(6):
                allowed = [k for k in range(length) if abs(k - i) <= radius]
                share = everywhere[row, :, i, allowed].sum(dim=-1)
                expected = everywhere[row, :, i, j] / share if j in allowed else torch.zeros(2)
                torch.testing.assert_close(near[row, :, i, j], expected.double())
    torch.testing.assert_close(local(x, layout)[layout.valid], recorded[layout.valid])
    if radius >= 6:
        torch.testing.assert_close(local(x, layout), full(x, layout))


@pytest.mark.parametrize("radius", [0, 1, 2])
@pytest.mark.parametrize("tied", [False, True])
def test_a_radius_reaches_once_further_with_every_layer(radius: int, tied: bool) -> None:
    encoder = shaken(build(num_layers=3, radius=radius, tied=tied, pre_norm=False))
    x = torch.randn(1, 15, 8).double().requires_grad_()
    encoder(x, Layout.of(torch.tensor([15])))[0, 7].square().sum().backward()
    reached = x.grad[0].abs().sum(dim=-1) > 0
    assert reached.tolist() == [abs(j - 7) <= 3 * radius for j in range(15)]


@pytest.mark.parametrize("radius", [0, 2])
@torch.no_grad()
def test_a_row_within_a_radius_is_the_same_alone_and_beside_padding(radius: int) -> None:
    encoder, lengths = shaken(build(radius=radius)), [6, 1, 0, 3]
    layout, x = Layout.of(torch.tensor(lengths)), torch.randn(4, 6, 8).double()
    x[~layout.valid] = torch.nan
    together = encoder(x, layout)
    assert together.isfinite().all()
    for row, length in enumerate(lengths):
        alone = encoder(x[row : row + 1, :length], Layout.of(torch.tensor([length])))
        torch.testing.assert_close(alone[0], together[row, :length])


def test_a_negative_radius_is_refused() -> None:
    with pytest.raises(ValueError, match=r"encoder\.radius is -1; it must be 0 or more"):
        build(radius=-1)


def test_rows_that_share_their_positions_share_what_is_near() -> None:
    shared = neighbours(Layout.of(torch.tensor([4, 2, 4])).positions, 1)
    near = [[abs(i - j) <= 1 for j in range(4)] for i in range(4)]
    assert shared.tolist() == [[near]]
    apart = neighbours(torch.tensor([[0, 1], [0, 5]]), 1)
    assert apart.tolist() == [[[[True, True]] * 2], [[[True, False], [False, True]]]]
