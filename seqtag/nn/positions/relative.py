"""Learnt vectors of the distance, beside keys and beside values."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqtag.nn.positions.distance import checked_max_distance, clipped_index, distances
from seqtag.nn.positions.position import Position


class Relative(Position):
    """Relative position representations (Shaw et al. 2018), vectors of its own for each layer.

    Args:
        dim: not used.
        num_heads: not used; heads share the vectors, as in the paper.
        head_dim: width of a query, a key and a value in each head.
        num_layers: number of attention layers.
        max_distance: what is further away has the vector of this distance; ``k`` in the paper.

    Raises:
        ValueError: ``max_distance`` is less than 1.
    """

    def __init__(
        self, *, dim: int, num_heads: int, head_dim: int, num_layers: int, max_distance: int
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.layers = nn.ModuleList(
            RelativeLayer(
                dim=dim,
                num_heads=num_heads,
                head_dim=head_dim,
                num_layers=1,
                max_distance=max_distance,
            )
            for _ in range(num_layers)
        )

    def layer(self, index: int) -> Position:
        """The vectors of layer ``index``; see ``Position.layer``."""
        layer = self.layers[index]
        assert isinstance(layer, RelativeLayer)
        return layer


class RelativeLayer(Position):
    """The vectors of one layer: ``a^K`` and ``a^V`` of Shaw et al. 2018, equations 3 and 4.

    Args:
        dim: not used.
        num_heads: not used.
        head_dim: width of a query, a key and a value in each head.
        num_layers: not used.
        max_distance: what is further away has the vector of this distance.

    Raises:
        ValueError: ``max_distance`` is less than 1.
    """

    offsets_values = True

    def __init__(
        self, *, dim: int, num_heads: int, head_dim: int, num_layers: int, max_distance: int
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        self.max_distance = checked_max_distance(max_distance)
        self.keys = nn.Parameter(torch.empty(2 * max_distance + 1, head_dim))
        self.values = nn.Parameter(torch.empty(2 * max_distance + 1, head_dim))
        for table in (self.keys, self.values):
            nn.init.xavier_uniform_(table)

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """``q . a^K / sqrt(head_dim)`` (section 3.3, equation 5), whatever the scorer does.

        Returns:
            ``[batch, heads, query, key]``.
        """
        index = self._index(query_positions, key_positions)
        by_distance: Tensor = (query * query.shape[-1] ** -0.5) @ self.keys.T
        # [batch, heads, query, distance] -> [batch, heads, query, key]
        return by_distance.gather(-1, index.expand(*query.shape[:3], key.shape[2]))

    def value_offset(
        self, weights: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """The mean of ``a^V`` by the weights ``[batch, heads, query, head_dim]`` (equation 3).

        Weights of one distance are summed before they meet its vector, so that nothing is ever as
        large as query times key times head_dim.
        """
        index = self._index(query_positions, key_positions)
        # Many small weights meet at the ends, where half precision would lose them.
        exact = torch.promote_types(weights.dtype, torch.float32)
        sums = weights.new_zeros(*weights.shape[:3], len(self.values), dtype=exact)
        # [batch, heads, query, key] -> [batch, heads, query, distance]
        sums = sums.scatter_add(-1, index.expand_as(weights), weights.to(exact))
        offset: Tensor = sums.to(self.values.dtype) @ self.values
        return offset.to(weights.dtype)

    def _index(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Rows of the tables ``[batch, 1, query, key]``."""
        distance = distances(query_positions, key_positions)
        return clipped_index(distance, self.max_distance).unsqueeze(1)
