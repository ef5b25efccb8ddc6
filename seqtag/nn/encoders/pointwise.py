"""Fully-connected layers over each element by itself."""

from __future__ import annotations

from seqtag.nn.encoders.window import WindowEncoder


class PointwiseEncoder(WindowEncoder):
    """A window of radius 0: an element sees itself, and no context at all.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out.
        num_layers: number of layers.
        dropout: share of what each layer adds set to zero in training.
    """

    def __init__(self, input_dim: int, *, dim: int, num_layers: int, dropout: float) -> None:
        super().__init__(input_dim, dim=dim, num_layers=num_layers, radius=0, dropout=dropout)
