import math

import pytest
import torch

from seqtag.nn.attention import Attention
from seqtag.nn.positions.relative import Relative, RelativeLayer
from seqtag.nn.scorers import DotProductScorer


def make(head_dim: int = 1, max_distance: int = 2) -> RelativeLayer:
    relative = Relative(
        dim=8, num_heads=3, head_dim=head_dim, num_layers=2, max_distance=max_distance
    )
    layer = relative.layer(1)
    assert isinstance(layer, RelativeLayer)
    with torch.no_grad():
        # One row for each of the distances -2, -1, 0, 1, 2.
        layer.keys.copy_(torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]]).expand_as(layer.keys))
        layer.values.copy_(10 * layer.keys)
    return layer


AT = torch.tensor([[4]])
KEYS_AT = torch.tensor([[0, 2, 3, 4, 5, 6, 9]])


def test_scores_by_hand() -> None:
    query = torch.tensor([1.0, -1.0, 0.5]).view(1, 3, 1, 1)
    bias = make().bias(query, torch.zeros(1, 3, 7, 1), AT, KEYS_AT)
    expected = torch.tensor([1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    torch.testing.assert_close(bias, query * expected)


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    query = torch.ones(1, 3, 1, 4)
    bias = make(head_dim=4).bias(query, torch.zeros(1, 3, 7, 4), AT, KEYS_AT)
    assert float(bias.detach()[0, 0, 0, 0]) == pytest.approx(4 * 1.0 / math.sqrt(4))


def test_value_offset_by_hand() -> None:
    weights = torch.tensor([0.1, 0.2, 0.1, 0.2, 0.1, 0.1, 0.2]).view(1, 1, 1, 7).expand(2, 3, 1, 7)
    offset = make().value_offset(weights, AT, KEYS_AT)
    expected = 10 * (0.3 * 1 + 0.1 * 2 + 0.2 * 3 + 0.1 * 4 + 0.3 * 5)
    torch.testing.assert_close(offset, torch.full((2, 3, 1, 1), expected))


def test_half_precision_sums_many_small_weights() -> None:
    weights = torch.full((1, 3, 1, 4_096), 1 / 4_096, dtype=torch.bfloat16)
    offset = make().bfloat16().value_offset(weights, AT + 5_000, torch.arange(4_096).unsqueeze(0))
    assert offset.flatten().tolist() == [10.0] * 3


def test_each_layer_has_vectors_of_its_own() -> None:
    relative = Relative(dim=8, num_heads=2, head_dim=4, num_layers=2, max_distance=3)
    assert not relative.layer(0).keys.equal(relative.layer(1).keys)
    assert sum(parameter.numel() for parameter in relative.parameters()) == 2 * 2 * 7 * 4


def test_values_of_another_width_than_queries_are_refused() -> None:
    def attention(value_head_dim: int) -> Attention:
        return Attention(
            query_dim=8,
            key_dim=8,
            value_dim=8,
            output_dim=8,
            num_heads=3,
            num_kv_heads=3,
            head_dim=4,
            value_head_dim=value_head_dim,
            scorer=DotProductScorer(head_dim=4, num_heads=3, scaled=True),
            position=make(head_dim=4),
            dropout=0.0,
            bias=True,
        )

    x = torch.randn(1, 5, 8)
    assert attention(4)(x, x, x).shape == (1, 5, 8)
    with pytest.raises(ValueError, match=r"value_head_dim \(6\) must equal head_dim \(4\)"):
        attention(6)


def test_no_distance_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="max_distance is 0; it must be at least 1"):
        Relative(dim=8, num_heads=2, head_dim=4, num_layers=1, max_distance=0)
