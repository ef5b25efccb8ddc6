"""Fully-connected layers over the whole sequence."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.encoders.encoder import Encoder, check_sizes, projection
from seqtag.nn.encoders.window import WindowLayer
from seqtag.nn.padding import zero_padding


class FullWindowEncoder(Encoder):
    """An element sees every other: ``WindowEncoder`` with a radius of ``limit - 1``.

    From any element of a sequence of ``limit`` to any other there are ``2 * limit - 1`` distances,
    and the first layer has ``dim * dim`` weights for each: the encoder whose parameters explode.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out.
        num_layers: number of layers.
        limit: elements of the longest sequence that it reads.
        dropout: share of what each layer adds set to zero in training.

    Raises:
        ValueError: a size is less than 1.
    """

    def __init__(
        self, input_dim: int, *, dim: int, num_layers: int, limit: int, dropout: float
    ) -> None:
        super().__init__()
        check_sizes(1, {"dim": dim, "num_layers": num_layers, "limit": limit})
        self.output_dim = dim
        self.longest, self.longest_key = limit, "limit"
        self.project = projection(input_dim, dim)
        self.layers = nn.ModuleList(
            FullWindowLayer(dim=dim, limit=limit, dropout=dropout)
            if index == 0
            else WindowLayer(dim=dim, radius=0, dropout=dropout)
            for index in range(num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        x = self.project(zero_padding(x, layout.valid))
        if x.shape[1] == 0:
            return x  # a kernel of no element is nothing that torch convolves with
        for layer in self.layers:
            x = layer(x, layout)
        normed: Tensor = self.norm(x)
        return normed


class FullWindowLayer(nn.Module):
    """``x + fully_connected(window(norm(x)))`` with a window that always holds the whole sequence.

    The window is never built: what a weight does depends on the distance alone, so the layer is a
    convolution, and of its kernel a batch needs only the distances that there are in it.

    Args:
        dim: width of the elements.
        limit: elements of the longest sequence that it reads.
        dropout: share of what the layer adds set to zero in training.
    """

    def __init__(self, *, dim: int, limit: int, dropout: float) -> None:
        super().__init__()
        self.limit = limit
        self.norm = nn.LayerNorm(dim)
        # The weights of a WindowLayer: for each distance, from -(limit - 1) on, a map of dim.
        self.connect = nn.Linear((2 * limit - 1) * dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """One layer, ``[batch, source, dim]`` to the same, for a ``source`` of at least 1.

        Raises:
            ValueError: ``source`` is more than ``limit``.
        """
        _, source, dim = x.shape
        if source > self.limit:
            raise ValueError(
                f"a sequence of {source} elements is longer than the {self.limit} that "
                "encoder=window_full reads here (encoder.limit): train with a larger "
                "encoder.limit, or shorten the sequence"
            )
        normed = zero_padding(self.norm(x), layout.valid)
        # [dim, (2 limit - 1) * dim] -> [dim, 2 limit - 1, dim] -> [dim, dim, 2 source - 1]
        weights = self.connect.weight.view(dim, 2 * self.limit - 1, dim)
        reached = weights[:, self.limit - source : self.limit + source - 1].transpose(1, 2)
        connected = functional.conv1d(
            normed.transpose(1, 2), reached, self.connect.bias, padding=source - 1
        ).transpose(1, 2)
        added: Tensor = self.dropout(functional.gelu(connected))
        return x + added
