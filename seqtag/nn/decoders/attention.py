"""Self-attention over the symbols so far, attention to the input, fully-connected layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.attention import Attention
from seqtag.nn.decoders.decoder import Decoder, State
from seqtag.nn.encoders.attention import feedforward, head_width
from seqtag.nn.key_values import KeyValues
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


@dataclass
class AttentionState(State):
    """Keys and values of the input and of the symbols so far, layer by layer.

    Attributes:
        inputs: of each layer.
        symbols: of each layer; empty before the first step.
        length: how many steps were taken.
    """

    inputs: list[KeyValues]
    symbols: list[KeyValues]
    length: int

    def select(self, rows: Tensor) -> AttentionState:
        """See the base class."""
        return AttentionState(
            inputs=[memory.select(rows) for memory in self.inputs],
            symbols=[memory.select(rows) for memory in self.symbols],
            length=self.length,
        )


class AttentionDecoder(Decoder):
    """The decoder of Vaswani et al. 2017, normalised before each sublayer (Xiong et al. 2020).

    A learnt vector stands behind the last element of the input. To an encoder that knows distances
    only, the elements of ``b b`` are like that of ``b``: there must be an end to look for.

    Args:
        memory_dim: width of the encoded input.
        classes: how many symbols there are, ``END`` included.
        dim: width of the symbols inside.
        num_layers: number of layers, each self-attention, cross-attention and fully-connected.
        num_heads: number of attention heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        head_dim: width of queries, keys and values in each head; None for ``dim / num_heads``.
        feedforward_dim: width of the hidden fully-connected layer; 0 for attention alone.
        dropout: share of the embedded symbols, of what each sublayer adds, and of the hidden layer
            set to zero in training.
        attention_dropout: share of the attention weights set to zero in training.
        position: builds that of the self-attention, ``position(dim=, num_heads=, head_dim=,
            num_layers=)``.
        cross_position: builds that of the cross-attention, likewise: what it knows of how far apart
            a place in the output and one in the input are. Vaswani et al. have none there; it
            helps where input and output run in parallel, as spelling and sound do.
        scorer: builds the scorer of a layer, ``scorer(head_dim=, num_heads=)``.

    Raises:
        ValueError: ``head_dim`` is None and ``num_heads`` does not divide ``dim``, or
            ``num_kv_heads`` does not divide ``num_heads``; there is no layer; ``cross_position``
            is of a kind that is written into the elements, which cross-attention takes as they
            come.
    """

    def __init__(
        self,
        memory_dim: int,
        *,
        classes: int,
        dim: int,
        num_layers: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int | None,
        feedforward_dim: int,
        dropout: float,
        attention_dropout: float,
        position: Callable[..., Position],
        cross_position: Callable[..., Position],
        scorer: Callable[..., Scorer],
    ) -> None:
        super().__init__()
        head_dim = head_width(dim, num_heads, head_dim)
        if num_layers < 1:
            raise ValueError(
                f"decoder.num_layers is {num_layers}; without a layer the input would not be read"
            )
        self.scale = math.sqrt(dim)
        self.embedding = nn.Embedding(classes, dim)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        self.dropout = nn.Dropout(dropout)
        sizes = {"dim": dim, "num_heads": num_heads, "head_dim": head_dim, "num_layers": num_layers}
        self.position = position(**sizes)
        self.cross_position = cross_position(**sizes)
        if type(self.cross_position).embed is not Position.embed:
            raise ValueError(
                f"decoder.cross_position is {type(self.cross_position).__name__}, which is written "
                "into the elements; between input and output only what compares places has a "
                "meaning, such as rotary, or none"
            )

        def attention(key_dim: int, where: Position) -> Attention:
            return Attention(
                query_dim=dim,
                key_dim=key_dim,
                value_dim=key_dim,
                output_dim=dim,
                num_heads=num_heads,
                num_kv_heads=num_kv_heads,
                head_dim=head_dim,
                value_head_dim=head_dim,
                scorer=scorer(head_dim=head_dim, num_heads=num_heads),
                position=where,
                dropout=attention_dropout,
                bias=True,
            )

        self.end = nn.Parameter(torch.randn(memory_dim))
        self.layers = nn.ModuleList(
            DecoderLayer(
                dim=dim,
                self_attention=attention(dim, self.position.layer(index)),
                cross_attention=attention(memory_dim, self.cross_position.layer(index)),
                feedforward_dim=feedforward_dim,
                dropout=dropout,
            )
            for index in range(num_layers)
        )
        self.norm = nn.LayerNorm(dim)
        self.output = nn.Linear(dim, classes)

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        """Logits ``[batch, target, classes]``; see ``Decoder.forward``."""
        positions = torch.arange(target_in.shape[1], device=target_in.device).unsqueeze(0)
        x = self._embed(target_in, positions)
        for layer, source in zip(self._layers(), self._inputs(memory, layout), strict=True):
            symbols = layer.remember(x)
            x = layer(x, symbols=symbols, inputs=source, causal=True, positions=None)
        return self._logits(x)

    def start(self, memory: Tensor, layout: Layout) -> AttentionState:
        """See ``Decoder.start``."""
        return AttentionState(inputs=self._inputs(memory, layout), symbols=[], length=0)

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits ``[batch, classes]`` and the next state; see ``Decoder.step``."""
        assert isinstance(state, AttentionState), "a state of another decoder"
        positions = torch.full((1, 1), state.length, device=symbols.device)
        x = self._embed(symbols.unsqueeze(1), positions)  # [batch, 1, dim]
        memories = []
        for index, (layer, source) in enumerate(zip(self._layers(), state.inputs, strict=True)):
            new = layer.remember(x)
            known = state.symbols[index].extend(new) if state.length else new
            x = layer(x, symbols=known, inputs=source, causal=False, positions=positions)
            memories.append(known)
        return self._logits(x).squeeze(1), AttentionState(state.inputs, memories, state.length + 1)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]

    def _embed(self, symbols: Tensor, positions: Tensor) -> Tensor:
        embedded = self.position.embed(self.embedding(symbols) * self.scale, positions)
        dropped: Tensor = self.dropout(embedded)
        return dropped

    def _inputs(self, memory: Tensor, layout: Layout) -> list[KeyValues]:
        places = torch.arange(memory.shape[1] + 1, device=memory.device)
        lengths = layout.lengths.unsqueeze(1)
        behind = (places == lengths).unsqueeze(-1)
        memory = torch.where(behind, self.end, functional.pad(memory, (0, 0, 0, 1)))
        valid = places <= lengths if layout.has_padding else None
        return [
            layer.cross_attention.remember(memory, memory, valid=valid) for layer in self._layers()
        ]

    def _logits(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(self.norm(x))
        return logits


class DecoderLayer(nn.Module):
    """``x + self_attention``, then ``x + cross_attention``, then ``x + fully_connected``.

    Args:
        dim: width of the symbols.
        self_attention: from ``dim`` to ``dim``.
        cross_attention: from ``dim`` to ``dim``, with keys and values of the encoded input.
        feedforward_dim: width of the hidden fully-connected layer; 0 for none.
        dropout: share of what each sublayer adds, and of the hidden layer, set to zero in training.
    """

    def __init__(
        self,
        *,
        dim: int,
        self_attention: Attention,
        cross_attention: Attention,
        feedforward_dim: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.self_norm, self.cross_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.self_attention, self.cross_attention = self_attention, cross_attention
        self.dropout = nn.Dropout(dropout)
        self.feedforward = feedforward(dim, feedforward_dim, dropout)

    def remember(self, x: Tensor) -> KeyValues:
        """Keys and values of symbols ``[batch, target, dim]``."""
        normed = self.self_norm(x)
        return self.self_attention.remember(normed, normed)

    def forward(
        self,
        x: Tensor,
        *,
        symbols: KeyValues,
        inputs: KeyValues,
        causal: bool,
        positions: Tensor | None,
    ) -> Tensor:
        """One layer.

        Args:
            x: ``[batch, target, dim]``.
            symbols: what ``remember`` gives of ``x``, and of the symbols before it.
            inputs: keys and values of the encoded input.
            causal: whether each of ``x`` sees only the symbols up to its own place.
            positions: ``[1, target]`` of ``x``; None for 0, 1, 2, ...

        Returns:
            ``[batch, target, dim]``.
        """
        attended = self.self_attention.attend(
            self.self_norm(x), symbols, causal=causal, query_positions=positions
        )
        x = x + self.dropout(attended)
        attended = self.cross_attention.attend(
            self.cross_norm(x), inputs, query_positions=positions
        )
        x = x + self.dropout(attended)
        return x if self.feedforward is None else x + self.feedforward(x)
