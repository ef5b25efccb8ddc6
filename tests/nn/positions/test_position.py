"""What holds for every kind of position; a new yaml is tested by being there."""

import pytest
import torch
from torch import Tensor

from nn.attentions import DIM, HEAD_DIM, HEADS, POSITIONS, shipped, shipped_position, small
from seqtag.nn.attention import record_weights
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer

every_position = pytest.mark.parametrize("option", POSITIONS)
WRITTEN = [
    option for option in POSITIONS if type(shipped_position(option)).embed is not Position.embed
]
"""Kinds that are written into the elements; all others compare places."""

SAME_ON_BOTH_SIDES = {"none", "alibi"}
FAR = 2_000


def attend(option: str, x: Tensor, at: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """One layer of self-attention, the second of two, over elements with positions."""
    torch.manual_seed(0)
    position = shipped_position(option, 2)
    attention = small(
        scorer=DotProductScorer(head_dim=HEAD_DIM, num_heads=HEADS, scaled=True),
        position=position.layer(1),
    )
    position, attention = position.to(dtype), attention.to(dtype)
    x = position.embed(x, at)
    return attention(x, x, x, query_positions=at, key_positions=at)


def elements(count: int = 5) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(1, count, DIM), torch.arange(count).unsqueeze(0)


ORDERS = [[3, 1, 4, 0, 2], [4, 3, 2, 1, 0], [1, 0, 2, 3, 4]]


@every_position
@pytest.mark.parametrize("order", ORDERS, ids=["shuffled", "reversed", "swapped"])
@torch.no_grad()
def test_only_none_takes_a_sequence_as_a_set(option: str, order: list[int]) -> None:
    x, positions = elements()
    straight = attend(option, x, positions)[:, order]
    reordered = attend(option, x[:, order], positions)
    same = torch.allclose(straight, reordered, atol=1e-5)
    # Where left and right are the same, a sequence and its mirror image are.
    mirrored = order == [4, 3, 2, 1, 0] and option in SAME_ON_BOTH_SIDES
    assert same == (option == "none" or mirrored)


@every_position
@torch.no_grad()
def test_positions_belong_to_elements_and_not_to_cells(option: str) -> None:
    x, positions = elements()
    order = torch.tensor(ORDERS[0])
    straight = attend(option, x, positions)[:, order]
    torch.testing.assert_close(attend(option, x[:, order], positions[:, order]), straight)


@every_position
@torch.no_grad()
def test_a_kind_that_compares_places_knows_their_distance_only(option: str) -> None:
    x, positions = elements()
    here, there = attend(option, x, positions), attend(option, x, positions + 100)
    if option in WRITTEN:
        assert not torch.allclose(here, there, atol=1e-3)
    else:
        torch.testing.assert_close(there, here, atol=1e-4, rtol=1e-4)
        # Angles are in single precision: a thousand places on they are off by about 1e-4.
        far = attend(option, x, positions + 1_000)
        torch.testing.assert_close(far, here, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("option", WRITTEN)
@torch.no_grad()
def test_places_start_about_as_far_apart_as_those_of_sines(option: str) -> None:
    """Of what is added, the part that differs from place to place; learned starts at 1."""

    def spread(option: str) -> float:
        torch.manual_seed(0)
        sizes = {"dim": 128, "num_heads": 4, "head_dim": 32, "num_layers": 1}
        position: Position = shipped("encoder/position", option)(**sizes)
        vectors = position.embed(torch.zeros(1, 200, 128), torch.arange(200).unsqueeze(0))[0]
        return float((vectors - vectors.mean(dim=0)).square().mean().sqrt())

    assert 0.5 < spread(option) / spread("sinusoidal") < 2.1


@every_position
@torch.no_grad()
def test_left_and_right_differ(option: str) -> None:
    """The same content one place before and one place behind: does the middle tell them apart?"""
    torch.manual_seed(2)
    one, other, middle = torch.randn(3, DIM)
    x = torch.stack((torch.stack((one, middle, other)), torch.stack((other, middle, one))))
    left, right = attend(option, x, torch.arange(3).unsqueeze(0))[:, 1]
    assert torch.allclose(left, right, atol=1e-5) == (option in SAME_ON_BOTH_SIDES)


@every_position
@torch.no_grad()
def test_rows_have_positions_of_their_own(option: str) -> None:
    x, positions = elements()
    both = torch.stack((positions[0], positions[0] * 2))
    together = attend(option, x.repeat(2, 1, 1), both)
    for row in range(2):
        alone = attend(option, x, both[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone)


@every_position
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@torch.no_grad()
def test_lengths_beyond_training_and_every_precision(option: str, dtype: torch.dtype) -> None:
    longest = shipped_position(option).longest
    last = FAR - 1 if longest is None else longest - 1
    far = torch.tensor([[0, 1, last - 1, last]])
    x = torch.randn(2, 4, DIM, dtype=dtype)
    output = attend(option, x, far, dtype)
    assert output.dtype == dtype
    assert output.isfinite().all()
    position = shipped_position(option).layer(0).to(dtype)
    assert position.embed(x, far).dtype == dtype
    query, key = torch.randn(2, 4, 4, 4, dtype=dtype), torch.randn(2, 2, 4, 4, dtype=dtype)
    for turned, given in zip(position.rotate(query, key, far, far), (query, key), strict=True):
        assert turned.dtype == dtype
        assert turned.shape == given.shape


@every_position
@torch.no_grad()
def test_half_precision_follows_single_far_out(option: str) -> None:
    x, positions = elements()
    longest = shipped_position(option).longest
    positions = positions + (FAR if longest is None else longest - 5)
    single = attend(option, x, positions)
    half = attend(option, x.bfloat16(), positions, torch.bfloat16)
    torch.testing.assert_close(half.float(), single, atol=0.1, rtol=0.05)


@every_position
@torch.no_grad()
def test_sequences_of_one_and_of_none(option: str) -> None:
    for count in (0, 1):
        x, positions = elements(count)
        assert attend(option, x, positions).shape == (1, count, DIM)


@every_position
def test_a_limit_is_kept(option: str) -> None:
    longest = shipped_position(option).longest
    if longest is not None:
        x, positions = elements()
        attend(option, x, positions + longest - 5)
        with pytest.raises(ValueError, match=f"position={option} .*{longest}"):
            attend(option, x, positions + longest - 4)


@every_position
@torch.no_grad()
def test_between_sequences_of_two_lengths(option: str) -> None:
    """As a decoder asks: places in one sequence against places in another."""
    attention = small(
        scorer=DotProductScorer(head_dim=HEAD_DIM, num_heads=HEADS, scaled=True),
        position=shipped_position(option).layer(0),
    )
    query, key = torch.randn(2, 3, DIM), torch.randn(2, 5, DIM)
    whole = attention(query, key, key)
    assert whole.shape == (2, 3, DIM)
    memory = attention.remember(key, key)
    for place in range(3):
        at = torch.full((1, 1), place)
        single = attention.attend(query[:, place : place + 1], memory, query_positions=at)
        torch.testing.assert_close(single, whole[:, place : place + 1])


@every_position
def test_every_layer_has_a_position_and_every_parameter_is_of_one(option: str) -> None:
    position = shipped_position(option, 3)
    layers = [position.layer(index) for index in range(3)]
    of_layers = {id(parameter) for layer in layers for parameter in layer.parameters()}
    assert of_layers == {id(parameter) for parameter in position.parameters()}
    shared = [layer is position for layer in layers]
    assert all(shared) or not any(shared)
    assert all(type(layer).embed is type(position).embed for layer in layers)


@every_position
def test_training_reaches_every_parameter(option: str) -> None:
    position = shipped_position(option)
    attention = small(
        scorer=DotProductScorer(head_dim=HEAD_DIM, num_heads=HEADS, scaled=True),
        position=position.layer(0),
    )
    x, positions = elements()
    x = position.embed(x, positions)
    attention(x, x, x).square().sum().backward()
    for parameter in position.parameters():
        assert parameter.grad is not None
        assert parameter.grad.count_nonzero() > 0


@torch.no_grad()
def test_alike_positions_cost_one_row_of_bias() -> None:
    """Positions of elements in order are one row in memory, however many rows a batch has."""
    query, key = torch.randn(6, 4, 5, 4), torch.randn(6, 4, 5, 4)
    at = torch.arange(5).expand(6, 5)
    for option in ("alibi", "relative_bias", "peaked"):
        position = shipped_position(option)
        bias = position.bias(query, key, at, at)
        assert bias.shape == (1, 4, 5, 5)
        copied = position.bias(query, key, at.contiguous(), at.contiguous())
        assert copied.equal(bias.expand(6, -1, -1, -1))


def test_none_changes_nothing() -> None:
    position, (x, at) = shipped_position("none"), elements(3)
    query, key = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4)
    assert position.embed(x, at) is x
    assert position.rotate(query, key, at, at) == (query, key)
    assert position.bias(query, key, at, at) is None
    assert position.value_offset(torch.randn(1, 2, 3, 3), at, at) is None
    assert position.layer(1) is position


def test_weights_can_be_recorded_with_every_position() -> None:
    for option in POSITIONS:
        attention = small(
            scorer=DotProductScorer(head_dim=HEAD_DIM, num_heads=HEADS, scaled=True),
            position=shipped_position(option).layer(0),
        )
        x, _ = elements()
        with record_weights(attention) as recorded:
            eager = attention(x, x, x)
        torch.testing.assert_close(eager, attention(x, x, x))
        torch.testing.assert_close(recorded[""][0].sum(dim=-1), torch.ones(1, HEADS, 5))
