"""How a decoder's scores become an output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.length_limit import LengthLimit


class Candidates(NamedTuple):
    """The best outputs of each row that a search has found, best first.

    A row for which there are fewer than ``n_best`` has its best one again in the last places, where
    its log probability is minus infinity.

    Attributes:
        symbols: ids ``[batch, n_best, target]``, ``END`` from the end of each output on.
        log_probability: ``[batch, n_best]``.
    """

    symbols: Tensor
    log_probability: Tensor


class Found(NamedTuple):
    """Outputs of a batch.

    Attributes:
        symbols: ids ``[batch, target]``, ``END`` from the end of each output on.
        log_probability: of each output, its end included where it has one, ``[batch]``.
        complete: bool ``[batch]``, False where the limit came before the end.
        candidates: those and the next best; None from a search that follows one output only.
    """

    symbols: Tensor
    log_probability: Tensor
    complete: Tensor
    candidates: Candidates | None = None


class Search(ABC):
    """Finds the output of each row with a decoder that it asks step by step.

    Attributes:
        limit: most symbols of an output, by the length of its input.
    """

    limit: LengthLimit

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

    Of equally probable symbols it takes the one with the lowest id.

    Args:
        max_length: see ``LengthLimit``.
        length_factor: likewise.
        length_extra: likewise.

    Raises:
        ValueError: the limit allows no symbol, or is negative.
    """

    def __init__(self, *, max_length: int | None, length_factor: float, length_extra: int) -> None:
        self.limit = LengthLimit(
            max_length=max_length, length_factor=length_factor, length_extra=length_extra
        )

    def search(self, decoder: Decoder, memory: Tensor, layout: Layout) -> Found:
        """See the base class."""
        limit = torch.tensor(
            self.limit.of(decoder, layout), dtype=torch.int64, device=memory.device
        )
        rows = torch.arange(len(limit), device=memory.device)  # those not yet at their end
        found: list[Tensor] = []  # of each step, the symbol of every row
        log_probability = memory.new_zeros(len(limit), dtype=torch.float32)
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
