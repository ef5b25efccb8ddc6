"""Attention modules and inputs that several tests share."""

import torch
from torch import Tensor

from seqtag.nn.attention import Attention
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer

VALID = torch.arange(4) < torch.tensor([4, 2, 0, 1]).unsqueeze(1)
"""Of four rows of four keys; row 2 has none."""


class Slope(Position):
    """Learnt, one number per head: the score falls with the distance."""

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.slope = torch.nn.Parameter(torch.linspace(0.1, 0.5, num_heads))

    def bias(self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor):
        distance = (query_positions[:, None, :, None] - key_positions[:, None, None, :]).abs()
        return -self.slope[:, None, None] * distance


class OneMore(Position):
    """Adds the sum of the weights, which is 1, to every value."""

    offsets_values = True

    def value_offset(self, weights: Tensor, query_positions: Tensor, key_positions: Tensor):
        return weights.sum(dim=-1, keepdim=True)


def build(
    *,
    num_heads: int = 8,
    num_kv_heads: int = 8,
    key_dim: int = 128,
    value_dim: int = 64,
    value_head_dim: int = 16,
    position: type[Position] = Position,
    scaled: bool = True,
    dropout: float = 0.0,
) -> Attention:
    torch.manual_seed(0)
    attention = Attention(
        query_dim=128,
        key_dim=key_dim,
        value_dim=value_dim,
        output_dim=8,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=16,
        value_head_dim=value_head_dim,
        scorer=DotProductScorer(head_dim=16, num_heads=num_heads, scaled=scaled),
        position=position(dim=128, num_heads=num_heads, head_dim=16, num_layers=1),
        dropout=dropout,
        bias=True,
    ).double()
    for linear in (attention.query, attention.key, attention.value, attention.output):
        torch.nn.init.normal_(linear.bias, std=0.3)
    return attention


def inputs(batch: int = 10, query: int = 2, key: int = 4, key_dim: int = 128, value_dim: int = 64):
    torch.manual_seed(1)
    return (
        torch.randn(batch, query, 128).double(),
        torch.randn(batch, key, key_dim).double(),
        torch.randn(batch, key, value_dim).double(),
    )
