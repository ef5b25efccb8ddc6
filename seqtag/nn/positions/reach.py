"""How far a sequence reaches, for the kinds that make a vector for each place."""

from __future__ import annotations

from torch import Tensor


def reach(positions: Tensor) -> int:
    """One more than the largest position; 0 where there is none.

    To look at numbers on a GPU is to wait for it. So there a whole sequence is taken to be in
    order from 0, and its count tells. A search that goes step by step, one position at a time,
    looks at what it found at each step anyway.

    Args:
        positions: ``[batch, n]``.
    """
    count = positions.shape[1]
    if positions.numel() and (count == 1 or positions.device.type == "cpu"):
        return int(positions.max()) + 1
    return count
