import math

import pytest
import torch
from torch import Tensor

from seqtag.configuration import compose
from seqtag.nn.positions.direction_aware import DirectionAware, DirectionAwareLayer


def make(head_dim: int, num_heads: int = 1) -> DirectionAwareLayer:
    layer = DirectionAware(dim=8, num_heads=num_heads, head_dim=head_dim, num_layers=2).layer(1)
    assert isinstance(layer, DirectionAwareLayer)
    torch.nn.init.zeros_(layer.content)
    torch.nn.init.zeros_(layer.direction)
    return layer


def scores(layer: DirectionAwareLayer, query: Tensor, key: Tensor, at: int, key_at: int) -> float:
    query, key = query.view(1, 1, 1, -1), key.view(1, 1, 1, -1)
    return float(layer.bias(query, key, torch.tensor([[at]]), torch.tensor([[key_at]])).detach())


def test_a_query_asks_for_sines_and_cosines_of_the_distance() -> None:
    layer, nothing = make(4), torch.zeros(4)
    sine, cosine = torch.eye(4)[:2]
    for distance in (-3, 0, 2):
        asked = [scores(layer, q, nothing, 7, 7 + distance) for q in torch.eye(4)]
        expected = [
            math.sin(distance),
            math.cos(distance),
            math.sin(distance / 100),
            math.cos(distance / 100),
        ]
        assert asked == pytest.approx(expected, abs=1e-6)
    assert scores(layer, sine, nothing, 0, 1) == -scores(layer, sine, nothing, 1, 0)
    assert scores(layer, cosine, nothing, 0, 1) == scores(layer, cosine, nothing, 1, 0)


def test_learnt_vectors_ask_for_content_and_for_direction() -> None:
    layer, nothing, key = make(2), torch.zeros(2), torch.tensor([3.0, 4.0])
    with torch.no_grad():
        layer.content.copy_(torch.tensor([[2.0, -1.0]]))
    assert scores(layer, nothing, key, 5, 9) == pytest.approx(2 * 3 - 4)
    with torch.no_grad():
        layer.direction.copy_(torch.tensor([[0.5, 0.0]]))
    assert scores(layer, nothing, key, 5, 9) == pytest.approx(2 + 0.5 * math.sin(4), abs=1e-6)


def test_an_odd_width_lacks_the_last_cosine() -> None:
    layer, nothing = make(3), torch.zeros(3)
    small = 2 / 10_000 ** (2 / 3)
    asked = [scores(layer, q, nothing, 0, 2) for q in torch.eye(3)]
    assert asked == pytest.approx([math.sin(2), math.cos(2), math.sin(small)], abs=1e-6)


def test_nothing_is_made_that_is_larger_than_the_scores() -> None:
    """No vector of every pair: 50 queries, 50 keys and 64 numbers would be 160,000 per head."""
    layer = make(64, num_heads=2)
    query, at = torch.randn(1, 2, 50, 64, requires_grad=True), torch.arange(50).unsqueeze(0)
    kept: list[int] = []

    def keep(x: Tensor) -> Tensor:
        kept.append(x.numel())
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        layer.bias(query, query, at, at)
    assert max(kept) == 2 * 50 * 64


def test_the_recipe_takes_the_unscaled_scorer() -> None:
    encoder = compose("train", ["encoder=attention_direction_aware"])["encoder"]
    assert encoder["position"]["_target_"].endswith("DirectionAware")
    assert encoder["scorer"]["scaled"] is False
