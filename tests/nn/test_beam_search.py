"""Beam search, beside a list of everything that could be said."""

import math
from itertools import product

import pytest
import torch

from seqtag.batch import END
from seqtag.nn.beam_search import BeamSearch
from seqtag.nn.search import Candidates, Found, GreedySearch

from .tabled_decoder import (
    Prefix,
    Shares,
    TabledDecoder,
    by_chance,
    every_output,
    memory_of,
)

A, B = 1, 2
LIMITS = {"length_factor": 1.0, "length_extra": 0}
PENALTIES = [0.0, 0.6, 1.0, 4.0]


def beam_search(
    shares: Shares,
    rows: list[int],
    *,
    beam: int,
    limit: int,
    n_best: int = 1,
    penalty: float = 0.0,
    longest: int | None = None,
) -> tuple[Found, TabledDecoder]:
    decoder = TabledDecoder(shares, longest)
    search = BeamSearch(
        beam_size=beam, n_best=n_best, length_penalty=penalty, max_length=limit, **LIMITS
    )
    return search.search(decoder, *memory_of(rows)), decoder


def candidates(found: Found) -> Candidates:
    assert found.candidates is not None
    return found.candidates


def outputs(found: Found, row: int = 0) -> list[Prefix]:
    """The candidates of a row without what stands behind their end."""
    best = candidates(found)
    there = best.log_probability[row].isfinite().tolist()
    lines = [
        line for line, is_there in zip(best.symbols[row].tolist(), there, strict=True) if is_there
    ]
    return [tuple(line[: line.index(END) + 1] if END in line else line) for line in lines]


def ranked(row: int, *, limit: int, penalty: float) -> list[tuple[Prefix, float]]:
    """Every output of the decoder by chance, best first by the written formula."""
    every = every_output(by_chance, row, limit=limit, classes=3)
    return sorted(every, key=lambda one: -one[1] / ((5 + len(one[0])) / 6) ** penalty)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_a_beam_as_wide_as_there_are_outputs_ranks_them_all(limit: int, penalty: float) -> None:
    every = 2 ** (limit + 1) - 1  # with two symbols and an end
    found, _ = beam_search(
        by_chance, [0, 1, 2], beam=every, n_best=every, limit=limit, penalty=penalty
    )
    for row in range(3):
        expected = ranked(row, limit=limit, penalty=penalty)
        assert outputs(found, row) == [output for output, _ in expected]
        logs = candidates(found).log_probability[row].tolist()
        assert logs == pytest.approx([log for _, log in expected], rel=1e-5)
        assert bool(found.complete[row]) == (expected[0][0][-1] == END)
        assert sum(math.exp(log) for log in logs) == pytest.approx(1)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_that_it_stops_early_loses_nothing(penalty: float) -> None:
    # Asked for fewer, it may stop before all that it follows has ended.
    rows, steps = list(range(40)), []
    for n_best in (1, 2, 4):
        found, decoder = beam_search(
            by_chance, rows, beam=4, n_best=n_best, limit=7, penalty=penalty
        )
        whole, _ = beam_search(by_chance, rows, beam=4, n_best=4, limit=7, penalty=penalty)
        steps.append(sum(map(len, decoder.asked)))
        for row in rows:
            assert outputs(found, row) == outputs(whole, row)[:n_best]
    assert steps[0] < steps[2]


def test_a_longer_output_may_win_by_the_penalty_and_not_without() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        return [0.99, 0.005, 0.005] if said else [0.5, 0.4, 0.1]

    # log 0.5 = -0.693 and log(0.4 * 0.99) = -0.926; the second over (7/6)^2 = 1.361 is -0.681.
    for penalty, best in ((0.0, (END,)), (1.0, (END,)), (2.0, (A, END))):
        found, _ = beam_search(shares, [0], beam=2, limit=5, penalty=penalty)
        assert outputs(found) == [best]
    assert float(found.log_probability) == pytest.approx(math.log(0.4 * 0.99))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("limit", [1, 3, 9])
def test_a_beam_of_one_is_greedy_search(limit: int, penalty: float) -> None:
    rows = list(range(50))
    found, _ = beam_search(by_chance, rows, beam=1, limit=limit, penalty=penalty)
    greedy = GreedySearch(max_length=limit, **LIMITS)
    expected = greedy.search(TabledDecoder(by_chance), *memory_of(rows))
    assert found.symbols.tolist() == expected.symbols.tolist()
    assert found.complete.tolist() == expected.complete.tolist()
    torch.testing.assert_close(found.log_probability, expected.log_probability)


