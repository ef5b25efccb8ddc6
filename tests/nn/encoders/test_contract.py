"""What every encoder promises, whatever it is made of."""

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.configuration import build as build_node
from seqtag.configuration import compose, config_directory, options
from seqtag.model import encoder_node
from seqtag.nn.encoders.encoder import Encoder

DIM = 8
SMALL = {
    "dim": DIM,
    "num_heads": 2,
    "num_kv_heads": 2,
    "feedforward_dim": 12,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "limit": 6,
}
PARTS = ("position", "scorer", "norm", "activation")
OPTIONS = [
    f"{group}={name}"
    for group in ("encoder", *(f"encoder/{part}" for part in PARTS))
    for name in options(group)
]
CHANGES: dict[str, dict[str, Any]] = {
    "encoder=attention, multi-query": {"num_kv_heads": 1},
    "encoder=attention, alone, wide heads": {"feedforward_dim": 0, "head_dim": 6},
    "encoder=attention, norms behind": {"pre_norm": False},
    "encoder=attention, tied": {"tied": True},
    "encoder=attention, near": {"radius": 1},
    "encoder=lstm, two layers": {"num_layers": 2},
    "encoder=lstm, one way": {"bidirectional": False},
    "encoder=window, all": {"radius": 9},
    "encoder=window_full, just long enough": {"limit": 5},
    "encoder=cnn, all it has": {
        "num_layers": 3,
        "kernel_sizes": [1, 9, 3],
        "dilation": 2,
        "global_pooling": True,
    },
}
"""Cases that no yaml is, as changes of one."""


@lru_cache
def stated(option: str) -> dict[str, Any]:
    """The node of an encoder of the shipped yamls, or of one with a part of theirs."""
    group, _, name = option.partition("=")
    if group == "encoder":
        return encoder_node(compose("train", [option]))
    part = group.removeprefix("encoder/")
    # The file alone, since to compose takes long.
    chosen = OmegaConf.load(config_directory() / group / f"{name}.yaml")
    return stated("encoder=attention") | {part: OmegaConf.to_container(chosen, resolve=True)}


def maker(case: str) -> Callable[[int], Encoder]:
    """What builds a small encoder; an option is tested by being there."""

    def make(input_dim: int) -> Encoder:
        node = deepcopy(stated(case.partition(",")[0]))
        node |= {key: value for key, value in SMALL.items() if key in node}
        node |= CHANGES.get(case, {})
        made: Encoder = build_node(node, input_dim, kinds=(nn.Module,), name="encoder")
        return made

    return make


ENCODERS = {case: maker(case) for case in (*OPTIONS, *CHANGES)}
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
def test_mixed_precision_follows_single(make) -> None:
    encoder, layout = build(make), Layout.of(LENGTHS)
    x = elements().requires_grad_()
    expected = encoder(x, layout)[layout.valid].detach()
    with torch.autocast("cpu", torch.bfloat16):
        states = encoder(x, layout)
    assert states.isfinite().all()
    mixed = states[layout.valid].float()
    # Of the largest, as numbers near zero are differences of larger ones.
    torch.testing.assert_close(mixed, expected, rtol=0, atol=0.03 * float(expected.abs().max()))
    mixed.square().sum().backward()
    for tensor in (x, *encoder.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


@every_encoder
@torch.no_grad()
def test_a_batch_of_empty_rows_gives_no_elements(make) -> None:
    layout = Layout.of(torch.tensor([0, 0]))
    assert build(make)(torch.zeros(2, 0, DIM), layout).shape == (2, 0, DIM)


@every_encoder
@torch.no_grad()
def test_a_longer_sequence_than_it_can_read_is_refused(make) -> None:
    encoder = build(make)
    longest = 40 if encoder.longest is None else encoder.longest
    x = torch.zeros(1, longest + 1, DIM)
    assert encoder(x[:, :longest], Layout.of(torch.tensor([longest]))).isfinite().all()
    if encoder.longest is not None:
        with pytest.raises(ValueError, match=rf"\b{longest + 1} elements"):
            encoder(x, Layout.of(torch.tensor([longest + 1])))


@every_encoder
def test_equal_widths_need_no_projection(make) -> None:
    if not isinstance(getattr(build(make, 3), "project", None), nn.Linear):
        return  # it takes its input as it comes
    same = sum(parameter.numel() for parameter in build(make, DIM).parameters())
    other = sum(parameter.numel() for parameter in build(make, 3).parameters())
    assert other - same == 3 * DIM + DIM
