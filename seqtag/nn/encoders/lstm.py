"""Long short-term memory."""

from __future__ import annotations

import torch
from torch import nn

from seqtag.nn.encoders.recurrent import RecurrentEncoder


class LSTMEncoder(RecurrentEncoder):
    """Long short-term memory (Hochreiter and Schmidhuber 1997; see ``RecurrentEncoder``)."""

    cell = nn.LSTM

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
        self._open_forget_gates()

    def _open_forget_gates(self) -> None:
        """Starts the forget bias at 1, to remember by default (Jozefowicz et al. 2015)."""
        hidden = self.network.hidden_size
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                # Two biases are added: input, forget, cell and output gate in each.
                if name.startswith("bias_ih"):
                    parameter[hidden : 2 * hidden] = 1.0
                elif name.startswith("bias_hh"):
                    parameter[hidden : 2 * hidden] = 0.0