def test_it_finds_what_greedy_search_misses() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        table = {(): [0.0, 0.6, 0.4], (A,): [0.5, 0.25, 0.25], (B,): [1.0, 0.0, 0.0]}
        return table[said]

    greedy = GreedySearch(max_length=2, **LIMITS).search(TabledDecoder(shares), *memory_of([0]))
    assert greedy.symbols.tolist() == [[A, END]]  # 0.6 * 0.5
    found, _ = beam_search(shares, [0], beam=2, n_best=2, limit=2)
    assert outputs(found) == [(B, END), (A, END)]
    chances = candidates(found).log_probability.exp()
    assert chances.tolist() == [pytest.approx([0.4, 0.3])]


def test_an_output_at_its_end_is_not_forgotten_for_beginnings_that_come_to_nothing() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        table = {(): [0.25, 0.6, 0.15], (A,): [0.0, 0.5, 0.5]}
        return table.get(said, [1 / 3, 1 / 3, 1 / 3])

    # A A and A B, 0.3 each, fill the beam of two; what they become is 0.1 at the most.
    found, _ = beam_search(shares, [0], beam=2, n_best=2, limit=3)
    assert outputs(found) == [(END,), (A, A, END)]


def test_a_row_finds_the_same_in_any_company() -> None:
    settings = {"beam": 3, "n_best": 3, "limit": 6, "penalty": 0.6}
    rows = list(range(12))
    alone = [outputs(beam_search(by_chance, [row], **settings)[0]) for row in rows]
    for size in (5, 12):
        for begin in range(0, 12, size):
            found, _ = beam_search(by_chance, rows[begin : begin + size], **settings)
            for place, row in enumerate(rows[begin : begin + size]):
                assert outputs(found, place) == alone[row]


def test_candidates_differ_and_come_in_order() -> None:
    for penalty, beam in product(PENALTIES, (2, 5)):
        rows = list(range(20))
        found, _ = beam_search(by_chance, rows, beam=beam, n_best=beam, limit=6, penalty=penalty)
        best = candidates(found)
        for row in rows:
            made = outputs(found, row)
            assert len(set(made)) == len(made) == beam
            scores = [
                log / ((5 + len(output)) / 6) ** penalty
                for output, log in zip(made, best.log_probability[row].tolist(), strict=True)
            ]
            assert scores == sorted(scores, reverse=True)
        assert torch.equal(best.symbols[:, 0], found.symbols)
        assert torch.equal(best.log_probability[:, 0], found.log_probability)


def test_of_equals_the_earlier_end_then_the_lower_ids_come_first() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        return [0.25, 0.25, 0.25, 0.25]

    for rows in ([0], [0] * 9):
        found, _ = beam_search(shares, rows, beam=5, n_best=5, limit=2)
        for row in range(len(rows)):
            # A, B and 3 are as good as the end at first; then what continues A fills the beam.
            assert outputs(found, row) == [(END,), (A, END), (A, A), (A, B), (A, 3)]


def test_where_there_are_fewer_the_best_stands_again() -> None:
    found, _ = beam_search(by_chance, [0, 1], beam=8, n_best=5, limit=1)
    best = candidates(found)
    assert best.symbols.shape == (2, 5, 1)
    for row in range(2):
        expected = [symbol for (symbol,), _ in ranked(row, limit=1, penalty=0.0)]
        assert best.symbols[row, :, 0].tolist() == [*expected, expected[0], expected[0]]
        assert best.log_probability[row, 3:].tolist() == [-math.inf] * 2


def test_only_what_has_not_ended_is_asked_on_and_rows_that_are_done_are_dropped() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        if row == 0:
            return [0.9, 0.05, 0.05]
        return [0.05, 0.5, 0.45] if len(said) < 2 else [0.98, 0.01, 0.01]

    found, decoder = beam_search(shares, [0, 1], beam=2, limit=9)
    assert found.symbols.tolist() == [[END, END, END], [A, A, END]]
    assert decoder.asked == [[(), ()], [(A,), (B,)], [(A, A), (A, B)]]


