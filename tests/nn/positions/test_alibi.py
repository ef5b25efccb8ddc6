import pytest
import torch

from seqtag.nn.positions.alibi import Alibi


def alibi(num_heads: int) -> Alibi:
    return Alibi(dim=8, num_heads=num_heads, head_dim=4, num_layers=1)


def test_slopes_of_eight_heads_are_halves_of_one_another() -> None:
    expected = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert alibi(8).slopes().tolist() == expected


def test_slopes_of_twelve_heads_are_those_of_eight_and_every_other_one_of_sixteen() -> None:
    of_eight = [2.0**-i for i in range(1, 9)]
    of_sixteen = [2.0 ** (-i / 2) for i in range(1, 17)]
    expected = torch.tensor(of_eight + of_sixteen[::2][:4])
    torch.testing.assert_close(alibi(12).slopes(), expected)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [(1, [2**-8]), (2, [2**-4, 2**-8]), (3, [2**-4, 2**-8, 2**-2]), (6, None), (20, None)],
)
def test_slopes_of_any_number_of_heads(heads: int, expected: list[float] | None) -> None:
    slopes = alibi(heads).slopes()
    assert len(set(slopes.tolist())) == heads
    assert (slopes > 0).all()
    assert (slopes < 1).all()
    if expected is not None:
        torch.testing.assert_close(slopes, torch.tensor(expected, dtype=torch.float32))


def test_scores_fall_with_the_distance_alike_to_both_sides() -> None:
    x, at = torch.zeros(1, 2, 3, 4), torch.tensor([[0, 1, 10]])
    bias = alibi(2).bias(x, x, at, at)
    distances = torch.tensor([[0, 1, 10], [1, 0, 9], [10, 9, 0]])
    torch.testing.assert_close(bias, -torch.stack((distances / 16, distances / 256)).unsqueeze(0))


def test_half_precision_keeps_the_slopes() -> None:
    assert alibi(12).bfloat16().slopes().equal(alibi(12).slopes())
