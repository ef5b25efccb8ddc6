import math

import pytest
import torch

from seqtag.batch import Target
from seqtag.evaluation.oracle import Oracle


def ids(*rows: list[int], width: int = 4) -> torch.Tensor:
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def target_of(*rows: list[int] | None) -> Target:
    value = ids(*(row or [] for row in rows))
    present = torch.zeros(value.shape, dtype=torch.bool)
    for number, row in enumerate(rows):
        if row is not None:
            present[number, : len(row) + 1] = True
    return Target(value, present)


def test_the_best_of_the_first_candidates_counts() -> None:
    oracle = Oracle()
    candidates = torch.stack(
        [
            ids([1, 2], [1, 1], [2, 2]),  # right; one edit; two edits
            ids([2, 2], [1, 2], [1, 1]),  # worse; right; none to repeat, three edits as well
        ],
        dim=1,
    )
    oracle.update(candidates, target_of([1, 2], [1, 2], [3, 3, 3]))
    first, second = oracle.scores()
    assert first == (1, pytest.approx(1 / 3), pytest.approx((0 + 1 + 3) / 7))
    assert second == (2, pytest.approx(2 / 3), pytest.approx((0 + 0 + 3) / 7))


def test_rows_without_gold_do_not_count() -> None:
    oracle = Oracle()
    oracle.update(ids([1], [1]).unsqueeze(1), target_of([1], None))
    assert oracle.scores() == [(1, 1.0, 0.0)]


def test_batches_add_up() -> None:
    candidates = torch.stack([ids([1], [2], [3]), ids([2], [1], [1])], dim=1)
    gold = [[1], [1], [2]]
    whole, parts = Oracle(), Oracle()
    whole.update(candidates, target_of(*gold))
    for row in range(3):
        parts.update(candidates[row : row + 1], target_of(gold[row]))
    assert whole.scores() == parts.scores()
    assert whole.scores() == [(1, 1 / 3, 2 / 3), (2, 2 / 3, 1 / 3)]


def test_the_nearest_of_several_accepted_targets_counts() -> None:
    target = target_of([1, 1])
    target.references = torch.tensor([[1, 1, 0, 2, 2, 2, 0]])
    oracle = Oracle()
    oracle.update(torch.stack([ids([1, 3]), ids([2, 2, 2])], dim=1), target)
    assert oracle.scores() == [(1, 0.0, 1 / 2), (2, 1.0, 0.0)]


def test_nothing_counted() -> None:
    oracle = Oracle()
    oracle.update(ids([1]).unsqueeze(1), target_of(None))
    (scores,) = oracle.scores()
    assert math.isnan(scores[1])
    assert math.isnan(scores[2])
