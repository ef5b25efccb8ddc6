"""What keeps padding away from real elements."""

from __future__ import annotations

import torch
from torch import Tensor


def zero_padding(states: Tensor, valid: Tensor) -> Tensor:
    """Zeros wherever there is no element.

    A choice, not a product: ``NaN * 0`` is NaN, in the output and again in the gradient.

    Args:
        states: ``[batch, source, dim]``; anything at padding, NaN included.
        valid: bool ``[batch, source]``, True where there is an element.

    Returns:
        ``[batch, source, dim]``.
    """
    return torch.where(valid.unsqueeze(-1), states, 0)
