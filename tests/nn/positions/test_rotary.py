import math

import pytest
import torch
from torch import Tensor

from seqtag.nn.positions.rotary import Rotary


def scores(query: Tensor, key: Tensor, query_at: int, key_at: int) -> Tensor:
    """Dot product of ``[head_dim]`` vectors at two positions."""
    rotary = Rotary(dim=4, num_heads=1, head_dim=len(query), num_layers=1)
    turned_query, turned_key = rotary.rotate(
        query.view(1, 1, 1, -1),
        key.view(1, 1, 1, -1),
        torch.tensor([[query_at]]),
        torch.tensor([[key_at]]),
    )
    return (turned_query * turned_key).sum()


def test_turns_a_pair_by_its_position() -> None:
    rotary = Rotary(dim=2, num_heads=1, head_dim=2, num_layers=1)
    x, positions = torch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]]), torch.tensor([[1, 3]])
    turned, _ = rotary.rotate(x, x, positions, positions)
    expected = [[math.cos(1), math.sin(1)], [-2 * math.sin(3), 2 * math.cos(3)]]
    torch.testing.assert_close(turned[0, 0], torch.tensor(expected))


def test_each_row_turns_by_its_own_positions() -> None:
    rotary = Rotary(dim=2, num_heads=1, head_dim=2, num_layers=1)
    x = torch.tensor([1.0, 0.0]).expand(2, 1, 1, 2)
    turned, _ = rotary.rotate(x, x, torch.tensor([[0], [2]]), torch.tensor([[0], [0]]))
    torch.testing.assert_close(
        turned[:, 0, 0], torch.tensor([[1.0, 0.0], [math.cos(2), math.sin(2)]])
    )


def test_scores_depend_on_distance_only() -> None:
    torch.manual_seed(0)
    query, key = torch.randn(8), torch.randn(8)
    near = scores(query, key, 5, 2)
    for shift in (1, 40, 3_000):
        torch.testing.assert_close(
            scores(query, key, 5 + shift, 2 + shift), near, atol=5e-3, rtol=0
        )
    for other in (4, 6, 1):
        assert (scores(query, key, other, 2) - near).abs() > 0.05


def test_lengths_are_kept_and_position_zero_turns_nothing() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 6)
    rotary = Rotary(dim=18, num_heads=3, head_dim=6, num_layers=1)
    query, key = rotary.rotate(x, x, torch.arange(4).unsqueeze(0), torch.zeros(1, 4))
    torch.testing.assert_close(query.norm(dim=-1), x.norm(dim=-1))
    assert key.equal(x)
    assert query[:, :, 0].equal(x[:, :, 0])


def test_half_precision_tells_far_neighbours_apart() -> None:
    rotary = Rotary(dim=2, num_heads=1, head_dim=2, num_layers=1).bfloat16()
    x, positions = torch.tensor([[[[1.0, 0.0]] * 2]]), torch.tensor([[1_000, 1_001]])
    half, _ = rotary.rotate(x.bfloat16(), x.bfloat16(), positions, positions)
    full, _ = rotary.rotate(x, x, positions, positions)
    torch.testing.assert_close(half.float(), full, atol=0.01, rtol=0)


def test_an_odd_head_is_refused() -> None:
    with pytest.raises(ValueError, match="even head_dim, not 5"):
        Rotary(dim=10, num_heads=2, head_dim=5, num_layers=1)
