import pytest
import torch

from seqtag.nn.positions.distance import (
    at_distance,
    checked_max_distance,
    clipped_index,
    distances,
)


def test_what_comes_before_is_negative() -> None:
    found = distances(torch.tensor([[0, 5]]), torch.tensor([[0, 2, 6]]))
    assert found.tolist() == [[[0, 2, 6], [-5, -3, 1]]]


def test_rows_that_share_memory_are_told_once_and_others_each() -> None:
    shared, own = torch.arange(3).expand(4, 3), torch.arange(3).repeat(4, 1)
    assert distances(shared, shared).shape == (1, 3, 3)
    assert distances(own, shared).shape == (4, 3, 3)
    assert distances(own, own).shape == (4, 3, 3)
    assert distances(shared[:, :0], shared).shape == (1, 0, 3)


def test_clipped_indices_start_at_zero() -> None:
    assert clipped_index(torch.tensor([-9, -2, -1, 0, 2, 3]), 2).tolist() == [0, 0, 1, 2, 4, 4]


def test_each_head_looks_into_its_row() -> None:
    table = torch.tensor([[0.0, 1.0], [10.0, 11.0]])
    found = at_distance(table, torch.tensor([[[0, 1]], [[1, 1]]]))
    assert found.tolist() == [[[[0.0, 1.0]], [[10.0, 11.0]]], [[[1.0, 1.0]], [[11.0, 11.0]]]]


def test_no_distance_is_refused() -> None:
    assert checked_max_distance(1) == 1
    with pytest.raises(ValueError, match="max_distance is -1"):
        checked_max_distance(-1)
