"""Long short-term memory."""

from __future__ import annotations

from torch import nn

from seqtag.nn.encoders.recurrent import RecurrentEncoder
from seqtag.nn.forget_gates import open_forget_gates


class LSTMEncoder(RecurrentEncoder):
    """Long short-term memory (Hochreiter and Schmidhuber 1997; see ``RecurrentEncoder``)."""

    cell = nn.LSTM
    network: nn.LSTM

    def __init__(
        self, input_dim: int, *, dim: int, num_layers: int, bidirectional: bool, dropout: float
    ) -> None:
        super().__init__(
            input_dim,
            dim=dim,
            num_layers=num_layers,
            bidirectional=bidirectional,
            dropout=dropout,
        )
        open_forget_gates(self.network)
