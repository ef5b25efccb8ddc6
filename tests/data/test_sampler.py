from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.configuration import compose
from seqtag.data.sampler import Batching, BudgetSampler

few = settings(max_examples=40, deadline=None)
LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=80)


def sampler(
    lengths: Any, *, max_tokens: int = 40, max_rows: int = 4, **changes: Any
) -> BudgetSampler:
    batching = Batching(max_tokens=max_tokens, max_rows=max_rows, num_workers=0)
    order: dict[str, Any] = {"seed": 1, "shuffle": True, "rank": 0, "ranks": 1}
    return BudgetSampler(lengths, batching=batching, **(order | changes))


def epoch(made: BudgetSampler, number: int) -> list[list[int]]:
    made.set_epoch(number)
    return list(made)


@few
@given(LENGTHS, st.integers(0, 5), st.booleans())
def test_every_row_comes_exactly_once_an_epoch(
    lengths: list[int], number: int, shuffle: bool
) -> None:
    batches = epoch(sampler(lengths, shuffle=shuffle), number)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))


@few
@given(LENGTHS, st.integers(1, 150), st.integers(1, 9), st.booleans())
def test_a_batch_keeps_the_budget_unless_it_is_one_row(
    lengths: list[int], max_tokens: int, max_rows: int, shuffle: bool
) -> None:
    for batch in sampler(lengths, max_tokens=max_tokens, max_rows=max_rows, shuffle=shuffle):
        assert 1 <= len(batch) <= max_rows
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= max_tokens


@few
@given(LENGTHS, st.integers(1, 4), st.booleans())
def test_every_epoch_has_the_number_of_batches_that_was_announced(
    lengths: list[int], ranks: int, shuffle: bool
) -> None:
    made = sampler(lengths, ranks=ranks, rank=ranks - 1, shuffle=shuffle)
    assert {len(epoch(made, number)) for number in range(4)} == {len(made)}


@few
@given(LENGTHS, st.integers(1, 4))
def test_ranks_train_on_equally_many_batches_and_together_on_all(
    lengths: list[int], ranks: int
) -> None:
    alone = Counter(map(tuple, epoch(sampler(lengths), 2)))
    shares = [epoch(sampler(lengths, rank=rank, ranks=ranks), 2) for rank in range(ranks)]
    assert len({len(share) for share in shares}) == 1
    together = Counter(tuple(batch) for share in shares for batch in share)
    assert together.keys() == alone.keys()
    repeated = together.total() - alone.total()
    assert 0 <= repeated < ranks
    if repeated == 0:
        assert together == alone


@few
@given(LENGTHS, st.integers(1, 4))
def test_ranks_score_every_batch_once(lengths: list[int], ranks: int) -> None:
    shares = [sampler(lengths, rank=rank, ranks=ranks, shuffle=False) for rank in range(ranks)]
    rows = [row for share in shares for batch in share for row in batch]
    assert sorted(rows) == list(range(len(lengths)))


def test_a_batch_holds_as_many_rows_as_fit() -> None:
    sizes = [[len(batch) for batch in sampler([5] * 6, max_tokens=n)] for n in (9, 10, 14, 15)]
    assert sizes == [[1] * 6, [2] * 3, [2] * 3, [3] * 2]


def test_the_order_depends_on_seed_and_epoch_and_on_nothing_else() -> None:
    lengths = [n % 7 + 1 for n in range(60)]
    made = sampler(lengths)
    first, second = epoch(made, 0), epoch(made, 1)
    assert epoch(made, 0) == first
    assert epoch(sampler(lengths), 1) == second
    assert first != second
    assert epoch(sampler(lengths, seed=2), 0) != first


def test_rows_meet_other_rows_in_every_epoch() -> None:
    made = sampler([5] * 40)
    first, second = (set(map(frozenset, epoch(made, number))) for number in (0, 1))
    assert first != second


def test_batches_of_all_lengths_are_mixed() -> None:
    lengths = [2] * 40 + [10] * 40
    longest = [max(lengths[row] for row in batch) for batch in sampler(lengths)]
    assert longest != sorted(longest)


def test_scoring_goes_by_length_and_ties_by_place() -> None:
    assert list(sampler([3, 1, 3, 1], shuffle=False, max_rows=3)) == [[1, 3, 0], [2]]


def test_a_row_over_the_budget_is_alone() -> None:
    for shuffle in (True, False):
        batches = list(sampler([5, 50, 5], max_tokens=10, shuffle=shuffle))
        assert sorted(map(sorted, batches)) == [[0, 2], [1]]


def test_little_of_a_batch_is_padding() -> None:
    lengths = np.random.default_rng(0).lognormal(3, 0.6, 3000).astype(int) + 1
    made = sampler(lengths, max_tokens=2048, max_rows=10**6)
    cells = sum(len(batch) * lengths[batch].max() for batch in made)
    assert lengths.sum() / cells > 0.92
    # And the batches are full, or nothing would be won.
    assert len(made) < 1.1 * lengths.sum() / 2048 + 1


@pytest.mark.parametrize(
    ("key", "value", "least"), [("max_tokens", 0, 1), ("max_rows", 0, 1), ("num_workers", -1, 0)]
)
def test_a_budget_of_nothing_is_refused_by_its_key(key: str, value: int, least: int) -> None:
    config = compose("train", [f"batching.{key}={value}"])
    message = rf"batching\.{key} is {value}; it must be at least {least}"
    with pytest.raises(ValueError, match=message):
        Batching.from_config(config)
