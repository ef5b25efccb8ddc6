"""What holds for every kind of position."""

import pytest
import torch

from seqtag.nn.attention import Attention
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary
from seqtag.nn.positions.sinusoidal import Sinusoidal
from seqtag.nn.scorers import DotProductScorer

KINDS = {"none": Position, "sinusoidal": Sinusoidal, "rotary": Rotary}


def build(kind: type[Position]) -> Position:
    return kind(dim=8, num_heads=2, head_dim=4, num_layers=3)


def attend(kind: type[Position], x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(0)
    position = build(kind)
    attention = Attention(
        query_dim=8,
        key_dim=8,
        value_dim=8,
        output_dim=8,
        num_heads=2,
        num_kv_heads=1,
        head_dim=4,
        value_head_dim=4,
        scorer=DotProductScorer(head_dim=4, num_heads=2, scaled=True),
        position=position.layer(2),
        dropout=0.0,
        bias=True,
    )
    x = position.embed(x, positions)
    return attention(x, x, x, query_positions=positions, key_positions=positions)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@torch.no_grad()
def test_only_none_takes_a_sequence_as_a_set(kind: type[Position]) -> None:
    x, positions = torch.randn(1, 5, 8), torch.arange(5).unsqueeze(0)
    order = torch.tensor([3, 1, 4, 0, 2])
    straight = attend(kind, x, positions)[:, order]
    reordered = attend(kind, x[:, order], positions)
    assert torch.allclose(straight, reordered, atol=1e-6) == (kind is Position)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@torch.no_grad()
def test_positions_belong_to_elements_and_not_to_cells(kind: type[Position]) -> None:
    x, positions = torch.randn(1, 5, 8), torch.arange(5).unsqueeze(0)
    order = torch.tensor([3, 1, 4, 0, 2])
    straight = attend(kind, x, positions)[:, order]
    torch.testing.assert_close(attend(kind, x[:, order], positions[:, order]), straight)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@torch.no_grad()
def test_any_length_and_precision(kind: type[Position], dtype: torch.dtype) -> None:
    position = build(kind).to(dtype)
    far = torch.tensor([[0, 1, 99_998, 99_999]])
    x = torch.randn(2, 4, 8, dtype=dtype)
    embedded = position.embed(x, far)
    assert embedded.dtype == dtype
    assert embedded.shape == x.shape
    assert embedded.isfinite().all()
    query, key = torch.randn(2, 2, 4, 4, dtype=dtype), torch.randn(2, 1, 4, 4, dtype=dtype)
    for turned, given in zip(position.rotate(query, key, far, far), (query, key), strict=True):
        assert turned.dtype == dtype
        assert turned.shape == given.shape
        assert turned.isfinite().all()


def test_none_changes_nothing() -> None:
    position, x, at = build(Position), torch.randn(1, 3, 8), torch.arange(3).unsqueeze(0)
    query, key = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4)
    assert position.embed(x, at) is x
    assert position.rotate(query, key, at, at) == (query, key)
    assert position.bias(query, key, at, at) is None
    assert position.value_offset(torch.randn(1, 2, 3, 3), at, at) is None
    assert position.layer(1) is position
