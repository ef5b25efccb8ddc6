"""A decoder that looks its answers up, so that all its outputs can be counted."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.decoders.decoder import Decoder, State

Prefix = tuple[int, ...]
Shares = Callable[[int, Prefix], list[float]]
"""Of a row and the symbols so far, the probability of each next symbol."""


@dataclass
class Said(State):
    rows: list[int]
    symbols: list[Prefix]

    def select(self, rows: Tensor) -> State:
        chosen = rows.tolist()
        return Said([self.rows[i] for i in chosen], [self.symbols[i] for i in chosen])


class TabledDecoder(Decoder):
    """Each row is known by the number that it holds, wherever it stands in the batch."""

    def __init__(self, shares: Shares, longest: int | None = None) -> None:
        super().__init__()
        self.shares, self.longest = shares, longest
        self.asked: list[list[Prefix]] = []

    def forward(self, target_in: Tensor, memory: Tensor, layout: Layout) -> Tensor:
        raise NotImplementedError

    def start(self, memory: Tensor, layout: Layout) -> State:
        return Said([int(row) for row in memory[:, 0, 0].tolist()], [()] * len(memory))

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        assert isinstance(state, Said)
        first = not self.asked
        said = [
            () if first else (*before, symbol)
            for before, symbol in zip(state.symbols, symbols.tolist(), strict=True)
        ]
        assert not any(END in prefix for prefix in said), "what has ended is not gone on with"
        self.asked.append(said)
        shares = [self.shares(row, prefix) for row, prefix in zip(state.rows, said, strict=True)]
        return torch.tensor(shares).log(), Said(state.rows, said)


@cache
def by_chance(row: int, prefix: Prefix, classes: int = 3) -> list[float]:
    """Some probabilities, the same each time."""
    generator = torch.Generator().manual_seed(hash((row, *prefix)) % 2**31)
    logits = 1.5 * torch.randn(classes, generator=generator)
    made: list[float] = logits.softmax(dim=0).tolist()
    return made


def memory_of(rows: list[int]) -> tuple[Tensor, Layout]:
    """An encoded input of one element for each of these rows."""
    memory = torch.tensor(rows, dtype=torch.float32).view(-1, 1, 1)
    return memory, Layout.of(torch.ones(len(rows), dtype=torch.int64))


def every_output(
    shares: Shares, row: int, *, limit: int, classes: int
) -> list[tuple[Prefix, float]]:
    """All that a decoder can say within a limit, with ``END`` where it has one, and their log
    probability."""
    outputs = []
    for steps in range(1, limit + 1):
        for symbols in product(range(1, classes), repeat=steps - 1):
            last = range(classes) if steps == limit else (END,)
            outputs += [(*symbols, symbol) for symbol in last]
    return [
        (output, sum(math.log(shares(row, output[:i])[s]) for i, s in enumerate(output)))
        for output in outputs
    ]
