"""From states to numbers, of every element or of every row."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.padding import zero_padding
from seqtag.nn.pooling import Pooling


class Readout(nn.Module):
    """A linear map of every element, or of one vector per row.

    Args:
        input_dim: width of the elements.
        width: how many numbers come out for each.
        pooling: builds what makes one vector of a row, ``pooling(input_dim)``; None to keep every
            element.
        dropout: share of what is mapped set to zero in training.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        width: int,
        pooling: Callable[[int], Pooling] | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.pooling = None if pooling is None else pooling(input_dim)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(
            input_dim if self.pooling is None else self.pooling.output_dim, width
        )

    def forward(self, states: Tensor, layout: Layout) -> Tensor:
        """Maps ``[batch, source, input_dim]`` to ``[batch, source, width]`` or ``[batch, width]``.

        Padding is zeroed first, so that it gives the weights no gradient, not even NaN.
        """
        states = zero_padding(states, layout.valid)
        if self.pooling is not None:
            states = self.pooling(states, layout)
        numbers: Tensor = self.linear(self.dropout(states))
        return numbers
