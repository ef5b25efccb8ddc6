"""Linear maps with the start that this project's vectors want."""

from __future__ import annotations

from torch import nn


def unit_linear(width: int, dim: int) -> nn.Linear:
    """A linear map that takes vectors of unit variance to vectors of unit variance."""
    linear = nn.Linear(width, dim)
    nn.init.normal_(linear.weight, std=width**-0.5)
    nn.init.zeros_(linear.bias)
    return linear
