"""What every encoder does: elements in, as many elements out, each with its context."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from seqtag.batch import Layout


class Encoder(nn.Module, ABC):
    """Built as ``encoder(input_dim)``.

    Padding never changes what comes out for a real element, whatever it holds, and a row gives the
    same alone as in a larger batch.

    Attributes:
        output_dim: width of the elements that come out.
    """

    output_dim: int

    @abstractmethod
    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context.

        Args:
            x: ``[batch, source, input_dim]``; anything at padding.
            layout: which elements are real.

        Returns:
            ``[batch, source, output_dim]``; unspecified but finite at padding.
        """


def projection(input_dim: int, dim: int) -> nn.Module:
    """A linear map from ``input_dim`` to ``dim``, or nothing where they are equal."""
    return nn.Identity() if input_dim == dim else nn.Linear(input_dim, dim)
