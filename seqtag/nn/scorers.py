"""How well a query matches a key."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

SHORTEST = 1e-3
"""A vector shorter than this counts as this long, which bounds the gradient of its direction."""


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


class CosineScorer(Scorer):
    """``exp(t) * cos(q, k)``, a learnt ``t`` for each head (Henry et al. 2020;
    per head in Liu et al. 2022, Swin Transformer V2, equation 2).

    The length of a query or a key then has no say. A cosine lies in [-1, 1], too narrow for a
    softmax to choose by, so ``exp(t)``, an inverse temperature that stays positive, widens it. It
    starts at ``sqrt(head_dim)``: cosines of random vectors have the variance ``1 / head_dim``, and
    so the scores start at unit variance, as those of the scaled dot product do.

    Args:
        head_dim: width of a query and of a key.
        num_heads: number of attention heads.
    """

    def __init__(self, *, head_dim: int, num_heads: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.full((num_heads,), math.log(head_dim) / 2))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Raw scores ``[batch, heads, query, key]``; see ``Scorer.forward``."""
        query, key, _ = self.as_dot_product(query, key)
        return query @ key.transpose(-2, -1)

    def as_dot_product(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor, float]:
        """Directions, those of the queries as long as the scale; see ``Scorer.as_dot_product``."""
        scale = self.log_scale.exp()[:, None, None]
        return (_direction(query) * scale).to(query.dtype), _direction(key).to(key.dtype), 1.0


class AdditiveScorer(Scorer):
    """``w . tanh(W_q q + W_k k)`` in each head (Bahdanau et al. 2015, appendix A.1.2).

    With ``W = [W_q W_k]`` it is ``w . tanh(W [q; k])``. There is no fused kernel for it, and it
    takes time ``heads * query * key * head_dim`` in tanh alone.

    Memory: all pairs at once would take ``batch * heads * query * key * head_dim`` numbers, as many
    times those of a dot product as a head is wide. So they are made in chunks of at most
    ``most_elements`` numbers (or of one query's, ``key * head_dim``, where these are more), and in
    training each chunk is made anew for the gradient, which costs a third more time and keeps no
    more than one chunk. The scores themselves, ``batch * heads * query * key``, are kept whole.

    Args:
        head_dim: width of a query and of a key.
        num_heads: number of attention heads.
        most_elements: how many numbers a chunk may hold.

    Raises:
        ValueError: ``most_elements`` is less than 1.
    """

    def __init__(self, *, head_dim: int, num_heads: int, most_elements: int) -> None:
        super().__init__()
        if most_elements < 1:
            raise ValueError(
                f"scorer.most_elements is {most_elements}; it must be at least 1, such as 4194304"
            )
        self.most_elements = most_elements
        self.query = nn.Parameter(torch.empty(num_heads, head_dim, head_dim))
        self.key = nn.Parameter(torch.empty(num_heads, head_dim, head_dim))
        self.weight = nn.Parameter(torch.empty(num_heads, head_dim))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=head_dim**-0.5)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Raw scores ``[batch, heads, query, key]``; see ``Scorer.forward``."""
        batch, heads, queries, head_dim = query.shape
        keys = key.shape[2]
        if 0 in (batch, queries, keys):
            return query.new_zeros(batch, heads, queries, keys)
        # [batch, heads, n, head_dim] -> [batch * heads, n, head_dim]
        projected_query = (query @ self.query).flatten(0, 1)
        projected_key = (key @ self.key).flatten(0, 1)
        # [heads, head_dim] -> [batch * heads, head_dim, 1]
        weight = self.weight.repeat(batch, 1).unsqueeze(-1)

        together = min(batch * heads, max(1, self.most_elements // (keys * head_dim)))
        at_once = max(1, self.most_elements // (together * keys * head_dim))
        # What fits into one chunk is no more than what a chunk may hold: it is kept.
        again = torch.is_grad_enabled() and (together < batch * heads or at_once < queries)
        rows = []
        for some_query, some_key, some_weight in zip(
            torch.split(projected_query, together),
            torch.split(projected_key, together),
            torch.split(weight, together),
            strict=True,
        ):
            chunks = [
                checkpoint(
                    _additive_scores,
                    chunk,
                    some_key,
                    some_weight,
                    use_reentrant=False,
                    preserve_rng_state=False,  # nothing in it is random
                )
                if again
                else _additive_scores(chunk, some_key, some_weight)
                for chunk in torch.split(some_query, at_once, dim=1)
            ]
            rows.append(torch.cat(chunks, dim=1))
        # [batch * heads, query, key] -> [batch, heads, query, key]
        return torch.cat(rows).view(batch, heads, queries, keys)


def _additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Scores ``[n, query, key]``; the weight is ``[n, head_dim, 1]``.

    Autograd keeps the tanh and not the sum, so the one can take the place of the other.
    """
    pairs = (query.unsqueeze(2) + key.unsqueeze(1)).tanh_()
    # [n, query, key, head_dim] -> [n, query * key, 1] -> [n, query, key]
    return (pairs.flatten(1, 2) @ weight).view(pairs.shape[:3])


def _direction(x: Tensor) -> Tensor:
    """Vectors of length 1 along the last dimension; shorter where ``x`` is nearly nothing."""
    return functional.normalize(x, dim=-1, eps=SHORTEST)
