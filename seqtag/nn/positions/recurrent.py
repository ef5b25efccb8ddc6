"""Position vectors made one after the other by a small recurrent network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.nn.linear import unit_linear
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.reach import reach


class Recurrent(Position):
    """Adds what a GRU (Cho et al. 2014) says after as many steps as the position counts.

    It starts from a learnt state and is fed the same learnt vector at each step: all that changes
    is how long it has been running. Its update gates start so that units settle within one step to
    ``slowest`` steps (Tallec and Ollivier 2018, section 2). Its states go through a layer
    normalisation (Ba et al. 2016) without weights and then a linear map. Once all units have
    settled, it makes the same vector again and again: it takes any length, but far out it no longer
    tells neighbours apart unless training has taught it to go round.

    A vector costs all steps before it, so steps taken one at a time cost their number squared.

    Args:
        dim: width of the elements.
        num_heads: not used.
        head_dim: not used.
        num_layers: not used.
        hidden_dim: width of the state and of the vector that is fed; at least 2, since a
            normalised number alone is always 0.
        slowest: how many steps the slowest units take to settle, at first; at least 2.

    Raises:
        ValueError: a size is too small.
    """

    def __init__(
        self,
        *,
        dim: int,
        num_heads: int,
        head_dim: int,
        num_layers: int,
        hidden_dim: int,
        slowest: int,
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        for name, size, least in (("hidden_dim", hidden_dim, 2), ("slowest", slowest, 2)):
            if size < least:
                raise ValueError(f"position.{name} is {size}; it must be at least {least}")
        self.start = nn.Parameter(torch.empty(hidden_dim).uniform_(-1, 1))
        self.fed = nn.Parameter(torch.randn(hidden_dim))
        self.network = nn.GRU(hidden_dim, hidden_dim, batch_first=True)
        # Gates are stacked as reset, update, new; a large update gate keeps the state.
        update = slice(hidden_dim, 2 * hidden_dim)
        of_input, of_state = self.network.all_weights[0][2:]
        with torch.no_grad():
            of_input[update] = torch.empty(hidden_dim).uniform_(1, slowest - 1).log()
            of_state[update] = 0
        self.output = unit_linear(hidden_dim, dim)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Elements plus the vectors of their positions; see ``Position.embed``."""
        if not positions.numel():
            return x
        states = self._states(reach(positions))
        # Few units of a GRU go far from where they settle: unscaled, places would start out small
        # beside the elements.
        states = functional.layer_norm(states, states.shape[-1:])
        vectors: Tensor = self.output(states.to(self.output.weight.dtype))
        return x + vectors[positions].to(x.dtype)

    def _states(self, steps: int) -> Tensor:
        """``[steps, hidden_dim]``, in single precision or better.

        A slow unit changes by little at a step, and half precision would round it away, thousands
        of times.
        """
        exact = torch.promote_types(self.fed.dtype, torch.float32)
        with torch.autocast(self.fed.device.type, enabled=False):
            states, _ = torch.gru(
                self.fed.to(exact).expand(1, steps, -1),
                self.start.to(exact).expand(1, 1, -1).contiguous(),
                [weight.to(exact) for weight in self.network.all_weights[0]],
                has_biases=True,
                num_layers=1,
                dropout=0.0,
                train=self.training,
                bidirectional=False,
                batch_first=True,
            )
        return states.squeeze(0)
