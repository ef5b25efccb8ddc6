import pytest
import torch

from seqtag.nn.positions.peaked import Peaked


def make(
    offsets: list[int], num_heads: int = 4, max_distance: int = 3, strength: float = 5.0
) -> Peaked:
    return Peaked(
        dim=8,
        num_heads=num_heads,
        head_dim=4,
        num_layers=1,
        max_distance=max_distance,
        offsets=offsets,
        strength=strength,
    )


def test_heads_take_the_offsets_in_turn_and_start_with_a_peak_there() -> None:
    x, at = torch.zeros(1, 4, 9, 4), torch.arange(9).unsqueeze(0)
    bias = make([-1, 0, 2]).bias(x, x, at, at)
    for head, offset in enumerate([-1, 0, 2, -1]):
        for i in range(9):
            expected = [5.0 if j - i == offset else 0.0 for j in range(9)]
            assert bias[0, head, i].tolist() == expected


def test_what_is_far_away_shares_a_number() -> None:
    position = make([0], num_heads=1)
    with torch.no_grad():
        position.numbers.copy_(torch.arange(7.0).unsqueeze(0))
    x, y = torch.zeros(1, 1, 1, 4), torch.zeros(1, 1, 5, 4)
    bias = position.bias(x, y, torch.tensor([[50]]), torch.tensor([[0, 47, 49, 53, 99]]))
    assert bias.flatten().tolist() == [0.0, 0.0, 2.0, 6.0, 6.0]


@pytest.mark.parametrize("offset", [3, -3, 7])
def test_an_offset_that_is_not_told_from_those_beyond_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match=rf"offsets has {offset}; with max_distance 3 .* -2 and 2"):
        make([0, offset])


def test_no_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offsets is empty"):
        make([])
