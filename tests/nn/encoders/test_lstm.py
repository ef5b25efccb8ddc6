import pytest
import torch

from seqtag.nn.decoders.lstm import LSTMDecoder
from seqtag.nn.encoders.lstm import LSTMEncoder

ENCODER = LSTMEncoder(6, dim=6, num_layers=2, bidirectional=True, dropout=0.0)
DECODER = LSTMDecoder(6, classes=4, dim=3, num_layers=2, dropout=0.0)


@pytest.mark.parametrize(
    ("network", "reads"),
    [(ENCODER.network, 4), (DECODER.symbols.lstm, 2)],
    ids=["encoder", "decoder"],
)
def test_forget_gates_start_open_by_one_and_no_other_gate_does(network, reads: int) -> None:
    found = dict(network.named_parameters())
    starts = [name for name in found if name.startswith("bias_ih")]
    assert len(starts) == reads
    for name in starts:
        one, other = found[name], found[name.replace("bias_ih", "bias_hh")]
        assert one[3:6].tolist() == [1, 1, 1]
        assert other[3:6].tolist() == [0, 0, 0]
        # A width of 3 draws the others from -1 / sqrt(3) on, up to 1 / sqrt(3).
        for gate in (slice(0, 3), slice(6, 12)):
            assert (one[gate].abs() < 0.58).all()
            assert torch.cat((one[gate], other[gate])).unique().numel() > 2
