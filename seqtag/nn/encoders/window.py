"""Fully-connected layers over a window of neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.encoders.encoder import Encoder, check_sizes, projection
from seqtag.nn.padding import zero_padding


class WindowEncoder(Encoder):
    """An element sees itself and ``radius`` neighbours on either side, and nothing further.

    The first layer is fully connected over the concatenated window, with zeros beyond the ends; the
    others take each element by itself. With radius 0 it is a network that looks at no context.
    Layers are residual and normalised as in ``AttentionEncoder``, so that a comparison of the two
    is one of what they see.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out.
        num_layers: number of layers.
        radius: how many neighbours an element sees on either side.
        dropout: share of what each layer adds set to zero in training.

    Raises:
        ValueError: ``radius`` is negative, or ``dim`` or ``num_layers`` less than 1.
    """

    def __init__(
        self, input_dim: int, *, dim: int, num_layers: int, radius: int, dropout: float
    ) -> None:
        super().__init__()
        check_sizes(0, {"radius": radius})
        check_sizes(1, {"dim": dim, "num_layers": num_layers})
        self.output_dim = dim
        self.project = projection(input_dim, dim)
        self.layers = nn.ModuleList(
            WindowLayer(dim=dim, radius=radius if index == 0 else 0, dropout=dropout)
            for index in range(num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        x = self.project(zero_padding(x, layout.valid))
        for layer in self.layers:
            x = layer(x, layout)
        normed: Tensor = self.norm(x)
        return normed


class WindowLayer(nn.Module):
    """``x + fully_connected(window(norm(x)))``.

    Args:
        dim: width of the elements.
        radius: how many neighbours an element sees on either side.
        dropout: share of what the layer adds set to zero in training.
    """

    def __init__(self, *, dim: int, radius: int, dropout: float) -> None:
        super().__init__()
        self.radius = radius
        self.norm = nn.LayerNorm(dim)
        self.connect = nn.Linear((2 * radius + 1) * dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """One layer, ``[batch, source, dim]`` to the same."""
        window = self.norm(x)
        if self.radius:
            # Norm and bias make padding nonzero again, and a row alone has zeros there.
            window = zero_padding(window, layout.valid)
            beyond = functional.pad(window, (0, 0, self.radius, self.radius))
            source, width = x.shape[1], 2 * self.radius + 1
            # [batch, source + 2 radius, dim] -> [batch, source, (2 radius + 1) * dim]
            window = torch.cat([beyond[:, i : i + source] for i in range(width)], dim=-1)
        added: Tensor = self.dropout(functional.gelu(self.connect(window)))
        return x + added
