"""Keys and values of elements, projected once for all queries to come."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class KeyValues:
    """Projected keys and values that later queries may attend to.

    Attributes:
        keys: ``[batch, kv_heads, key, head_dim]``, positions not yet written in.
        values: ``[batch, kv_heads, key, value_head_dim]``.
        valid: bool ``[batch, key]``, True at real elements; None where all are.
        positions: ``[batch, key]`` or ``[1, key]``; None for 0, 1, 2, ...
    """

    keys: Tensor
    values: Tensor
    valid: Tensor | None = None
    positions: Tensor | None = None

    def extend(self, other: KeyValues) -> KeyValues:
        """These and, behind them, those of further real elements in order."""
        assert self.valid is None, "behind padding nothing is in order"
        assert self.positions is None
        return KeyValues(
            keys=torch.cat((self.keys, other.keys), dim=2),
            values=torch.cat((self.values, other.values), dim=2),
        )

    def select(self, rows: Tensor) -> KeyValues:
        """Those of these rows ``[n]``, in their order."""
        return KeyValues(
            keys=self.keys[rows],
            values=self.values[rows],
            valid=None if self.valid is None else self.valid[rows],
            positions=None
            if self.positions is None or len(self.positions) == 1
            else self.positions[rows],
        )