@pytest.mark.parametrize("behind", [[0.2, 0.5, 0.3], [0.0, 0.5, 0.5]])
def test_what_has_ended_takes_a_place_in_the_beam(behind: list[float]) -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        return {(): [0.25, 0.5, 0.25], (A,): behind}.get(said, [0.5, 0.25, 0.25])

    # The end has 0.25, as B has, and then as A A has; in a beam of two A B is the third.
    _, decoder = beam_search(shares, [0], beam=2, n_best=2, limit=3)
    assert decoder.asked == [[()], [(A,)], [(A, A)]]


def test_each_row_goes_on_by_its_own_limit_when_others_are_done() -> None:
    def shares(row: int, said: Prefix) -> list[float]:
        if row == 0:
            return [0.9, 0.05, 0.05]
        return {(): [0.0, 1.0, 0.0], (A,): [0.5, 0.4, 0.1]}.get(said, [0.99, 0.005, 0.005])

    # log 0.5 over (7/6)^3 is -0.437, log(0.4 * 0.99) over (8/6)^3 is -0.391: what has begun, with
    # log 0.4 = -0.916, may still win within a limit of six, and could not within one of one.
    memory, layout = memory_of([0, 1])
    layout.lengths_cpu = torch.tensor([1, 6])
    search = BeamSearch(beam_size=2, n_best=1, length_penalty=3.0, max_length=None, **LIMITS)
    found = search.search(TabledDecoder(shares), memory, layout)
    assert found.symbols.tolist()[1][:3] == [A, A, END]


def test_no_decoder_is_asked_for_more_than_the_limit_or_than_it_can_make() -> None:
    def endless(row: int, said: Prefix) -> list[float]:
        return [1e-6, 0.6, 0.4]

    for longest, steps in ((None, 4), (9, 4), (2, 2), (1, 1)):
        found, decoder = beam_search(endless, [0, 1], beam=3, n_best=3, limit=4, longest=longest)
        assert candidates(found).symbols.shape == (2, 3, steps)
        assert found.symbols.tolist() == [[A] * steps] * 2
        assert found.complete.tolist() == [False, False]
        assert len(decoder.asked) == steps


def test_the_limit_follows_the_length_of_each_row() -> None:
    def endless(row: int, said: Prefix) -> list[float]:
        return [1e-6, 0.6, 0.4]

    memory, layout = memory_of([0, 1])
    layout.lengths_cpu = torch.tensor([3, 1])
    search = BeamSearch(
        beam_size=2,
        n_best=1,
        length_penalty=1.0,
        max_length=None,
        **LIMITS | {"length_factor": 1.5},
    )
    found = search.search(TabledDecoder(endless), memory, layout)
    assert found.symbols.tolist() == [[A, A, A, A], [A, END, END, END]]


def test_no_row_at_all_finds_nothing() -> None:
    found, decoder = beam_search(by_chance, [], beam=3, n_best=2, limit=4)
    assert found.symbols.shape == (0, 0)
    assert candidates(found).symbols.shape == (0, 2, 0)
    assert not decoder.asked


def test_a_model_without_a_number_to_say_ends() -> None:
    found, _ = beam_search(lambda row, said: [math.nan] * 3, [0, 1], beam=2, n_best=2, limit=9)
    assert found.symbols.tolist() == [[END], [END]]
    assert found.complete.tolist() == [False, False]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"beam_size": 0}, r"search\.beam_size is 0; it must be at least 1"),
        ({"beam_size": -2}, r"search\.beam_size is -2"),
        ({"n_best": 5}, r"search\.n_best is 5; .* at most search\.beam_size=4"),
        ({"n_best": 0}, r"search\.n_best is 0"),
        ({"length_penalty": -0.1}, r"search\.length_penalty is -0\.1; it must lie in \[0, 10\]"),
        ({"length_penalty": math.inf}, r"search\.length_penalty is inf"),
        ({"length_penalty": math.nan}, r"search\.length_penalty is nan"),
        ({"max_length": 0}, r"search\.max_length is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message: str) -> None:
    settings = {"beam_size": 4, "n_best": 1, "length_penalty": 0.0, "max_length": 5}
    with pytest.raises(ValueError, match=message):
        BeamSearch(**settings | changed, **LIMITS)


def test_the_greatest_penalty_of_the_longest_output_is_a_number() -> None:
    search = BeamSearch(beam_size=2, n_best=1, length_penalty=10.0, max_length=2**31, **LIMITS)
    assert math.isfinite(search.penalty(search.limit(1)))
    found = search.search(TabledDecoder(by_chance), *memory_of([0]))
    assert bool(found.complete)
