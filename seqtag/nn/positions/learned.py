"""A learnt vector for each position, added to the elements."""

from __future__ import annotations

import math

from torch import Tensor, nn

from seqtag.nn.positions.position import Position
from seqtag.nn.positions.reach import reach


class Learned(Position):
    """Adds a vector from a table (Gehring et al. 2017, section 3.1; Devlin et al. 2019).

    As with the symbols (``SymbolEmbedding``), the weights start small and are multiplied by
    ``sqrt(dim)``, so that positions start as large as elements and move as fast in training.

    Args:
        dim: width of the elements.
        num_heads: not used.
        head_dim: not used.
        num_layers: not used.
        max_positions: how many vectors there are, so how long a sequence may be.

    Raises:
        ValueError: ``max_positions`` is less than 1.
    """

    def __init__(
        self, *, dim: int, num_heads: int, head_dim: int, num_layers: int, max_positions: int
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        if max_positions < 1:
            raise ValueError(f"position.max_positions is {max_positions}; it must be at least 1")
        self.longest, self.longest_key = max_positions, "position.max_positions"
        self.scale = math.sqrt(dim)
        self.table = nn.Embedding(max_positions, dim)
        nn.init.normal_(self.table.weight, std=dim**-0.5)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Elements plus the vectors of their positions; see ``Position.embed``.

        Raises:
            ValueError: a position is beyond the table.
        """
        self._check(positions)
        vectors: Tensor = self.table(positions)
        return x + vectors * self.scale

    def _check(self, positions: Tensor) -> None:
        longest = reach(positions)
        if longest > self.table.num_embeddings:
            raise ValueError(
                f"encoder/position=learned has max_positions={self.table.num_embeddings} vectors, "
                f"and a sequence has {longest} elements; give shorter sequences, or train with a "
                "larger position.max_positions, or with a position that knows no limit, such as "
                "sinusoidal, learned_function or rotary"
            )
