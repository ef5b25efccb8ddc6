"""What all layers of an attention encoder or decoder have in common, stated once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from seqtag.nn.attention import Attention
from seqtag.nn.blocks import FeedForward, Residual
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """Builds the parts of a layer; each call builds a new one.

    Attributes:
        dim: width of the elements.
        num_heads: number of attention heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        head_dim: width of queries, keys and values in each head; None for ``dim / num_heads``.
        feedforward_dim: width of the hidden fully-connected layer; 0 for none.
        pre_norm: whether the norm stands before a sublayer, not behind it.
        norm: builds a norm, ``norm(dim)``.
        activation: builds the activation of the hidden layer, ``activation()``.
        scorer: builds the scorer of a layer, ``scorer(head_dim=, num_heads=)``.
        dropout: share of what each sublayer adds set to zero in training.
        feedforward_dropout: share of the hidden layer, likewise.
        attention_dropout: share of the attention weights, likewise.

    Raises:
        ValueError: a size is less than 1 (``feedforward_dim``: than 0); or ``head_dim`` is None,
            and ``num_heads`` does not divide ``dim``.
    """

    dim: int
    num_heads: int
    num_kv_heads: int
    head_dim: int | None
    feedforward_dim: int
    pre_norm: bool
    norm: Callable[[int], nn.Module]
    activation: Callable[[], nn.Module]
    scorer: Callable[..., Scorer]
    dropout: float
    feedforward_dropout: float
    attention_dropout: float

    def __post_init__(self) -> None:
        if self.feedforward_dim < 0:
            raise ValueError(f"feedforward_dim is {self.feedforward_dim}; it must be at least 0")
        head_width(self.dim, self.num_heads, self.head_dim)

    @property
    def head_width(self) -> int:
        """The width of a head; see ``head_width``."""
        return head_width(self.dim, self.num_heads, self.head_dim)

    def position(self, make: Callable[..., Position], *, num_layers: int) -> Position:
        """The position of ``num_layers`` layers."""
        return make(
            dim=self.dim,
            num_heads=self.num_heads,
            head_dim=self.head_width,
            num_layers=num_layers,
        )

    def attention(self, *, key_dim: int, position: Position) -> Attention:
        """From elements to elements of ``key_dim``, which are its keys and values.

        Raises:
            ValueError: ``num_kv_heads`` does not divide ``num_heads``.
        """
        return Attention(
            query_dim=self.dim,
            key_dim=key_dim,
            value_dim=key_dim,
            output_dim=self.dim,
            num_heads=self.num_heads,
            num_kv_heads=self.num_kv_heads,
            head_dim=self.head_width,
            value_head_dim=self.head_width,
            scorer=self.scorer(head_dim=self.head_width, num_heads=self.num_heads),
            position=position,
            dropout=self.attention_dropout,
            bias=True,
        )

    def residual(self) -> Residual:
        """What stands around a sublayer."""
        return Residual(dim=self.dim, norm=self.norm, pre_norm=self.pre_norm, dropout=self.dropout)

    def feedforward(self) -> nn.Module:
        """The fully-connected sublayer; one that does nothing where it has no hidden width."""
        if not self.feedforward_dim:
            return nn.Identity()
        return FeedForward(
            dim=self.dim,
            hidden=self.feedforward_dim,
            activation=self.activation,
            dropout=self.feedforward_dropout,
            residual=self.residual(),
        )

    def last_norm(self) -> nn.Module:
        """What stands behind the last layer: with pre norm a norm, as nothing else ends the sum."""
        return self.norm(self.dim) if self.pre_norm else nn.Identity()


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
