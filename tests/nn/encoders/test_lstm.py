import torch

from seqtag.nn.encoders.lstm import LSTMEncoder


def test_forget_gates_start_open_by_one() -> None:
    torch.manual_seed(0)
    encoder = LSTMEncoder(6, dim=6, num_layers=2, bidirectional=True, dropout=0.0)
    for name, parameter in encoder.network.named_parameters():
        if name.startswith("bias_ih"):
            assert parameter[3:6].tolist() == [1, 1, 1]
        elif name.startswith("bias_hh"):
            assert parameter[3:6].tolist() == [0, 0, 0]
