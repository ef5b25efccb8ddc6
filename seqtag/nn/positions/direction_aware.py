"""Sines and cosines of the distance, asked by the query: it tells left from right."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.nn.positions.position import Position
from seqtag.nn.positions.sinusoidal import angles


class DirectionAware(Position):
    """The scores of TENER (Yan et al. 2019, equations 16 to 19), with vectors for each layer.

    Beside ``q . k``, which is the scorer's, stands ``q . R + u . k + v . R``, where ``R`` holds the
    sines and cosines of the distance. A sine changes its sign with the direction, so that left and
    right differ. The paper does not divide the scores by ``sqrt(d_k)``: take it with the scorer
    ``dot``, as ``encoder=attention_direction_aware`` does. The paper leaves the projection of keys
    out as well; here it stays, as in every other kind, which costs weights and loses nothing.

    Args:
        dim: not used.
        num_heads: number of attention heads.
        head_dim: width of a query and of a key in each head.
        num_layers: number of attention layers.
    """

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.layers = nn.ModuleList(
            DirectionAwareLayer(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=1)
            for _ in range(num_layers)
        )

    def layer(self, index: int) -> Position:
        """The vectors of layer ``index``; see ``Position.layer``."""
        layer = self.layers[index]
        assert isinstance(layer, DirectionAwareLayer)
        return layer


class DirectionAwareLayer(Position):
    """The vectors ``u`` and ``v`` of one layer, and its scores.

    Args:
        dim: not used.
        num_heads: number of attention heads.
        head_dim: width of a query and of a key in each head.
        num_layers: not used.
    """

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.content = nn.Parameter(torch.empty(num_heads, head_dim))  # u
        self.direction = nn.Parameter(torch.empty(num_heads, head_dim))  # v
        for vectors in (self.content, self.direction):
            nn.init.xavier_uniform_(vectors)

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """``(q + v) . R + u . k``, ``[batch, heads, query, key]``; see ``Position.bias``.

        ``R`` holds ``sin(w d)`` and ``cos(w d)`` in turn, ``d`` being key minus query position (the
        paper has the opposite sign; that of the learnt weights settles it). By the addition
        formulas a sine or cosine of a difference is a sum of products, one factor of the query's
        place and one of the key's, so the whole is one matrix product and no ``R`` of every pair
        is ever made.
        """
        asked = query + self.direction.unsqueeze(1)
        width = asked.shape[-1]
        # An odd width lacks the last cosine.
        asked = functional.pad(asked, (0, width % 2))
        # [batch, heads, query, head_dim] -> two of [batch, heads, query, pair]
        sine, cosine = asked[..., ::2], asked[..., 1::2]
        # [batch, n, pair] -> [batch, 1, n, pair]; angles are in single precision
        at_query = angles(query_positions, width).unsqueeze(1)
        at_key = angles(key_positions, width).unsqueeze(1)
        # sin(k - q) = sin k cos q - cos k sin q;  cos(k - q) = cos k cos q + sin k sin q
        of_sine = sine * at_query.cos() + cosine * at_query.sin()
        of_cosine = cosine * at_query.cos() - sine * at_query.sin()
        by_query = torch.cat((of_sine, of_cosine), dim=-1).to(query.dtype)
        by_key = torch.cat((at_key.sin(), at_key.cos()), dim=-1).to(query.dtype)
        content = (key * self.content.unsqueeze(1)).sum(dim=-1).unsqueeze(-2)
        return by_query @ by_key.transpose(-2, -1) + content
