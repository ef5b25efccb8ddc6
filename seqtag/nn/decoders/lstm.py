"""A recurrent network that is told the input once, as one vector."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.nn.decoders.decoder import Decoder, State
from seqtag.nn.forget_gates import open_forget_gates
from seqtag.nn.linear import unit_linear


@dataclass
class LSTMState(State):
    """All that an LSTM keeps of the input and of the symbols so far.

    Attributes:
        hidden: ``[layers, batch, dim]``.
        cell: ``[layers, batch, dim]``.
    """

    hidden: Tensor
    cell: Tensor

    def select(self, rows: Tensor) -> LSTMState:
        """See the base class."""
        return LSTMState(hidden=self.hidden[:, rows], cell=self.cell[:, rows])


class LSTMDecoder(Decoder):
    """Encoder and decoder without attention (Sutskever et al. 2014; Cho et al. 2014).

    The input passes through one vector of width ``dim``, whatever its length, and is never looked
    at again. That is the bottleneck which attention was made for (Bahdanau et al. 2015, section 1).

    Args:
        memory_dim: width of the encoded input.
        classes: how many symbols there are, ``END`` included.
        dim: width of the symbols, of the one vector, and of the LSTM's states.
        num_layers: number of layers.
        dropout: share of the embedded symbols and of each layer's outputs set to zero in training.

    Raises:
        ValueError: there is no layer.
    """

    def __init__(
        self, memory_dim: int, *, classes: int, dim: int, num_layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.symbols = SymbolLSTM(
            memory_dim, classes=classes, dim=dim, num_layers=num_layers, dropout=dropout
        )
        self.output = nn.Linear(dim, classes)

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        """Logits ``[batch, target, classes]``; see ``Decoder.forward``."""
        outputs, _ = self.symbols(target_in, self.symbols.start(memory, layout))
        logits: Tensor = self.output(outputs)
        return logits

    def start(self, memory: Tensor, layout: Layout) -> LSTMState:
        """See ``Decoder.start``."""
        return self.symbols.start(memory, layout)

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits ``[batch, classes]`` and the next state; see ``Decoder.step``."""
        assert isinstance(state, LSTMState), "a state of another decoder"
        outputs, state = self.symbols(symbols.unsqueeze(1), state)
        return self.output(outputs.squeeze(1)), state


class SymbolLSTM(nn.Module):
    """Reads the symbols so far, and begins with what one vector tells it of the input.

    Args:
        memory_dim: width of the encoded input.
        classes: how many symbols there are.
        dim: width of the symbols, of the one vector, and of the states.
        num_layers: number of layers.
        dropout: share of the embedded symbols and of each layer's outputs set to zero in training.

    Raises:
        ValueError: there is no layer.
    """

    def __init__(
        self, memory_dim: int, *, classes: int, dim: int, num_layers: int, dropout: float
    ) -> None:
        super().__init__()
        for name, size in {"dim": dim, "num_layers": num_layers}.items():
            if size < 1:
                raise ValueError(f"decoder.{name} is {size}; it must be at least 1")
        self.embedding = nn.Embedding(classes, dim)
        # Unit variance, for the input must be heard from the first step on: with the smaller
        # weights of nn.Linear, training first learns outputs without it, and long stays there.
        self.summary = unit_linear(2 * memory_dim, dim)
        self.first_states = unit_linear(dim, 2 * num_layers * dim)
        self.lstm = nn.LSTM(
            dim,
            dim,
            num_layers=num_layers,
            batch_first=True,
            dropout=dropout if num_layers > 1 else 0.0,  # torch drops between layers only
        )
        self.dropout = nn.Dropout(dropout)
        open_forget_gates(self.lstm)

    def start(self, memory: Tensor, layout: Layout) -> LSTMState:
        """The states before the first symbol.

        An encoder that reads one way has read all of the input at its last element, one that
        reads the other way at its first; so the vector is made of these two, and of zeros where
        the input is empty.

        Args:
            memory: ``[batch, source, memory_dim]``; anything at padding.
            layout: which elements of the memory are real.
        """
        vector = self.summary(_ends(memory, layout)).tanh()  # [batch, dim]
        states = self.first_states(vector).unflatten(1, (2, self.lstm.num_layers, -1))
        hidden, cell = states.permute(1, 2, 0, 3).contiguous()  # each [layers, batch, dim]
        return LSTMState(hidden=hidden.tanh(), cell=cell)

    def forward(self, symbols: Tensor, state: LSTMState) -> tuple[Tensor, LSTMState]:
        """Outputs ``[batch, target, dim]`` for symbols ``[batch, target]``, and the next state."""
        # Where precision is mixed, the states come from a linear layer in less of it than the
        # symbols, which come from a table; the kernels want one precision, the lesser.
        x = self.dropout(self.embedding(symbols)).to(state.hidden.dtype)
        outputs, (hidden, cell) = self.lstm(x, (state.hidden, state.cell))
        return self.dropout(outputs), LSTMState(hidden=hidden, cell=cell)


def _ends(memory: Tensor, layout: Layout) -> Tensor:
    """The first and the last real element of each row side by side, ``[batch, 2 * memory_dim]``."""
    batch, source, dim = memory.shape
    if source == 0:
        return memory.new_zeros(batch, 2 * dim)
    last = (layout.lengths - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, dim)
    ends = torch.cat((memory[:, :1], memory.gather(1, last)), dim=1).flatten(1)
    return torch.where((layout.lengths > 0).unsqueeze(1), ends, 0)
