"""A recurrent network that looks back at the input at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.attention import Attention
from seqtag.nn.blueprint import head_width
from seqtag.nn.decoders.decoder import Decoder, State
from seqtag.nn.decoders.lstm import LSTMState, SymbolLSTM
from seqtag.nn.key_values import KeyValues
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import Scorer


@dataclass
class LSTMAttentionState(State):
    """What the LSTM keeps, and the keys and values of the input.

    Attributes:
        symbols: of the LSTM.
        inputs: of the whole input.
    """

    symbols: LSTMState
    inputs: KeyValues

    def select(self, rows: Tensor) -> LSTMAttentionState:
        """See the base class."""
        return LSTMAttentionState(
            symbols=self.symbols.select(rows), inputs=self.inputs.select(rows)
        )


class LSTMAttentionDecoder(Decoder):
    """An LSTM with global attention to the input (Luong et al. 2015, section 3.1).

    The LSTM begins as that of ``LSTMDecoder``. At each step its output is the query; what
    attention gathers from the input and that output go through ``tanh(W [context; output])``
    (equation 5), from which the next symbol is scored (equation 6). What attention found is not
    fed into the next step, as Bahdanau et al. 2015 do (and Luong et al. in section 3.3): only so
    are all steps of training computed at once.

    Queries and keys are projected before they are scored, as in every ``Attention``. So the scorer
    ``dot`` is not the "dot" of Luong et al. but their "general" score ``h W s``, with
    ``W = W_query^T W_key`` and biases (in each head, where there are several). ``additive`` is
    the form of Bahdanau et al. (appendix A.1.2), of projected queries and keys: its maps come
    behind the projections, and two linear maps in a row are one.

    Args:
        memory_dim: width of the encoded input.
        classes: how many symbols there are, ``END`` included.
        dim: width of the symbols, of the LSTM's states, and of the context.
        num_layers: number of layers of the LSTM.
        num_heads: number of attention heads.
        num_kv_heads: number of key and value heads, a divisor of ``num_heads``.
        dropout: share of the embedded symbols, of each layer's outputs and of what the next symbol
            is scored from set to zero in training.
        attention_dropout: share of the attention weights set to zero in training.
        scorer: builds the scorer, ``scorer(head_dim=, num_heads=)``.

    Raises:
        ValueError: there is no layer; ``num_heads`` does not divide ``dim``, or ``num_kv_heads``
            does not divide ``num_heads``.
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
        dropout: float,
        attention_dropout: float,
        scorer: Callable[..., Scorer],
    ) -> None:
        super().__init__()
        head_dim = head_width(dim, num_heads, None)
        self.symbols = SymbolLSTM(
            memory_dim, classes=classes, dim=dim, num_layers=num_layers, dropout=dropout
        )
        self.cross_attention = Attention(
            query_dim=dim,
            key_dim=memory_dim,
            value_dim=memory_dim,
            output_dim=dim,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            head_dim=head_dim,
            value_head_dim=head_dim,
            scorer=scorer(head_dim=head_dim, num_heads=num_heads),
            position=Position(dim=dim, num_heads=num_heads, head_dim=head_dim, num_layers=1),
            dropout=attention_dropout,
            bias=True,
        )
        self.combine = nn.Linear(2 * dim, dim)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(dim, classes)

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        """Logits ``[batch, target, classes]``; see ``Decoder.forward``."""
        state = self.start(memory, layout)
        outputs, _ = self.symbols(target_in, state.symbols)
        return self._logits(outputs, state.inputs)

    def start(self, memory: Tensor, layout: Layout) -> LSTMAttentionState:
        """See ``Decoder.start``."""
        valid = layout.valid if layout.has_padding else None
        return LSTMAttentionState(
            symbols=self.symbols.start(memory, layout),
            inputs=self.cross_attention.remember(memory, memory, valid=valid),
        )

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits ``[batch, classes]`` and the next state; see ``Decoder.step``."""
        assert isinstance(state, LSTMAttentionState), "a state of another decoder"
        outputs, kept = self.symbols(symbols.unsqueeze(1), state.symbols)
        logits = self._logits(outputs, state.inputs).squeeze(1)
        return logits, LSTMAttentionState(symbols=kept, inputs=state.inputs)

    def _logits(self, outputs: Tensor, inputs: KeyValues) -> Tensor:
        """Of the LSTM's outputs ``[batch, target, dim]``."""
        context = self.cross_attention.attend(outputs, inputs)
        combined = self.combine(torch.cat((context, outputs), dim=-1)).tanh()
        logits: Tensor = self.output(self.dropout(combined))
        return logits
