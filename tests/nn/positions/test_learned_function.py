import pytest
import torch

from seqtag.nn.positions.learned_function import LearnedFunction


def make(**sizes: int) -> LearnedFunction:
    torch.manual_seed(0)
    return LearnedFunction(
        dim=4, num_heads=1, head_dim=4, num_layers=1, **{"num_waves": 8, "hidden_dim": 32} | sizes
    )


def test_has_a_vector_for_every_place_and_no_parameters_for_any() -> None:
    position = make()
    at = torch.tensor([[0, 1, 999, 1_000, 1_000_000]])
    vectors = position.embed(torch.zeros(1, 5, 4), at)[0]
    assert vectors.isfinite().all()
    assert (vectors[2] - vectors[3]).norm() > 0.01
    assert position.longest is None
    numbers = sum(parameter.numel() for parameter in position.parameters())
    assert numbers == 16 * 32 + 32 + 32 * 4 + 4


@pytest.mark.parametrize(("key", "least"), [("num_waves", 1), ("hidden_dim", 2)])
def test_sizes_that_cannot_be_are_refused(key: str, least: int) -> None:
    make(**{key: least})
    message = f"position.{key} is {least - 1}; it must be at least {least}"
    with pytest.raises(ValueError, match=message):
        make(**{key: least - 1})
