"""Attention modules and inputs that several tests share."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from seqtag.configuration import build as build_node
from seqtag.configuration import compose_node, options
from seqtag.nn.attention import Attention
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer, Scorer

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


POSITIONS = options("encoder/position")
SCORERS = options("encoder/scorer")
PAIRS = [(scorer, position) for scorer in SCORERS for position in POSITIONS]
"""Every scorer with every position; a new one is tested by being there."""

DIM, HEADS, HEAD_DIM = 8, 4, 4


@lru_cache
def shipped(group: str, option: str) -> Callable[..., Any]:
    """What a yaml builds."""
    made: partial[Any] = build_node(compose_node(group, option), kinds=(nn.Module,), name=group)
    return made


def shipped_position(option: str, num_layers: int = 1) -> Position:
    sizes = {"dim": DIM, "num_heads": HEADS, "head_dim": HEAD_DIM, "num_layers": num_layers}
    position: Position = shipped("encoder/position", option)(**sizes)
    return stirred(position)


def shipped_scorer(option: str) -> Scorer:
    scorer: Scorer = shipped("encoder/scorer", option)(head_dim=HEAD_DIM, num_heads=HEADS)
    return stirred(scorer)


def stirred(module: Any) -> Any:
    """With all parameters moved, since zeros and ones of the start would hide what they do."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return module


def small(*, scorer: Scorer, position: Position, num_kv_heads: int = 2) -> Attention:
    """Self-attention over elements of width ``DIM``, in single precision."""
    attention = Attention(
        query_dim=DIM,
        key_dim=DIM,
        value_dim=DIM,
        output_dim=DIM,
        num_heads=HEADS,
        num_kv_heads=num_kv_heads,
        head_dim=HEAD_DIM,
        value_head_dim=HEAD_DIM,
        scorer=scorer,
        position=position,
        dropout=0.0,
        bias=True,
    )
    for linear in (attention.query, attention.key, attention.value, attention.output):
        torch.nn.init.normal_(linear.bias, std=0.3)
    return attention


def small_pair(scorer: str, position: str) -> Attention:
    """That of two options; the position is that of a layer, and embeds nothing by itself."""
    torch.manual_seed(0)
    return small(scorer=shipped_scorer(scorer), position=shipped_position(position, 2).layer(1))
