"""Self-attention over the symbols so far, attention to the input, fully-connected layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqtag.batch import Layout
from seqtag.nn.blueprint import Blueprint
from seqtag.nn.decoders.decoder import Decoder, State
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
    """The decoder of Vaswani et al. 2017, its norms where ``pre_norm`` says.

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
        pre_norm: whether a norm stands before each sublayer and one behind the last layer (Xiong
            et al. 2020); else one behind each sum (Vaswani et al. 2017, section 3.1).
        dropout: share of what each sublayer adds set to zero in training.
        feedforward_dropout: share of the hidden fully-connected layer, likewise.
        attention_dropout: share of the attention weights, likewise.
        input_dropout: share of the embedded symbols with their positions, likewise.
        position: builds that of the self-attention, ``position(dim=, num_heads=, head_dim=,
            num_layers=)``.
        cross_position: builds that of the cross-attention, likewise: what it knows of how far apart
            a place in the output and one in the input are. Vaswani et al. have none there; it
            helps where input and output run in parallel, as spelling and sound do.
        scorer: builds the scorer of a layer, ``scorer(head_dim=, num_heads=)``.
        norm: builds a norm, ``norm(dim)``.
        activation: builds the activation of the hidden layer, ``activation()``.

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
        pre_norm: bool,
        dropout: float,
        feedforward_dropout: float,
        attention_dropout: float,
        input_dropout: float,
        position: Callable[..., Position],
        cross_position: Callable[..., Position],
        scorer: Callable[..., Scorer],
        norm: Callable[[int], nn.Module],
        activation: Callable[[], nn.Module],
    ) -> None:
        super().__init__()
        blueprint = Blueprint(
            dim=dim,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            head_dim=head_dim,
            feedforward_dim=feedforward_dim,
            pre_norm=pre_norm,
            norm=norm,
            activation=activation,
            scorer=scorer,
            dropout=dropout,
            feedforward_dropout=feedforward_dropout,
            attention_dropout=attention_dropout,
        )
        if num_layers < 1:
            raise ValueError(
                f"decoder.num_layers is {num_layers}; without a layer the input would not be read"
            )
        self.scale = math.sqrt(dim)
        self.embedding = nn.Embedding(classes, dim)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        self.dropout = nn.Dropout(input_dropout)
        self.position = blueprint.position(position, num_layers=num_layers)
        self.cross_position = blueprint.position(cross_position, num_layers=num_layers)
        self.longest = self.position.longest
        if type(self.cross_position).embed is not Position.embed:
            raise ValueError(
                f"decoder.cross_position is {type(self.cross_position).__name__}, which is written "
                "into the elements; between input and output only what compares places has a "
                "meaning, such as rotary, or none"
            )

        self.end = nn.Parameter(torch.randn(memory_dim))
        self.layers = nn.ModuleList(
            DecoderLayer(
                blueprint,
                memory_dim=memory_dim,
                position=self.position.layer(index),
                cross_position=self.cross_position.layer(index),
            )
            for index in range(num_layers)
        )
        self.norm = blueprint.last_norm()
        self.output = nn.Linear(dim, classes)

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        """Logits ``[batch, target, classes]``; see ``Decoder.forward``."""
        positions = torch.arange(target_in.shape[1], device=target_in.device).unsqueeze(0)
        x = self._embed(target_in, positions)
        for layer, source in zip(self._layers(), self._inputs(memory, layout), strict=True):
            x, _ = layer(x, known=None, inputs=source, causal=True, positions=None)
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
            known = state.symbols[index] if state.length else None
            x, symbols_so_far = layer(
                x, known=known, inputs=source, causal=False, positions=positions
            )
            memories.append(symbols_so_far)
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
    """Self-attention, then cross-attention, then a fully-connected sublayer.

    Args:
        blueprint: what its parts are.
        memory_dim: width of the encoded input.
        position: that of this layer's self-attention.
        cross_position: that of this layer's cross-attention.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        *,
        memory_dim: int,
        position: Position,
        cross_position: Position,
    ) -> None:
        super().__init__()
        self.self_residual, self.cross_residual = blueprint.residual(), blueprint.residual()
        self.self_attention = blueprint.attention(key_dim=blueprint.dim, position=position)
        self.cross_attention = blueprint.attention(key_dim=memory_dim, position=cross_position)
        self.feedforward = blueprint.feedforward()

    def forward(
        self,
        x: Tensor,
        *,
        known: KeyValues | None,
        inputs: KeyValues,
        causal: bool,
        positions: Tensor | None,
    ) -> tuple[Tensor, KeyValues]:
        """One layer.

        Args:
            x: ``[batch, target, dim]``.
            known: keys and values of the symbols before ``x``; None where there are none.
            inputs: keys and values of the encoded input.
            causal: whether each of ``x`` sees only the symbols up to its own place.
            positions: ``[1, target]`` of ``x``; None for 0, 1, 2, ...

        Returns:
            ``[batch, target, dim]``, and keys and values of all symbols, those of ``x`` included.
        """
        # Made of what the sublayer is given, once: the norm of x, or x itself with post norm.
        given = self.self_residual.before(x)
        symbols = self.self_attention.remember(given, given)
        symbols = symbols if known is None else known.extend(symbols)
        attended = self.self_attention.attend(
            given, symbols, causal=causal, query_positions=positions
        )
        x = self.self_residual.after(x, attended)
        attended = self.cross_attention.attend(
            self.cross_residual.before(x), inputs, query_positions=positions
        )
        x = self.feedforward(self.cross_residual.after(x, attended))
        return x, symbols
