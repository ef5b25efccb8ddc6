"""What every encoder promises, whatever it is made of."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.configuration import build as build_node
from seqtag.configuration import compose, options
from seqtag.nn.encoders.attention import AttentionEncoder
from seqtag.nn.encoders.encoder import Encoder
from seqtag.nn.encoders.lstm import LSTMEncoder
from seqtag.nn.encoders.window import WindowEncoder
from seqtag.nn.positions.position import Position
from seqtag.nn.positions.rotary import Rotary
from seqtag.nn.positions.sinusoidal import Sinusoidal
from seqtag.nn.scorers import DotProductScorer

DIM = 8
ATTENTION = partial(
    AttentionEncoder,
    dim=DIM,
    num_layers=2,
    num_heads=2,
    num_kv_heads=1,
    head_dim=None,
    feedforward_dim=12,
    dropout=0.1,
    attention_dropout=0.1,
    position=Position,
    scorer=partial(DotProductScorer, scaled=True),
)
SMALL = {
    "dim": DIM,
    "num_heads": 2,
    "num_kv_heads": 2,
    "feedforward_dim": 12,
    "dropout": 0.1,
    "attention_dropout": 0.1,
}


def shipped(override: str) -> Callable[[int], Encoder]:
    """The encoder of a yaml, made small; it is tested by being there."""
    node = compose("train", [override])["encoder"]
    node |= {key: value for key, value in SMALL.items() if key in node}
    made: Callable[[int], Encoder] = build_node(node, kinds=(nn.Module,), name="encoder")
    return made


OPTIONS = [
    f"{group}={name}"
    for group in ("encoder", "encoder/position", "encoder/scorer")
    for name in options(group)
]
ENCODERS: dict[str, Callable[[int], Encoder]] = {
    **{option: shipped(option) for option in OPTIONS},
    "attention": ATTENTION,
    "attention, sinusoidal": partial(ATTENTION, position=Sinusoidal),
    "attention, rotary": partial(ATTENTION, position=Rotary),
    "attention alone, wide heads": partial(ATTENTION, feedforward_dim=0, head_dim=6),
    "lstm": partial(LSTMEncoder, dim=DIM, num_layers=2, bidirectional=True, dropout=0.1),
    "lstm, one way": partial(LSTMEncoder, dim=DIM, num_layers=1, bidirectional=False, dropout=0.1),
    "window": partial(WindowEncoder, dim=DIM, num_layers=2, radius=2, dropout=0.1),
    "window, no neighbour": partial(WindowEncoder, dim=DIM, num_layers=2, radius=0, dropout=0.1),
}
every_encoder = pytest.mark.parametrize("make", ENCODERS.values(), ids=ENCODERS.keys())
LENGTHS = torch.tensor([5, 2, 0, 1])


def build(make: Callable[[int], Encoder], input_dim: int = DIM) -> Encoder:
    torch.manual_seed(0)
    encoder = make(input_dim)
    with torch.no_grad():
        for parameter in encoder.parameters():
            # Biases start at zero and norms at one, which would hide what training brings out.
            parameter += 0.1 * torch.randn_like(parameter)
    return encoder.eval()


def elements(input_dim: int = DIM) -> Tensor:
    torch.manual_seed(1)
    return torch.randn(len(LENGTHS), int(LENGTHS.max()), input_dim)


@every_encoder
@pytest.mark.parametrize("input_dim", [DIM, 3])
@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_padding_changes_no_output_and_no_gradient(make, input_dim: int, poison: float) -> None:
    encoder, layout = build(make, input_dim), Layout.of(LENGTHS)

    def run(content: float) -> list[Tensor]:
        valid = layout.valid.unsqueeze(-1)
        x = torch.where(valid, elements(input_dim), content).requires_grad_()
        encoder.zero_grad()
        states = encoder(x, layout)
        assert states.isfinite().all()
        states[layout.valid].square().sum().backward()
        gradients = [x.grad, *(parameter.grad for parameter in encoder.parameters())]
        return [states[layout.valid], *(g for g in gradients if g is not None)]

    poisoned, clean = run(poison), run(0.0)
    assert len(clean) > 3
    for one, other in zip(poisoned, clean, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@every_encoder
@torch.no_grad()
def test_a_row_alone_gives_what_it_gives_in_a_batch(make) -> None:
    encoder, x = build(make), elements()
    together = encoder(x, Layout.of(LENGTHS))
    assert together.shape == (4, 5, encoder.output_dim)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = encoder(x[row : row + 1, :length], Layout.of(LENGTHS[row : row + 1]))
        assert alone.shape == (1, length, encoder.output_dim)
        torch.testing.assert_close(alone[0], together[row, :length])


@every_encoder
def test_a_step_of_training_lowers_the_loss(make) -> None:
    encoder, x, layout = build(make, 3), elements(3), Layout.of(LENGTHS)
    gold = torch.randn(4, 5, encoder.output_dim)

    def loss() -> Tensor:
        return (encoder(x, layout) - gold)[layout.valid].square().mean()

    before = loss()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
    before.backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())
    optimizer.step()
    assert loss() < before


@every_encoder
def test_dropout_acts_in_training_only(make) -> None:
    encoder, x, layout = build(make), elements(), Layout.of(LENGTHS)
    assert encoder(x, layout).equal(encoder(x, layout))
    if not any(isinstance(module, nn.Dropout) for module in encoder.modules()):
        return
    encoder.train()
    assert not encoder(x, layout).equal(encoder(x, layout))


@every_encoder
@torch.no_grad()
def test_half_precision_follows_single(make) -> None:
    encoder, x, layout = build(make), elements(), Layout.of(LENGTHS)
    expected = encoder(x, layout)[layout.valid]
    half = encoder.bfloat16()(x.bfloat16(), layout)[layout.valid]
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), expected, atol=0.1, rtol=0.1)


@every_encoder
@torch.no_grad()
def test_a_batch_of_empty_rows_gives_no_elements(make) -> None:
    layout = Layout.of(torch.tensor([0, 0]))
    assert build(make)(torch.zeros(2, 0, DIM), layout).shape == (2, 0, DIM)


@pytest.mark.parametrize("make", [ENCODERS[name] for name in ENCODERS if name not in OPTIONS])
def test_equal_widths_need_no_projection(make) -> None:
    same = sum(parameter.numel() for parameter in build(make, DIM).parameters())
    other = sum(parameter.numel() for parameter in build(make, 3).parameters())
    assert other - same == 3 * DIM + DIM
