"""One vector for a whole sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.padding import zero_padding


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
