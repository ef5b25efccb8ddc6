import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.encoders.lstm import LSTMEncoder


def build(dim: int = 6, *, bidirectional: bool) -> LSTMEncoder:
    torch.manual_seed(0)
    return LSTMEncoder(6, dim=dim, num_layers=2, bidirectional=bidirectional, dropout=0.0)


@pytest.mark.parametrize("bidirectional", [False, True])
@torch.no_grad()
def test_only_both_ways_sees_the_right(bidirectional: bool) -> None:
    encoder, layout = build(bidirectional=bidirectional), Layout.of(torch.tensor([6]))
    x = torch.randn(1, 6, 6)
    changed = x.clone()
    changed[0, 3] += 1
    moved = (encoder(x, layout) - encoder(changed, layout)).abs().sum(dim=-1)[0] > 0
    assert moved.tolist() == [bidirectional] * 3 + [True] * 3


@torch.no_grad()
def test_rows_need_no_order_and_reading_back_begins_at_the_last_real_element() -> None:
    encoder, x = build(bidirectional=True), torch.randn(3, 4, 6)
    together = encoder(x, Layout.of(torch.tensor([1, 4, 2])))
    for row, length in enumerate([1, 4, 2]):
        # Rows come back in their own places, as plain reading without packing gives them.
        plain, _ = encoder.lstm(x[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], plain[0])


def test_width_out_is_dim_in_both_directions() -> None:
    layout = Layout.of(torch.tensor([2]))
    for bidirectional in (False, True):
        encoder = build(bidirectional=bidirectional)
        assert encoder.output_dim == 6
        assert encoder(torch.randn(1, 2, 6), layout).shape == (1, 2, 6)


def test_an_odd_width_cannot_be_shared_by_two_directions() -> None:
    assert build(7, bidirectional=False).output_dim == 7
    with pytest.raises(ValueError, match="2 directions; 7 is odd"):
        build(7, bidirectional=True)


def test_forget_gates_start_open_by_one() -> None:
    for name, parameter in build(bidirectional=True).lstm.named_parameters():
        if name.startswith("bias_ih"):
            assert parameter[3:6].tolist() == [1, 1, 1]
        elif name.startswith("bias_hh"):
            assert parameter[3:6].tolist() == [0, 0, 0]


def test_one_layer_with_dropout_gives_no_warning(recwarn) -> None:
    LSTMEncoder(4, dim=4, num_layers=1, bidirectional=False, dropout=0.5)
    assert not recwarn.list
