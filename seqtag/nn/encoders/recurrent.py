"""What the recurrent networks have in common."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqtag.batch import Layout
from seqtag.nn.encoders.encoder import Encoder, check_sizes, projection
from seqtag.nn.padding import zero_padding


class RecurrentEncoder(Encoder):
    """Reads element after element, one way or both ways; each kind of cell is a class of its own.

    Args:
        input_dim: width of the elements that come in.
        dim: width of the elements that come out, half of it from each direction where there are
            two.
        num_layers: number of layers.
        bidirectional: whether a second network reads from right to left.
        dropout: share of the outputs of each layer set to zero in training.

    Attributes:
        cell: the network that torch has for the kind.

    Raises:
        ValueError: ``bidirectional`` with an odd ``dim``, or a size is less than 1.
    """

    cell: ClassVar[type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]]

    def __init__(
        self, input_dim: int, *, dim: int, num_layers: int, bidirectional: bool, dropout: float
    ) -> None:
        super().__init__()
        check_sizes(1, {"dim": dim, "num_layers": num_layers})
        if bidirectional and dim % 2:
            raise ValueError(
                f"encoder.dim is {dim}; it must be even, as encoder.bidirectional=true shares it "
                "between 2 directions"
            )
        self.output_dim = dim
        self.project = projection(input_dim, dim)
        self.network = self.cell(
            dim,
            dim // 2 if bidirectional else dim,
            num_layers=num_layers,
            batch_first=True,
            bidirectional=bidirectional,
            dropout=dropout if num_layers > 1 else 0.0,  # torch drops between layers only
        )
        self.dropout = nn.Dropout(dropout)

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
        read = self.network(packed)[0]
        states, _ = pad_packed_sequence(read, batch_first=True, total_length=source)
        dropped: Tensor = self.dropout(states)
        return dropped
