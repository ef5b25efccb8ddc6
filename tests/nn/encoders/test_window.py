import pytest
import torch

from seqtag.batch import Layout
from seqtag.nn.encoders.window import WindowEncoder


def build(radius: int) -> WindowEncoder:
    torch.manual_seed(0)
    return WindowEncoder(4, dim=6, num_layers=3, radius=radius, dropout=0.0)


@pytest.mark.parametrize("radius", [0, 1, 3])
@pytest.mark.parametrize("changed", [0, 4, 8])
@torch.no_grad()
def test_an_element_sees_its_radius_exactly(radius: int, changed: int) -> None:
    encoder, layout = build(radius), Layout.of(torch.tensor([9]))
    x = torch.randn(1, 9, 4)
    other = x.clone()
    other[0, changed] += 1
    moved = (encoder(x, layout) - encoder(other, layout)).abs().sum(dim=-1)[0] > 0
    assert moved.tolist() == [abs(element - changed) <= radius for element in range(9)]


@torch.no_grad()
def test_neighbours_keep_their_side() -> None:
    encoder, layout = build(1), Layout.of(torch.tensor([3]))
    x = torch.randn(1, 3, 4)
    mirrored = encoder(x.flip(1), layout)
    assert not torch.allclose(mirrored[0, 1], encoder(x, layout)[0, 1], atol=1e-3)


def test_only_the_first_layer_is_wide() -> None:
    widths = [layer.connect.in_features for layer in build(2).layers]
    assert widths == [5 * 6, 6, 6]


def test_a_negative_radius_is_refused() -> None:
    with pytest.raises(ValueError, match=r"encoder\.radius is -1; it must be at least 0"):
        build(-1)
