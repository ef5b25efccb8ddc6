"""What the recurrent networks compute, one and all."""

import pytest
import torch
from torch import Tensor

from seqtag.batch import Layout
from seqtag.nn.encoders.gru import GRUEncoder
from seqtag.nn.encoders.lstm import LSTMEncoder
from seqtag.nn.encoders.recurrent import RecurrentEncoder
from seqtag.nn.encoders.rnn import RNNEncoder

GATES = {RNNEncoder: 1, GRUEncoder: 3, LSTMEncoder: 4}
every_kind = pytest.mark.parametrize("kind", GATES)


def build(
    kind: type[RecurrentEncoder], dim: int = 6, *, bidirectional: bool, num_layers: int = 2
) -> RecurrentEncoder:
    torch.manual_seed(0)
    return kind(6, dim=dim, num_layers=num_layers, bidirectional=bidirectional, dropout=0.0)


def rnn_step(x: Tensor, hidden: Tensor, cell: Tensor, w: Tensor, u: Tensor) -> tuple:
    """``x`` and ``hidden`` begin with the 1 that a bias is multiplied with, here as below."""
    return torch.tanh(w @ x + u @ hidden), cell


def gru_step(x: Tensor, hidden: Tensor, cell: Tensor, w: Tensor, u: Tensor) -> tuple:
    (wr, wz, wn), (ur, uz, un) = w.chunk(3), u.chunk(3)
    reset, update = (wr @ x + ur @ hidden).sigmoid(), (wz @ x + uz @ hidden).sigmoid()
    new = torch.tanh(wn @ x + reset * (un @ hidden))
    return (1 - update) * new + update * hidden[1:], cell


def lstm_step(x: Tensor, hidden: Tensor, cell: Tensor, w: Tensor, u: Tensor) -> tuple:
    put, forget, new, out = (w @ x + u @ hidden).chunk(4)
    cell = forget.sigmoid() * cell + put.sigmoid() * new.tanh()
    return out.sigmoid() * cell.tanh(), cell


STEPS = {RNNEncoder: rnn_step, GRUEncoder: gru_step, LSTMEncoder: lstm_step}


@every_kind
@torch.no_grad()
def test_the_states_are_those_of_the_equations(kind) -> None:
    encoder = build(kind, 5, bidirectional=False, num_layers=1).double()
    x = torch.randn(1, 4, 6, dtype=torch.float64)
    states = encoder(x, Layout.of(torch.tensor([4])))
    weights = dict(encoder.network.named_parameters())
    w, u = (
        torch.cat([weights[f"bias_{name}_l0"].unsqueeze(1), weights[f"weight_{name}_l0"]], dim=1)
        for name in ("ih", "hh")
    )
    one = torch.ones(1, dtype=torch.float64)
    hidden = cell = torch.zeros(5, dtype=torch.float64)
    for place, element in enumerate(encoder.project(x)[0]):
        hidden, cell = STEPS[kind](torch.cat([one, element]), torch.cat([one, hidden]), cell, w, u)
        torch.testing.assert_close(states[0, place], hidden)


@every_kind
@pytest.mark.parametrize("bidirectional", [False, True])
@torch.no_grad()
def test_only_both_ways_sees_the_right(kind, bidirectional: bool) -> None:
    encoder, layout = build(kind, bidirectional=bidirectional), Layout.of(torch.tensor([6]))
    x = torch.randn(1, 6, 6)
    changed = x.clone()
    changed[0, 3] += 1
    moved = (encoder(x, layout) - encoder(changed, layout)).abs().sum(dim=-1)[0] > 0
    assert moved.tolist() == [bidirectional] * 3 + [True] * 3


@every_kind
@torch.no_grad()
def test_rows_need_no_order_and_reading_back_begins_at_the_last_real_element(kind) -> None:
    encoder, x = build(kind, bidirectional=True), torch.randn(3, 4, 6)
    together = encoder(x, Layout.of(torch.tensor([1, 4, 2])))
    for row, length in enumerate([1, 4, 2]):
        # Rows come back in their own places, as plain reading without packing gives them.
        plain, _ = encoder.network(x[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], plain[0])


@every_kind
@pytest.mark.parametrize("bidirectional", [False, True])
def test_width_out_is_dim_in_both_directions(kind, bidirectional: bool) -> None:
    encoder = build(kind, bidirectional=bidirectional)
    assert encoder.output_dim == 6
    assert encoder(torch.randn(1, 2, 6), Layout.of(torch.tensor([2]))).shape == (1, 2, 6)


@every_kind
@pytest.mark.parametrize(("bidirectional", "hidden", "ways"), [(False, 6, 1), (True, 3, 2)])
def test_each_gate_has_two_matrices_and_two_biases(kind, bidirectional, hidden, ways) -> None:
    encoder = build(kind, bidirectional=bidirectional, num_layers=1)
    gate = hidden * 6 + hidden * hidden + 2 * hidden
    assert sum(x.numel() for x in encoder.parameters()) == ways * GATES[kind] * gate


@every_kind
def test_an_odd_width_cannot_be_shared_by_two_directions(kind) -> None:
    assert build(kind, 7, bidirectional=False).output_dim == 7
    with pytest.raises(ValueError, match=r"encoder\.dim is 7; it must be even"):
        build(kind, 7, bidirectional=True)


@every_kind
def test_no_layer_is_refused(kind) -> None:
    with pytest.raises(ValueError, match=r"encoder\.num_layers is 0; it must be at least 1"):
        build(kind, bidirectional=False, num_layers=0)


@every_kind
def test_one_layer_with_dropout_gives_no_warning(kind, recwarn) -> None:
    kind(4, dim=4, num_layers=1, bidirectional=False, dropout=0.5)
    assert not recwarn.list
