"""Attention: from every query, a weighted mean of values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.nn.key_values import KeyValues
from seqtag.nn.masks import kernel_mask, restrictions
from seqtag.nn.padding import zero_padding
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2).

    Heads may share keys and values: in groups (Ainslie et al. 2023, GQA), or all of them (Shazeer
    2019, multi-query): ``num_kv_heads`` equals ``num_heads`` for multi-head, 1 for multi-query.

    Args:
        query_dim: width of an element that asks.
        key_dim: width of an element that is asked.
        value_dim: width of an element that answers.
        output_dim: width of the result.
        num_heads: number of query heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        head_dim: width of a query and of a key in each head.
        value_head_dim: width of a value in each head.
        scorer: scores of queries and keys, built for this layer.
        position: what the scores and values know of positions.
        dropout: share of the weights set to zero in training.
        bias: whether the four projections add a bias.

    Raises:
        ValueError: ``num_heads`` is no multiple of ``num_kv_heads``, or ``position`` adds to the
            values, whose width is not ``head_dim``.
    """

    def __init__(
        self,
        *,
        query_dim: int,
        key_dim: int,
        value_dim: int,
        output_dim: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int,
        value_head_dim: int,
        scorer: Scorer,
        position: Position,
        dropout: float,
        bias: bool,
    ) -> None:
        super().__init__()
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"num_heads ({num_heads}) must be a multiple of num_kv_heads ({num_kv_heads})"
            )
        if position.offsets_values and value_head_dim != head_dim:
            raise ValueError(
                f"value_head_dim ({value_head_dim}) must equal head_dim ({head_dim}) with a "
                "position that adds to the values, such as encoder/position=relative"
            )
        if not 0 <= dropout <= 1:
            raise ValueError(f"attention_dropout is {dropout}; it must lie in [0, 1]")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.query = nn.Linear(query_dim, num_heads * head_dim, bias=bias)
        self.key = nn.Linear(key_dim, num_kv_heads * head_dim, bias=bias)
        self.value = nn.Linear(value_dim, num_kv_heads * value_head_dim, bias=bias)
        self.output = nn.Linear(num_heads * value_head_dim, output_dim, bias=bias)
        for linear in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)
        self.scorer = scorer
        self.position = position
        self.dropout = dropout
        self.record: list[Tensor] | None = None

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        valid: Tensor | None = None,
        mask: Tensor | None = None,
        causal: bool = False,
        query_positions: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:
        """What each query gathers; exactly zero for a query that may attend to nothing.

        Args:
            query: ``[batch, query, query_dim]``, finite at padding too.
            key: ``[batch, key, key_dim]``; anything where ``valid`` is False.
            value: ``[batch, key, value_dim]``; likewise.
            valid: bool ``[batch, key]``, True at real elements; None where all are.
            mask: broadcastable to ``[batch, heads, query, key]``: bool, True where attention is
                allowed, or numbers to add to the scores, ``-inf`` where it is not.
            causal: whether a query sees only keys at its own position and before.
            query_positions: ``[batch, query]``; None for 0, 1, 2, ...
            key_positions: ``[batch, key]``; None for 0, 1, 2, ...

        Returns:
            ``[batch, query, output_dim]``.
        """
        memory = self.remember(key, value, valid=valid, positions=key_positions)
        return self.attend(query, memory, mask=mask, causal=causal, query_positions=query_positions)

    def remember(
        self,
        key: Tensor,
        value: Tensor,
        *,
        valid: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> KeyValues:
        """Keys and values projected once, for any number of ``attend``; see ``forward``."""
        if valid is None and key.shape[1] == 0:
            valid = key.new_ones(key.shape[:2], dtype=torch.bool)  # nothing to attend to at all
        if valid is not None:
            # A weight of zero does not stop a NaN: 0 * NaN is NaN.
            same = value is key
            key = zero_padding(key, valid)
            value = key if same else zero_padding(value, valid)
        return KeyValues(
            keys=_heads(self.key(key), self.num_kv_heads),
            values=_heads(self.value(value), self.num_kv_heads),
            valid=valid,
            positions=positions,
        )

    def attend(
        self,
        query: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        query_positions: Tensor | None = None,
    ) -> Tensor:
        """What each query gathers from a memory; see ``forward``."""
        keys, values, valid = memory.keys, memory.values, memory.valid
        at_query = _indices(query.shape[1], query) if query_positions is None else query_positions
        at_key = _indices(keys.shape[2], keys) if memory.positions is None else memory.positions
        queries = _heads(self.query(query), self.num_heads)
        queries, keys = self.position.rotate(queries, keys, at_query, at_key)
        # Copied to every query head here, since few fused kernels share heads under a mask.
        share = self.num_heads // self.num_kv_heads
        keys, values = _repeated(keys, share), _repeated(values, share)

        bias = self.position.bias(queries, keys, at_query, at_key)
        allowed, bias = restrictions(valid, mask, bias)
        dot = None
        if self.record is None and not self.position.offsets_values:
            dot = self.scorer.as_dot_product(queries, keys)
        # Kernels know one causal mask, that of elements in order, and only without another mask.
        in_order = query_positions is None and memory.positions is None
        kernel_causal = causal and in_order and dot is not None and allowed is None and bias is None
        if causal and not kernel_causal:
            past = at_key[:, None, None, :] <= at_query[:, None, :, None]
            allowed = past if allowed is None else allowed & past

        reachable = None
        if allowed is not None:
            # A softmax over nothing is 0/0, and its gradient NaN even where the result is thrown
            # away. So a query with nothing to attend to attends to all, and is then set to zero.
            reachable = allowed.any(dim=-1, keepdim=True)
            allowed = allowed | ~reachable
        if dot is not None:
            context = functional.scaled_dot_product_attention(
                dot[0],
                dot[1],
                values,
                attn_mask=kernel_mask(allowed, bias, dot[0].dtype),
                dropout_p=self.dropout if self.training else 0.0,
                is_causal=kernel_causal,
                scale=dot[2],
            )
        else:
            weights = self._weights(queries, keys, allowed, bias, reachable).to(values.dtype)
            context = weights @ values
            offset = self.position.value_offset(weights, at_query, at_key)
            context = context if offset is None else context + offset
        if reachable is None:
            return self._output(context)
        output = self._output(torch.where(reachable, context, 0))
        return torch.where(reachable.any(dim=1), output, 0)  # its bias is not zero

    def _weights(
        self,
        queries: Tensor,
        keys: Tensor,
        allowed: Tensor | None,
        bias: Tensor | None,
        reachable: Tensor | None,
    ) -> Tensor:
        """Weights ``[batch, heads, query, key]`` after dropout; recorded as they are before it."""
        scores: Tensor = self.scorer(queries, keys)
        if bias is not None:
            scores = scores + bias
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(dim=-1)
        if reachable is not None:
            weights = torch.where(reachable, weights, 0)
        if self.record is not None:
            self.record.append(weights.detach())
        return functional.dropout(weights, self.dropout, self.training)

    def _output(self, context: Tensor) -> Tensor:
        # [batch, heads, query, value_head_dim] -> [batch, query, heads * value_head_dim]
        output: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return output


def _indices(count: int, like: Tensor) -> Tensor:
    """Positions ``[1, count]`` of elements that come in order, where ``like`` is."""
    return torch.arange(count, device=like.device).unsqueeze(0)


def _heads(x: Tensor, heads: int) -> Tensor:
    """``[batch, n, heads * head_dim]`` as ``[batch, heads, n, head_dim]``."""
    return x.view(*x.shape[:2], heads, x.shape[2] // heads).transpose(1, 2)


def _repeated(x: Tensor, times: int) -> Tensor:
    """``[batch, kv_heads, n, head_dim]`` with each head ``times`` times in succession."""
    return x.unsqueeze(2).expand(-1, -1, times, -1, -1).flatten(1, 2) if times > 1 else x


@contextmanager
def record_weights(model: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Collects the attention weights of ``model`` for as long as the context is open.

    Args:
        model: any module that holds ``Attention`` modules, or is one.

    Yields:
        By module name, the weights of every call so far, each ``[batch, heads, query, key]``,
        before dropout and without gradient.
    """
    attentions = {
        name: module for name, module in model.named_modules() if isinstance(module, Attention)
    }
    weights: dict[str, list[Tensor]] = {name: [] for name in attentions}
    for name, attention in attentions.items():
        attention.record = weights[name]
    try:
        yield weights
    finally:
        for attention in attentions.values():
            attention.record = None
