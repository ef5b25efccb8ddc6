import pytest
import torch

from seqtag.nn.positions.recurrent import Recurrent


def make(slowest: int = 64, hidden_dim: int = 16) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(
        dim=4, num_heads=1, head_dim=4, num_layers=1, hidden_dim=hidden_dim, slowest=slowest
    )


def vectors(position: Recurrent, places: list[int]) -> torch.Tensor:
    return position.embed(torch.zeros(1, len(places), 4), torch.tensor([places]))[0]


def test_a_vector_is_that_of_as_many_steps_whatever_else_is_asked() -> None:
    position = make()
    together = vectors(position, [0, 7, 3, 3])
    for place, vector in zip([0, 7, 3, 3], together, strict=True):
        torch.testing.assert_close(vectors(position, [place])[0], vector)


def test_slow_units_tell_far_places_apart_for_longer() -> None:
    def step(slowest: int) -> float:
        one, other = vectors(make(slowest, hidden_dim=64), [60, 61])
        return float((one - other).detach().norm())

    assert step(64) > 20 * step(2)


@pytest.mark.parametrize(("key", "value"), [("hidden_dim", 1), ("slowest", 1)])
def test_sizes_that_cannot_be_are_refused(key: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"position.{key} is {value}; it must be at least 2"):
        make(**{key: value})
