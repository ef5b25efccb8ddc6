"""A recurrent network."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqtag.batch import Layout
from seqtag.nn.encoders.encoder import Encoder, projection
from seqtag.nn.padding import zero_padding


class LSTMEncoder(Encoder):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), read one way or both ways.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements that come out, half of it from each direction where there are
            two.
        num_layers: number of layers.
        bidirectional: whether a second network reads from right to left.
        dropout: share of the outputs of each layer set to zero in training.

    Raises:
        ValueError: ``bidirectional`` with an odd ``dim``.
    """

    def __init__(
        self, input_dim: int, *, dim: int, num_layers: int, bidirectional: bool, dropout: float
    ) -> None:
        super().__init__()
        if bidirectional and dim % 2:
            raise ValueError(f"a bidirectional LSTM shares dim between 2 directions; {dim} is odd")
        self.output_dim = dim
        self.project = projection(input_dim, dim)
        self.lstm = nn.LSTM(
            dim,
            dim // 2 if bidirectional else dim,
            num_layers=num_layers,
            batch_first=True,
            bidirectional=bidirectional,
            dropout=dropout if num_layers > 1 else 0.0,  # torch drops between layers only
        )
        self.dropout = nn.Dropout(dropout)
        self._open_forget_gates()

    def _open_forget_gates(self) -> None:
        """Starts the forget bias at 1, to remember by default (Jozefowicz et al. 2015)."""
        hidden = self.lstm.hidden_size
        with torch.no_grad():
            for name, parameter in self.lstm.named_parameters():
                # Two biases are added: input, forget, cell and output gate in each.
                if name.startswith("bias_ih"):
                    parameter[hidden : 2 * hidden] = 1.0
                elif name.startswith("bias_hh"):
                    parameter[hidden : 2 * hidden] = 0.0

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """Elements with their context ``[batch, source, dim]``; see ``Encoder.forward``."""
        x = self.project(zero_padding(x, layout.valid))
        source = x.shape[1]
        if source == 0:
            return x
        # Packing refuses empty rows: they read one zero, and what it gives stays at padding.
        packed = pack_padded_sequence(
            x, layout.lengths_cpu.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=source)
        dropped: Tensor = self.dropout(states)
        return dropped
