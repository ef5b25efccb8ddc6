import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.encoders.window import WindowEncoder
from seqtag.nn.encoders.window_full import FullWindowEncoder


def build(limit: int) -> FullWindowEncoder:
    torch.manual_seed(0)
    return FullWindowEncoder(4, dim=6, num_layers=2, limit=limit, dropout=0.0)


@pytest.mark.parametrize("lengths", [[5, 2, 0], [3, 1, 3], [1, 1, 1]])
def test_it_is_a_window_that_reaches_from_end_to_end(lengths: list[int]) -> None:
    full = build(5).double()
    window = WindowEncoder(4, dim=6, num_layers=2, radius=4, dropout=0.0).double()
    window.load_state_dict(full.state_dict())
    layout = Layout.of(torch.tensor(lengths))
    x = torch.randn(3, max(lengths), 4, dtype=torch.float64)
    one, other = full(x, layout), window(x, layout)
    torch.testing.assert_close(one[layout.valid], other[layout.valid])
    for states in (one, other):
        states[layout.valid].square().sum().backward()
    for parameter, same in zip(full.parameters(), window.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, same.grad)


@torch.no_grad()
def test_every_element_sees_every_other() -> None:
    encoder, layout = build(8), Layout.of(torch.tensor([8]))
    x = torch.randn(1, 8, 4)
    for changed in (0, 7):
        other = x.clone()
        other[0, changed] += 1
        assert ((encoder(x, layout) - encoder(other, layout)).abs().sum(dim=-1) > 0).all()


@pytest.mark.parametrize("limit", [1, 10])
def test_its_first_layer_has_a_map_for_each_distance(limit: int) -> None:
    projection, norms = 4 * 6 + 6, 3 * 2 * 6
    first, second = (2 * limit - 1) * 6 * 6 + 6, 6 * 6 + 6
    count = sum(x.numel() for x in build(limit).parameters())
    assert count == projection + norms + first + second


def test_a_longer_sequence_is_refused_with_the_key() -> None:
    encoder = build(3)
    assert encoder.longest == 3
    with pytest.raises(ValueError, match=r"4 elements is longer than the 3 .*encoder\.limit"):
        encoder(torch.zeros(1, 4, 4), Layout.of(torch.tensor([4])))


def test_no_limit_is_none_that_it_can_have() -> None:
    with pytest.raises(ValueError, match=r"encoder\.limit is 0; it must be at least 1"):
        build(0)
