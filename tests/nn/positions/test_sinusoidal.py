import math

import pytest
import torch

from seqtag.nn.positions.sinusoidal import Sinusoidal


def encoding(dim: int, *positions: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    position = Sinusoidal(dim=dim, num_heads=1, head_dim=dim, num_layers=1)
    x = torch.zeros(1, len(positions), dim, dtype=dtype)
    return position.embed(x, torch.tensor([positions]))[0]


def test_follows_the_paper() -> None:
    expected = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in (0, 1, 7)]
    torch.testing.assert_close(encoding(4, 0, 1, 7), torch.tensor(expected))


def test_an_odd_width_lacks_the_last_cosine() -> None:
    small = 3 / 10_000 ** (2 / 3)
    expected = torch.tensor([[math.sin(3), math.cos(3), math.sin(small)]])
    torch.testing.assert_close(encoding(3, 3), expected)


def test_is_added_to_the_elements() -> None:
    position = Sinusoidal(dim=2, num_heads=1, head_dim=2, num_layers=1)
    embedded = position.embed(torch.tensor([[[10.0, 20.0]]]), torch.tensor([[0]]))
    assert embedded.tolist() == [[[10.0, 21.0]]]


@pytest.mark.parametrize("position", [257, 4_097])
def test_neighbours_differ_far_out_in_half_precision(position: int) -> None:
    half = encoding(4, position, position + 1, dtype=torch.bfloat16)
    torch.testing.assert_close(half.float(), encoding(4, position, position + 1), atol=0.01, rtol=0)
