"""Where attention learns the order of elements: five hooks that do nothing by default."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn


class Position(nn.Module):
    """No position at all: attention then treats a sequence as a set.

    It is also the base of every other kind, each of which overrides the hooks that it needs. One
    object is built for an encoder, as ``position(dim=..., num_heads=..., head_dim=...,
    num_layers=...)``. Positions are tensors ``[batch, n]`` of element indices from 0, where
    ``batch`` may be 1. They may be of any size, unless the kind has a ``longest``: such a kind
    refuses larger ones.

    Args:
        dim: width of the elements.
        num_heads: number of attention heads.
        head_dim: width of a query and of a key in each head.
        num_layers: number of attention layers.

    Attributes:
        longest: most elements that a sequence may have, so that positions lie below it; None where
            there is no limit.
    """

    longest: int | None = None

    offsets_values: ClassVar[bool] = False
    """Whether ``value_offset`` is in use; it needs the weights, which fused kernels hide."""

    def __init__(self, *, dim: int, num_heads: int, head_dim: int, num_layers: int) -> None:
        super().__init__()

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Elements with their positions written in; called once, before the first layer.

        Args:
            x: ``[batch, source, dim]``.
            positions: ``[batch, source]``.

        Returns:
            ``[batch, source, dim]``.
        """
        return x

    def rotate(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys with their positions written in; called in every layer.

        Args:
            query: ``[batch, heads, query, head_dim]``.
            key: ``[batch, kv_heads, key, head_dim]``, where heads share keys still once per share.
            query_positions: ``[batch, query]``.
            key_positions: ``[batch, key]``.

        Returns:
            Both, with their shapes unchanged.
        """
        return query, key

    def bias(
        self, query: Tensor, key: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor | None:
        """What to add to the scores, or None; called in every layer.

        Args:
            query: ``[batch, heads, query, head_dim]``, after ``rotate``.
            key: ``[batch, heads, key, head_dim]``, after ``rotate``.
            query_positions: ``[batch, query]``.
            key_positions: ``[batch, key]``.

        Returns:
            Finite numbers, broadcastable to ``[batch, heads, query, key]``.
        """
        return None

    def value_offset(
        self, weights: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor | None:
        """What to add to the weighted sum of the values, or None; called in every layer.

        Args:
            weights: ``[batch, heads, query, key]``, after softmax and dropout.
            query_positions: ``[batch, query]``.
            key_positions: ``[batch, key]``.

        Returns:
            ``[batch, heads, query, head_dim]``.
        """
        return None

    def layer(self, index: int) -> Position:
        """The object that layer ``index`` asks, itself unless a kind keeps parameters per layer."""
        return self
