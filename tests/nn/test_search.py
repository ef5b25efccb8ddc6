"""Search over a decoder whose answers are written down."""

import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.decoders.decoder import Decoder, State
from seqtag.nn.search import GreedySearch

A, B = 1, 2


@dataclass
class Place(State):
    rows: Tensor
    place: int

    def select(self, rows: Tensor) -> State:
        return Place(self.rows[rows], self.place)


class Written(Decoder):
    """Says what is written for each row, with probability 3/4, the rest shared by two others."""

    def __init__(self, script: list[list[int]]) -> None:
        super().__init__()
        self.script = script
        self.asked: list[int] = []

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        raise NotImplementedError

    def start(self, memory: Tensor, layout: Layout) -> State:
        return Place(torch.arange(len(memory)), 0)

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        assert isinstance(state, Place)
        said = [self.script[row] for row in state.rows.tolist()]
        if state.place:
            assert symbols.tolist() == [line[state.place - 1] for line in said]
        else:
            assert symbols.tolist() == [END] * len(said)
        self.asked.append(len(said))
        shares = torch.full((len(said), 3), 1 / 8)
        shares[torch.arange(len(said)), [line[state.place] for line in said]] = 3 / 4
        return shares.log(), Place(state.rows, state.place + 1)


def search(script: list[list[int]], lengths: list[int], **limits):
    limits = {"max_length": None, "length_factor": 1.0, "length_extra": 0} | limits
    memory = torch.zeros(len(lengths), max(lengths), 4)
    decoder = Written(script)
    found = GreedySearch(**limits).search(decoder, memory, Layout.of(torch.tensor(lengths)))
    return found, decoder


def test_each_row_stops_at_its_own_end_and_is_not_asked_again() -> None:
    found, decoder = search([[A, END, B, B], [A, B, A, END], [END]], [9, 9, 9])
    assert found.symbols.tolist() == [[A, END, END, END], [A, B, A, END], [END, END, END, END]]
    assert decoder.asked == [3, 2, 1, 1]
    expected = [math.log(3 / 4) * steps for steps in (2, 4, 1)]
    assert found.log_probability.tolist() == pytest.approx(expected)


def test_the_limit_follows_the_length_of_each_row() -> None:
    found, _ = search([[A, B, A, B, A]] * 2, [2, 1], length_factor=1.5, length_extra=0)
    assert found.symbols.tolist() == [[A, B, A], [A, END, END]]
    found, _ = search([[A, B, A, B, A]] * 2, [2, 1], length_factor=0.0, length_extra=2)
    assert found.symbols.tolist() == [[A, B], [A, B]]


def test_a_given_limit_replaces_that_function() -> None:
    found, _ = search([[A, B, A, B, A]] * 2, [2, 1], max_length=4)
    assert found.symbols.tolist() == [[A, B, A, B]] * 2


def test_an_output_may_be_as_long_as_the_limit() -> None:
    found, _ = search([[A, B, END]], [2])
    assert found.symbols.tolist() == [[A, B]]


def test_no_row_at_all_finds_nothing() -> None:
    layout = Layout.of(torch.zeros(0, dtype=torch.int64))
    found = GreedySearch(max_length=3, length_factor=1.0, length_extra=0).search(
        Written([]), torch.zeros(0, 0, 4), layout
    )
    assert found.symbols.shape == (0, 0)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((0, 1.0, 0), "search.max_length is 0"),
        ((None, -1.0, 5), "negative"),
        ((None, 1.0, -1), "negative"),
        ((None, 0.0, 0), "both"),
    ],
)
def test_limits_that_allow_nothing_are_refused(limits, message: str) -> None:
    longest, factor, extra = limits
    with pytest.raises(ValueError, match=message):
        GreedySearch(max_length=longest, length_factor=factor, length_extra=extra)


def test_no_decoder_is_asked_for_more_than_it_can_make() -> None:
    for longest, made in ((None, [A, B, A, B]), (9, [A, B, A, B]), (2, [A, B]), (1, [A])):
        decoder = Written([[A, B, A, B], [A, END, END, END]])
        decoder.longest = longest
        memory, layout = torch.zeros(2, 1, 4), Layout.of(torch.tensor([1, 1]))
        search = GreedySearch(max_length=4, length_factor=1.0, length_extra=0)
        found = search.search(decoder, memory, layout)
        assert found.symbols[0].tolist() == made
        assert found.complete.tolist() == [False, longest != 1]
        assert len(decoder.asked) == len(made)
