"""The plain recurrent network."""

from __future__ import annotations

from torch import nn

from seqtag.nn.encoders.recurrent import RecurrentEncoder


class RNNEncoder(RecurrentEncoder):
    """``h_t = tanh(W x_t + U h_(t-1) + b)`` (Elman 1990; see ``RecurrentEncoder``)."""

    cell = nn.RNN
