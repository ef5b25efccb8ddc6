"""What every encoder does: elements in, as many elements out, each with its context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from torch import Tensor, nn

from seqtag.batch import Layout


class Encoder(nn.Module, ABC):
    """Built as ``encoder(input_dim)``.

    Padding never changes what comes out for a real element, whatever it holds, and a row gives the
    same alone as in a larger batch.

    Attributes:
        output_dim: width of the elements that come out.
        longest: elements of the longest sequence that it can read; None where there is no limit.
            Longer ones are refused before training and row by row in prediction. Who sets it, an
            encoder or a part of one, has its key beside it as ``longest_key``, counted from the
            encoder's node: ``limit``, ``position.max_positions`` (see ``seqtag.limits``).
    """

    output_dim: int
    longest: int | None = None

    @abstractmethod
    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context.

        Args:
            x: ``[batch, source, input_dim]``; anything at padding.
            layout: which elements are real.

        Returns:
            ``[batch, source, output_dim]``; unspecified but finite at padding.

        Raises:
            ValueError: ``source`` is more than ``longest``.
        """


def projection(input_dim: int, dim: int) -> nn.Module:
    """A linear map from ``input_dim`` to ``dim``, or nothing where they are equal."""
    return nn.Identity() if input_dim == dim else nn.Linear(input_dim, dim)


def check_sizes(least: int, sizes: Mapping[str, int]) -> None:
    """Refuse sizes that are too small.

    Args:
        least: the smallest that each may be.
        sizes: by the name of their key in the encoder's config.

    Raises:
        ValueError: a size is less.
    """
    for name, size in sizes.items():
        if size < least:
            raise ValueError(f"encoder.{name} is {size}; it must be at least {least}")
