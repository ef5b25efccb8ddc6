"""How the memory of an LSTM starts out."""

from __future__ import annotations

import torch
from torch import nn


def open_forget_gates(network: nn.LSTM) -> None:
    """Start the bias of each forget gate at 1, to remember by default.

    Jozefowicz et al. 2015, section 2.2. Torch adds two biases, each of the input, forget, cell and
    output gate one after the other: of a forget gate, one starts at 1 and the other at 0.
    """
    hidden = network.hidden_size
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith("bias"):
                parameter[hidden : 2 * hidden] = 1.0 if name.startswith("bias_ih") else 0.0
