"""A small network of the position, added to the elements."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from seqtag.nn.linear import unit_linear
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.sinusoidal import encoding


class LearnedFunction(Position):
    """Adds ``W_2 norm(gelu(W_1 s(position) + b_1)) + b_2``, where ``s`` are sines and cosines.

    ``norm`` is layer normalisation (Ba et al. 2016) without weights: with it, places start out
    about as far apart as those of ``Sinusoidal``.

    What is learnt is a function, not a table, so it has a value at every position (Liu et al. 2020,
    FLOATER, learn a function for the same reason; theirs is the solution of a differential
    equation). Beyond the lengths of training the sines and cosines stay in their range, but what
    the function makes of them there nobody has taught it.

    Args:
        dim: width of the elements.
        num_heads: not used.
        head_dim: not used.
        num_layers: not used.
        num_waves: number of sines and of cosines that the network is shown.
        hidden_dim: width of the hidden layer; at least 2, since a normalised number alone is
            always 0.

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
        num_waves: int,
        hidden_dim: int,
    ) -> None:
        super().__init__(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers)
        for name, size, least in (("num_waves", num_waves, 1), ("hidden_dim", hidden_dim, 2)):
            if size < least:
                raise ValueError(f"position.{name} is {size}; it must be at least {least}")
        self.width = 2 * num_waves
        self.hidden = nn.Linear(self.width, hidden_dim)
        self.output = unit_linear(hidden_dim, dim)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Elements plus the network's answer to their positions; see ``Position.embed``."""
        waves = encoding(positions, self.width).to(self.hidden.weight.dtype)
        hidden = functional.gelu(self.hidden(waves))
        vectors: Tensor = self.output(functional.layer_norm(hidden, hidden.shape[-1:]))
        return x + vectors.to(x.dtype)
