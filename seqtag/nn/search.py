"""How a decoder's scores become an output."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.decoders.decoder import Decoder

LONGEST = 2**31
"""No output is longer, whatever the limit says: it could not be counted."""


class Found(NamedTuple):
    """Outputs of a batch.

    Attributes:
        symbols: ids ``[batch, target]``, ``END`` from the end of each output on.
        log_probability: of each output, its end included where it has one, ``[batch]``.
        complete: bool ``[batch]``, False where the limit came before the end.
    """

    symbols: Tensor
    log_probability: Tensor
    complete: Tensor


class Search(ABC):
    """Finds the output of each row with a decoder that it asks step by step."""

    @abstractmethod
    def limit(self, length: int) -> int:
        """Most symbols of the output for an input of so many elements."""

    @abstractmethod
    def search(self, decoder: Decoder, memory: Tensor, layout: Layout) -> Found:
        """The output for each row of a batch; each is what the row alone would give.

        No output goes beyond ``decoder.longest``; one that would counts as not complete.

        Args:
            decoder: scores the next symbol.
            memory: the encoded input ``[batch, source, memory_dim]``; anything at padding.
            layout: which elements of the input are real.
        """


class GreedySearch(Search):
    """Takes the most probable symbol at each step, until that is the end or the limit is reached.

    Args:
        max_length: most symbols of an output; None makes it a function of the input's length.
        length_factor: without ``max_length``, symbols for each element of the input ...
        length_extra: ... and so many more.

    Raises:
        ValueError: the limit allows no symbol, or is negative.
    """

    def __init__(self, *, max_length: int | None, length_factor: float, length_extra: int) -> None:
        if max_length is not None and max_length < 1:
            raise ValueError(f"search.max_length is {max_length}; it must be at least 1")
        if not 0 < length_factor + length_extra < math.inf or min(length_factor, length_extra) < 0:
            raise ValueError(
                f"search.length_factor={length_factor} and search.length_extra={length_extra}: "
                "neither may be negative or infinite, nor both be 0"
            )
        self.max_length = max_length
        self.length_factor, self.length_extra = length_factor, length_extra

    def limit(self, length: int) -> int:
        """See the base class."""
        if self.max_length is not None:
            return self.max_length
        return max(1, min(int(self.length_factor * length) + self.length_extra, LONGEST))

    def search(self, decoder: Decoder, memory: Tensor, layout: Layout) -> Found:
        """See the base class."""
        longest = LONGEST if decoder.longest is None else decoder.longest
        limits = [min(self.limit(length), longest) for length in layout.lengths_cpu.tolist()]
        limit = torch.tensor(limits, device=memory.device)
        rows = torch.arange(len(limits), device=memory.device)  # those not yet at their end
        found: list[Tensor] = []  # of each step, the symbol of every row
        log_probability = memory.new_zeros(len(limits), dtype=torch.float32)
        complete = torch.zeros_like(rows, dtype=torch.bool)
        state = decoder.start(memory, layout)
        symbols = torch.full_like(rows, END)
        while len(rows):
            logits, state = decoder.step(symbols, state)
            best = logits.float().log_softmax(dim=-1).max(dim=-1)
            symbols = best.indices
            log_probability[rows] += best.values
            complete[rows] = symbols == END
            found.append(torch.full_like(limit, END).index_put((rows,), symbols))
            going = ((symbols != END) & (limit[rows] > len(found))).nonzero().squeeze(1)
            if len(going) < len(rows):
                rows, symbols, state = rows[going], symbols[going], state.select(going)
        none = limit.new_zeros(len(limit), 0)
        return Found(torch.stack(found, dim=1) if found else none, log_probability, complete)
