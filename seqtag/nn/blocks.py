"""What the layers of encoder and decoder are made of, apart from attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional


class Residual(nn.Module):
    """What stands around a sublayer: a norm, dropout, and the elements added to the result.

    With ``pre_norm``, ``x + dropout(sublayer(norm(x)))`` (Xiong et al. 2020, figure 1b); without,
    ``norm(x + dropout(sublayer(x)))`` (Vaswani et al. 2017, sections 3.1 and 5.4).

    Args:
        dim: width of the elements.
        norm: builds the norm, ``norm(dim)``.
        pre_norm: whether the norm stands before the sublayer, not behind the sum.
        dropout: share of what the sublayer adds set to zero in training.
    """

    def __init__(
        self, *, dim: int, norm: Callable[[int], nn.Module], pre_norm: bool, dropout: float
    ) -> None:
        super().__init__()
        self.norm = norm(dim)
        self.pre_norm = pre_norm
        self.dropout = nn.Dropout(dropout)

    def before(self, x: Tensor) -> Tensor:
        """What the sublayer is given of ``x [batch, n, dim]``, in the same shape."""
        given: Tensor = self.norm(x) if self.pre_norm else x
        return given

    def after(self, x: Tensor, added: Tensor) -> Tensor:
        """``x`` and what the sublayer adds to it, all ``[batch, n, dim]``."""
        total: Tensor = x + self.dropout(added)
        return total if self.pre_norm else self.norm(total)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """``x [batch, n, dim]`` after a sublayer that keeps its shape."""
        return self.after(x, sublayer(self.before(x)))


class FeedForward(nn.Module):
    """Two linear maps with an activation between them (Vaswani et al. 2017, equation 2).

    Args:
        dim: width of the elements.
        hidden: width of the hidden layer, counted behind the activation.
        activation: builds the activation, ``activation()``.
        dropout: share of the hidden layer set to zero in training.
        residual: what stands around the two.
    """

    def __init__(
        self,
        *,
        dim: int,
        hidden: int,
        activation: Callable[[], nn.Module],
        dropout: float,
        residual: Residual,
    ) -> None:
        super().__init__()
        self.residual = residual
        self.activation = activation()
        # An activation of torch.nn gives as many numbers as it takes; one that gates says more.
        self.widen = nn.Linear(dim, hidden * getattr(self.activation, "taken_per_given", 1))
        self.dropout = nn.Dropout(dropout)
        self.narrow = nn.Linear(hidden, dim)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, n, dim]`` to the same, each element by itself."""
        connected: Tensor = self.residual(x, self._connect)
        return connected

    def _connect(self, x: Tensor) -> Tensor:
        connected: Tensor = self.narrow(self.dropout(self.activation(self.widen(x))))
        return connected


class SwiGLU(nn.Module):
    """``swish(a) * b`` of the halves ``a, b`` of what it is given (Shazeer 2020, equation 5).

    The paper's ``W`` and ``V`` are the two halves of one linear map, which is thus twice as wide.
    """

    taken_per_given: ClassVar[int] = 2
    """How many numbers go in for each that comes out."""

    def forward(self, x: Tensor) -> Tensor:
        """``[..., 2 * hidden]`` to ``[..., hidden]``."""
        gate, value = x.chunk(2, dim=-1)
        gated: Tensor = functional.silu(gate) * value
        return gated


class RMSNorm(nn.RMSNorm):
    """``x / sqrt(mean(x^2) + eps) * weight`` (Zhang and Sennrich 2019, equation 4).

    In mixed precision it works in single precision, as autocast has it for ``nn.LayerNorm``;
    left alone, torch 2.13 falls back to a slow form there, and warns.
    """

    def forward(self, x: Tensor) -> Tensor:
        """``[..., dim]`` to the same."""
        return super().forward(x.to(self.weight.dtype))
