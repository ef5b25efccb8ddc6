import math

import pytest
import torch

from seqtag.nn.positions.relative_bias import RelativeBias


def make(num_buckets: int = 32, max_distance: int = 128) -> RelativeBias:
    return RelativeBias(
        dim=8,
        num_heads=2,
        head_dim=4,
        num_layers=1,
        num_buckets=num_buckets,
        max_distance=max_distance,
    )


def test_buckets_by_hand() -> None:
    # 8 buckets: 4 to each side, of which 0 and 1 for themselves, 2 to 3 and all from 4 on.
    distances = torch.tensor([-9, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 9])
    buckets = make(num_buckets=8, max_distance=8).buckets(distances)
    assert buckets.tolist() == [3, 3, 3, 2, 2, 1, 0, 5, 6, 6, 7, 7, 7]


def test_buckets_of_the_paper() -> None:
    """Ranges of 32 buckets up to 128: from 8, 12, 16, 23, 32, 46, 64 and 91 on."""
    starts = {8: 8, 12: 9, 16: 10, 23: 11, 32: 12, 46: 13, 64: 14, 91: 15}
    for distance, bucket in starts.items():
        assert make().buckets(torch.tensor([distance - 1, distance])).tolist() == [
            16 + bucket - 1,
            16 + bucket,
        ]
    assert make().buckets(torch.tensor([128, 10**6, -(10**6)])).tolist() == [31, 31, 15]


@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (16, 100), (8, 5), (20, 160)])
def test_buckets_follow_the_published_formula(num_buckets: int, max_distance: int) -> None:
    side, single = num_buckets // 2, num_buckets // 4
    expected = []
    for distance in range(2 * max_distance):
        bucket = distance
        if distance >= single:
            share = math.log(distance / single) / math.log(max_distance / single)
            bucket = min(side - 1, single + int(share * (side - single) + 1e-9))
        expected.append(bucket)
    position = make(num_buckets, max_distance)
    assert position.buckets(-torch.arange(2 * max_distance)).tolist() == expected
    ahead = position.buckets(torch.arange(1, 2 * max_distance)) - side
    assert ahead.tolist() == expected[1:]


def test_a_number_for_each_head_and_bucket() -> None:
    position = make(num_buckets=4, max_distance=2)
    with torch.no_grad():
        position.numbers.copy_(torch.tensor([[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]]))
    x = torch.zeros(1, 2, 1, 4)
    bias = position.bias(x, x, torch.tensor([[5]]), torch.tensor([[3, 4, 5, 6, 9]]))
    assert bias[0, :, 0].tolist() == [[1.0, 1.0, 0.0, 3.0, 3.0], [11.0, 11.0, 10.0, 13.0, 13.0]]


@pytest.mark.parametrize("num_buckets", [0, 2, 6, 31])
def test_buckets_that_cannot_be_halved_twice_are_refused(num_buckets: int) -> None:
    with pytest.raises(ValueError, match=f"num_buckets is {num_buckets}; it must be a multiple"):
        make(num_buckets=num_buckets)


@pytest.mark.parametrize(
    ("num_buckets", "max_distance", "enough"),
    [(64, 32, 34), (128, 64, 71), (128, 70, 71), (32, 15, 16), (4, 0, 2), (4, -5, 2)],
)
def test_ranges_that_would_stay_empty_are_refused(
    num_buckets: int, max_distance: int, enough: int
) -> None:
    message = rf"max_distance is {max_distance}; with num_buckets {num_buckets} .* such as {enough}"
    with pytest.raises(ValueError, match=message):
        make(num_buckets, max_distance)
    found = make(num_buckets, enough).buckets(torch.arange(-enough, enough + 1))
    # Nothing lies behind at distance 0.
    filled = [bucket for bucket in range(num_buckets) if bucket != num_buckets // 2]
    assert found.unique().tolist() == filled
