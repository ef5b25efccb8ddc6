"""One vector for a whole sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.attention import Attention
from seqtag.nn.padding import zero_padding
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


class Pooling(nn.Module, ABC):
    """Built as ``pooling(input_dim)``.

    Attributes:
        output_dim: width of the vector that comes out.
    """

    output_dim: int

    @abstractmethod
    def forward(self, states: Tensor, layout: Layout) -> Tensor:
        """One vector per row.

        Args:
            states: ``[batch, source, input_dim]``; anything at padding.
            layout: which elements are real.

        Returns:
            ``[batch, output_dim]``; finite for an empty row.
        """


class MeanPooling(Pooling):
    """The mean over the real elements of a row; zeros for an empty row.

    Args:
        input_dim: width of the elements, and of their mean.
    """

    def __init__(self, input_dim: int) -> None:
        super().__init__()
        self.output_dim = input_dim

    def forward(self, states: Tensor, layout: Layout) -> Tensor:
        """The mean ``[batch, input_dim]``; see ``Pooling.forward``."""
        total = zero_padding(states, layout.valid).sum(dim=1)
        return total / layout.lengths.clamp(min=1).unsqueeze(1)


class AttentionPooling(Pooling):
    """What a learned query gathers from the elements of a row; zeros for an empty row.

    The pooling of Lee et al. 2019, "Set Transformer", section 3.2, with one seed and without the
    fully-connected layer. ``record_weights`` shows which elements counted, ``[batch, heads, 1,
    source]``.

    Args:
        input_dim: width of the elements, and of what is gathered.
        num_heads: number of heads, each of which weighs the elements in its own way.
        dropout: share of the weights set to zero in training.
        scorer: builds the scorer of query and elements, ``scorer(head_dim=, num_heads=)``.

    Raises:
        ValueError: ``num_heads`` does not divide ``input_dim``.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        num_heads: int,
        dropout: float,
        scorer: Callable[..., Scorer],
    ) -> None:
        super().__init__()
        if num_heads < 1 or input_dim % num_heads:
            raise ValueError(
                f"head.pooling.num_heads ({num_heads}) must divide the width of the encoded "
                f"elements ({input_dim})"
            )
        self.output_dim = input_dim
        head_dim = input_dim // num_heads
        self.query = nn.Parameter(torch.randn(input_dim))
        self.attention = Attention(
            query_dim=input_dim,
            key_dim=input_dim,
            value_dim=input_dim,
            output_dim=input_dim,
            num_heads=num_heads,
            num_kv_heads=num_heads,
            head_dim=head_dim,
            value_head_dim=head_dim,
            scorer=scorer(head_dim=head_dim, num_heads=num_heads),
            # A query that stands nowhere is at no distance from anything.
            position=Position(dim=input_dim, num_heads=num_heads, head_dim=head_dim, num_layers=1),
            dropout=dropout,
            bias=True,
        )

    def forward(self, states: Tensor, layout: Layout) -> Tensor:
        """What was gathered ``[batch, input_dim]``; see ``Pooling.forward``."""
        query = self.query.expand(len(states), 1, -1)
        valid = layout.valid if layout.has_padding else None
        gathered: Tensor = self.attention(query, states, states, valid=valid)
        return gathered.squeeze(1)
