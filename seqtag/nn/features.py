"""Vectors for what is known of an element beside its input."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from seqtag.batch import PADDING, UNKNOWN
from seqtag.nn.linear import unit_linear
from seqtag.nn.padding import zero_padding

FEATURE, NUMBER = "feature:", "number:"
"""What stands before a column's name in the names of the input fields with its categories or its
numbers."""


class CategoryEmbedding(nn.Module):
    """A learnt vector for each category, zeros for one that training never saw.

    As with symbols, the weights start small and are multiplied by ``sqrt(dim)``. Training knows
    all its categories and would leave the vector of the unknown at a random start; at zero it adds
    nothing.

    Args:
        categories: how many, with padding (id 0) and unknown (id 1).
        dim: width of a vector.
    """

    def __init__(self, categories: int, *, dim: int) -> None:
        super().__init__()
        self.scale = math.sqrt(dim)
        self.table = nn.Embedding(categories, dim, padding_idx=PADDING)
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        with torch.no_grad():
            self.table.weight[[PADDING, UNKNOWN]] = 0

    def forward(self, categories: Tensor, valid: Tensor) -> Tensor:
        """Vectors ``[batch, source, dim]``, zeros at padding.

        Args:
            categories: ids ``[batch, source]``; anything at padding.
            valid: bool ``[batch, source]``, True where there is an element.
        """
        vectors: Tensor = self.table(categories.masked_fill(~valid, PADDING))
        return vectors * self.scale


class NumberEmbedding(nn.Module):
    """A linear map of a standardised number and of whether it is there.

    Args:
        width: 2, for these two.
        dim: width of the vectors that come out.
    """

    def __init__(self, width: int, *, dim: int) -> None:
        super().__init__()
        self.project = unit_linear(width, dim)

    def forward(self, numbers: Tensor, valid: Tensor) -> Tensor:
        """Vectors ``[batch, source, dim]``; the bias at padding.

        Args:
            numbers: ``[batch, source, width]``; anything at padding, NaN included.
            valid: bool ``[batch, source]``, True where there is an element.
        """
        projected: Tensor = self.project(zero_padding(numbers, valid))
        return projected
