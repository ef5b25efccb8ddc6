"""Every kind of position against a loop over queries, keys and numbers, in double precision."""

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch

from nn.attentions import DIM, HEAD_DIM, HEADS, POSITIONS, shipped_position, small
from seqtag.nn.attention import Attention
from seqtag.nn.positions.position import Position
from seqtag.nn.scorers import DotProductScorer

Vector = list[float]
PLACES = [0, 1, 2, 5, 30, 200]
"""Near ones, and some that clipped and bucketed distances take together."""


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def affine(linear: torch.nn.Linear, x: Vector) -> Vector:
    bias = linear.bias.tolist()
    return [dot(row, x) + b for row, b in zip(linear.weight.tolist(), bias, strict=True)]


def wave(place: float, i: int, width: int) -> float:
    angle = place / 10_000 ** (2 * (i // 2) / width)
    return math.cos(angle) if i % 2 else math.sin(angle)


# What is added to the element at a place.


def no_vector(position: Position, place: int) -> Vector:
    return [0.0] * DIM


def sinusoidal(position: Position, place: int) -> Vector:
    return [wave(place, i, DIM) for i in range(DIM)]


def learned(position: Position, place: int) -> Vector:
    return [math.sqrt(DIM) * weight for weight in position.table.weight[place].tolist()]


def learned_function(position: Position, place: int) -> Vector:
    waves = [wave(place, i, position.width) for i in range(position.width)]
    hidden = [h * (1 + math.erf(h / math.sqrt(2))) / 2 for h in affine(position.hidden, waves)]
    return affine(position.output, normalised(hidden))


def normalised(x: Vector) -> Vector:
    mean = sum(x) / len(x)
    variance = sum((number - mean) ** 2 for number in x) / len(x)
    return [(number - mean) / math.sqrt(variance + 1e-5) for number in x]


def recurrent(position: Position, place: int) -> Vector:
    def sigmoid(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    network, state = position.network, position.start.tolist()
    size = len(state)
    new = affine_of(network.weight_ih_l0, network.bias_ih_l0, position.fed.tolist())
    for _ in range(place + 1):
        old = affine_of(network.weight_hh_l0, network.bias_hh_l0, state)
        reset = [sigmoid(new[i] + old[i]) for i in range(size)]
        keep = [sigmoid(new[size + i] + old[size + i]) for i in range(size)]
        state = [
            (1 - keep[i]) * math.tanh(new[2 * size + i] + reset[i] * old[2 * size + i])
            + keep[i] * state[i]
            for i in range(size)
        ]
    return affine(position.output, normalised(state))


def affine_of(weight: torch.Tensor, bias: torch.Tensor, x: Vector) -> Vector:
    return (weight @ torch.tensor(x, dtype=weight.dtype) + bias).tolist()


# What a query and a key score, before 1/sqrt(head_dim), and what is added to that after it.


def plain(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    return dot(q, k) / math.sqrt(HEAD_DIM)


def rotary(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    half, total = HEAD_DIM // 2, 0.0
    for c in range(half):
        turn = (i - j) / 10_000 ** (2 * c / HEAD_DIM)
        # Of the query as a complex number times the conjugate of the key, turned by the distance.
        total += (complex(q[c], q[half + c]) * complex(k[c], -k[half + c])
                  * complex(math.cos(turn), math.sin(turn))).real  # fmt: skip
    return total / math.sqrt(HEAD_DIM)


def alibi(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    return plain(position, q, k, head, i, j) - abs(i - j) * [1 / 4, 1 / 16, 1 / 64, 1 / 256][head]


def relative(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    vector = position.keys[max(-16, min(16, j - i)) + 16].tolist()
    both = [a + b for a, b in zip(k, vector, strict=True)]
    return dot(q, both) / math.sqrt(HEAD_DIM)


def relative_bias(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    distance = abs(j - i)
    bucket = distance
    if distance >= 8:  # 16 buckets to each side, 8 of them for ranges up to 128
        bucket = min(15, 8 + int(math.log(distance / 8) / math.log(128 / 8) * 8))
    if j > i:
        bucket += 16
    return plain(position, q, k, head, i, j) + float(position.numbers[head, bucket])


def peaked(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    number = position.numbers[head, max(-16, min(16, j - i)) + 16]
    return plain(position, q, k, head, i, j) + float(number)


def direction_aware(position: Position, q: Vector, k: Vector, head: int, i: int, j: int) -> float:
    r = [wave(j - i, c, HEAD_DIM) for c in range(HEAD_DIM)]
    u, v = position.content[head].tolist(), position.direction[head].tolist()
    return plain(position, q, k, head, i, j) + dot(q, r) + dot(u, k) + dot(v, r)


# What a weight takes besides the value.


def no_offset(position: Position, i: int, j: int) -> Vector:
    return [0.0] * HEAD_DIM


def relative_value(position: Position, i: int, j: int) -> Vector:
    vector: Vector = position.values[max(-16, min(16, j - i)) + 16].tolist()
    return vector


FORMULAS: dict[str, tuple[Callable[..., Vector], Callable[..., float], Callable[..., Vector]]] = {
    "none": (no_vector, plain, no_offset),
    "sinusoidal": (sinusoidal, plain, no_offset),
    "learned": (learned, plain, no_offset),
    "learned_function": (learned_function, plain, no_offset),
    "recurrent": (recurrent, plain, no_offset),
    "rotary": (no_vector, rotary, no_offset),
    "alibi": (no_vector, alibi, no_offset),
    "relative": (no_vector, relative, relative_value),
    "relative_bias": (no_vector, relative_bias, no_offset),
    "direction_aware": (no_vector, direction_aware, no_offset),
    "peaked": (no_vector, peaked, no_offset),
}


def looped(attention: Attention, option: str, elements: list[Vector]) -> list[Vector]:
    embed, score, offset = FORMULAS[option]
    position = attention.position
    elements = [
        [a + b for a, b in zip(x, embed(position, place), strict=True)]
        for x, place in zip(elements, PLACES, strict=True)
    ]
    queries = [affine(attention.query, x) for x in elements]
    keys = [affine(attention.key, x) for x in elements]
    values = [affine(attention.value, x) for x in elements]
    outputs = []
    for query, i in zip(queries, PLACES, strict=True):
        context: Vector = []
        for head in range(HEADS):
            own = slice(head * HEAD_DIM, (head + 1) * HEAD_DIM)
            group = head // 2  # two key and value heads for four
            shared = slice(group * HEAD_DIM, (group + 1) * HEAD_DIM)
            weights = [
                math.exp(score(position, query[own], key[shared], head, i, j))
                for key, j in zip(keys, PLACES, strict=True)
            ]
            gathered = [0.0] * HEAD_DIM
            for weight, value, j in zip(weights, values, PLACES, strict=True):
                extra = offset(position, i, j)
                for c in range(HEAD_DIM):
                    gathered[c] += weight / sum(weights) * (value[shared][c] + extra[c])
            context += gathered
        outputs.append(affine(attention.output, context))
    return outputs


@pytest.mark.parametrize("option", FORMULAS)
@torch.no_grad()
def test_equals_a_loop(option: str) -> None:
    torch.manual_seed(0)
    attention = small(
        scorer=DotProductScorer(head_dim=HEAD_DIM, num_heads=HEADS, scaled=True),
        position=shipped_position(option, 2).layer(1),
    ).double()
    x, at = torch.randn(1, len(PLACES), DIM).double(), torch.tensor([PLACES])
    embedded = attention.position.embed(x, at)
    output = attention(embedded, embedded, embedded, query_positions=at, key_positions=at)
    expected = torch.tensor([looped(attention, option, x[0].tolist())]).double()
    # Angles and slopes are in single precision, and 200 of them add up.
    torch.testing.assert_close(output, expected, atol=5e-5, rtol=1e-5)


def test_every_kind_has_a_formula_here() -> None:
    """Of a new kind: write what it does in plain numbers above, and name that in ``FORMULAS``."""
    missing, gone = set(POSITIONS) - set(FORMULAS), set(FORMULAS) - set(POSITIONS)
    assert not missing, f"write a formula of {missing} in {__file__}, and add it to FORMULAS"
    assert not gone, f"FORMULAS in {__file__} has {gone}, of which there is no yaml"


def test_places_reach_what_is_clipped_and_what_is_not() -> None:
    gaps = {b - a for a, b in pairwise(PLACES)}
    assert min(gaps) == 1
    assert max(gaps) > 128
