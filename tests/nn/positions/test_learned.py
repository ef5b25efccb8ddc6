import pytest
import torch

from seqtag.nn.positions.learned import Learned


def make(max_positions: int = 6) -> Learned:
    return Learned(dim=4, num_heads=1, head_dim=4, num_layers=1, max_positions=max_positions)


def test_adds_the_vector_of_each_position_at_the_scale_of_elements() -> None:
    position = make()
    with torch.no_grad():
        position.table.weight.copy_(torch.arange(6.0).unsqueeze(1).expand(6, 4))
    x = torch.ones(1, 3, 4)
    assert position.embed(x, torch.tensor([[0, 1, 5]]))[0, :, 0].tolist() == [1.0, 3.0, 11.0]
    torch.manual_seed(0)
    fresh = make(max_positions=500)
    added = fresh.embed(torch.zeros(1, 500, 4), torch.arange(500).unsqueeze(0))
    torch.testing.assert_close(added.std(), torch.tensor(1.0), atol=0.05, rtol=0)


@pytest.mark.parametrize("positions", [[[6]], [[0, 1, 6]], [[0, 1, 2, 3, 4, 5, 6]]])
def test_what_is_beyond_the_table_is_refused(positions: list[list[int]]) -> None:
    at = torch.tensor(positions)
    message = "position=learned has max_positions=6 vectors, and a sequence has 7 elements; .*sinus"
    with pytest.raises(ValueError, match=message):
        make().embed(torch.zeros(1, at.shape[1], 4), at)


def test_says_how_long_a_sequence_may_be() -> None:
    position = make()
    assert position.longest == 6
    at = torch.arange(6).unsqueeze(0)
    assert position.embed(torch.zeros(2, 6, 4), at).shape == (2, 6, 4)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ValueError, match="max_positions is 0"):
        make(max_positions=0)
