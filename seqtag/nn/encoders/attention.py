"""Self-attention stacked with fully-connected layers."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.attention import Attention
from seqtag.nn.encoders.encoder import Encoder, projection
from seqtag.nn.padding import zero_padding
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


class AttentionEncoder(Encoder):
    """The encoder of Vaswani et al. 2017, normalised before each sublayer (Xiong et al. 2020).

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements inside and out.
        num_layers: number of layers, each self-attention and fully-connected.
        num_heads: number of attention heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        head_dim: width of queries, keys and values in each head; None for ``dim / num_heads``.
        feedforward_dim: width of the hidden fully-connected layer; 0 for attention alone.
        dropout: share of what each sublayer adds, and of the hidden layer, set to zero in training.
        attention_dropout: share of the attention weights set to zero in training.
        position: builds the position, ``position(dim=, num_heads=, head_dim=, num_layers=)``.
        scorer: builds the scorer of a layer, ``scorer(head_dim=, num_heads=)``.

    Raises:
        ValueError: ``head_dim`` is None and ``num_heads`` does not divide ``dim``, or
            ``num_kv_heads`` does not divide ``num_heads``.
    """

    def __init__(
        self,
        input_dim: int,
        *,
        dim: int,
        num_layers: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int | None,
        feedforward_dim: int,
        dropout: float,
        attention_dropout: float,
        position: Callable[..., Position],
        scorer: Callable[..., Scorer],
    ) -> None:
        super().__init__()
        head_dim = head_width(dim, num_heads, head_dim)
        self.output_dim = dim
        self.project = projection(input_dim, dim)
        self.position = position(
            dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=num_layers
        )
        self.layers = nn.ModuleList(
            AttentionLayer(
                dim=dim,
                attention=Attention(
                    query_dim=dim,
                    key_dim=dim,
                    value_dim=dim,
                    output_dim=dim,
                    num_heads=num_heads,
                    num_kv_heads=num_kv_heads,
                    head_dim=head_dim,
                    value_head_dim=head_dim,
                    scorer=scorer(head_dim=head_dim, num_heads=num_heads),
                    position=self.position.layer(index),
                    dropout=attention_dropout,
                    bias=True,
                ),
                feedforward_dim=feedforward_dim,
                dropout=dropout,
            )
            for index in range(num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        # From here on padding is finite. As queries it may ask; as keys each attention masks it.
        x = self.project(zero_padding(x, layout.valid))
        x = self.position.embed(x, layout.positions)
        valid = layout.valid if layout.has_padding else None
        for layer in self.layers:
            x = layer(x, valid, layout.positions)
        normed: Tensor = self.norm(x)
        return normed


class AttentionLayer(nn.Module):
    """``x + attention(norm(x))``, then ``x + fully_connected(norm(x))``.

    Args:
        dim: width of the elements.
        attention: self-attention from ``dim`` to ``dim``.
        feedforward_dim: width of the hidden fully-connected layer; 0 for none.
        dropout: share of what each sublayer adds, and of the hidden layer, set to zero in training.
    """

    def __init__(
        self, *, dim: int, attention: Attention, feedforward_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attention = attention
        self.dropout = nn.Dropout(dropout)
        self.feedforward = feedforward(dim, feedforward_dim, dropout)

    def forward(self, x: Tensor, valid: Tensor | None, positions: Tensor) -> Tensor:
        """One layer.

        Args:
            x: ``[batch, source, dim]``, finite at padding.
            valid: bool ``[batch, source]``, or None where all elements are real.
            positions: ``[batch, source]``.

        Returns:
            ``[batch, source, dim]``.
        """
        normed = self.norm(x)
        attended = self.attention(
            normed,
            normed,
            normed,
            valid=valid,
            query_positions=positions,
            key_positions=positions,
        )
        x = x + self.dropout(attended)
        return x if self.feedforward is None else x + self.feedforward(x)


def head_width(dim: int, num_heads: int, head_dim: int | None) -> int:
    """The width of a head, where it is not given as large as ``dim`` allows.

    Raises:
        ValueError: a size is less than 1; or the width is not given, and ``num_heads`` does
            not divide ``dim``.
    """
    sizes = {"dim": dim, "num_heads": num_heads, "head_dim": head_dim}
    for name, size in sizes.items():
        if size is not None and size < 1:
            raise ValueError(f"{name} is {size}; it must be at least 1")
    if head_dim is None and dim % num_heads:
        raise ValueError(
            f"dim ({dim}) must be a multiple of num_heads ({num_heads}), or head_dim be given"
        )
    return dim // num_heads if head_dim is None else head_dim


def feedforward(dim: int, hidden: int, dropout: float) -> nn.Sequential | None:
    """The fully-connected sublayer, its norm before it; None where it has no ``hidden`` width."""
    if not hidden:
        return None
    return nn.Sequential(
        nn.LayerNorm(dim),
        nn.Linear(dim, hidden),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, dim),
        nn.Dropout(dropout),
    )
