"""How well a query matches a key."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn


class Scorer(nn.Module, ABC):
    """A score for every pair of query and key.

    Built per layer as ``scorer(head_dim=..., num_heads=...)``, so that a kind may hold weights for
    each head.
    """

    @abstractmethod
    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Raw scores, before any mask and softmax.

        Args:
            query: ``[batch, heads, query, head_dim]``.
            key: ``[batch, heads, key, head_dim]``.

        Returns:
            ``[batch, heads, query, key]``.
        """

    def as_dot_product(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor, float] | None:
        """The same scores as a dot product, where they are one; fused kernels compute those.

        Args:
            query: ``[batch, heads, query, head_dim]``.
            key: ``[batch, heads, key, head_dim]``.

        Returns:
            ``(query, key, scale)`` such that the scores are ``scale * query @ key.T``, or None.
        """
        return None


class DotProductScorer(Scorer):
    """``q . k / sqrt(head_dim)`` (Vaswani et al. 2017, equation 1), or plain ``q . k``.

    Args:
        head_dim: width of a query and of a key.
        num_heads: not used, the score is the same in every head.
        scaled: whether to divide by ``sqrt(head_dim)``, which keeps the scores of queries and keys
            of unit variance at unit variance whatever their width.
    """

    def __init__(self, *, head_dim: int, num_heads: int, scaled: bool) -> None:
        super().__init__()
        self.scale = head_dim**-0.5 if scaled else 1.0

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Raw scores ``[batch, heads, query, key]``; see ``Scorer.forward``."""
        return (query * self.scale) @ key.transpose(-2, -1)

    def as_dot_product(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor, float]:
        """Its own arguments and the scale; see ``Scorer.as_dot_product``."""
        return query, key, self.scale
