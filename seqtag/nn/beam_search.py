"""Several outputs at a time, of which the best are given."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from seqtag.batch import END, Layout
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.length_limit import LengthLimit
from seqtag.nn.search import Candidates, Found, Search

MOST_PENALTY = 10.0
"""Beyond it the penalty of a long output is no number any more; in use are 0 to 2."""


@dataclass
class Hypotheses:
    """Outputs of each row that have come to their end, best first.

    Attributes:
        symbols: ids ``[rows, beam, steps]``, ``END`` from the end of each on.
        log_probability: float64 ``[rows, beam]``.
        score: what they are ranked by, float64 ``[rows, beam]``; minus infinity where there is no
            output.
        complete: bool ``[rows, beam]``, False where the limit came before the end.
    """

    symbols: Tensor
    log_probability: Tensor
    score: Tensor
    complete: Tensor

    @classmethod
    def none(cls, rows: int, beam: int, device: torch.device) -> Hypotheses:
        """Places for so many, in which there is none yet."""
        nothing = torch.full((rows, beam), -math.inf, dtype=torch.float64, device=device)
        return cls(
            symbols=torch.zeros(rows, beam, 0, dtype=torch.int64, device=device),
            log_probability=nothing,
            score=nothing,
            complete=torch.zeros(rows, beam, dtype=torch.bool, device=device),
        )

    def with_others(self, others: Hypotheses) -> Hypotheses:
        """The best of both, as many as these; of equals, those that were there before.

        Args:
            others: of the same rows, one step longer.
        """
        longer = torch.nn.functional.pad(self.symbols, (0, 1), value=END)
        score = torch.cat((self.score, others.score), dim=1)
        order = score.argsort(dim=1, descending=True, stable=True)[:, : self.score.shape[1]]
        return Hypotheses(
            symbols=_take(torch.cat((longer, others.symbols), dim=1), order),
            log_probability=torch.cat((self.log_probability, others.log_probability), dim=1).gather(
                1, order
            ),
            score=score.gather(1, order),
            complete=torch.cat((self.complete, others.complete), dim=1).gather(1, order),
        )

    def select(self, rows: Tensor) -> Hypotheses:
        """Those of these rows ``[n]``."""
        return Hypotheses(
            symbols=self.symbols[rows],
            log_probability=self.log_probability[rows],
            score=self.score[rows],
            complete=self.complete[rows],
        )


class BeamSearch(Search):
    """Follows the ``beam_size`` best outputs of each row at once.

    An output of ``n`` symbols, its end included, is ranked by

        log P(output | input) / ((5 + n) / 6) ** length_penalty

    (Wu et al. 2016, equation 14, without their term for coverage). At 0 the most probable output is
    the best; above, the longer of two may be best though it is less probable. What the limit ends
    is an output like any other: its probability is that of all outputs that begin so.

    At each step all outputs stand in one ranking: those at their end, which stay as they are, and
    every continuation of the others by one symbol. The first ``beam_size`` go on; an output at its
    end, once it was among them, is never forgotten for one that only has begun. A row is done
    when nothing it follows could still be ranked among its ``n_best``: since log probabilities only
    fall and no output is longer than the limit, none that has begun gets beyond its present log
    probability over the penalty of the limit.

    With a beam of 1 that is ``GreedySearch``. With a beam as wide as there are outputs it is exact;
    else the best may be missed. Of equals the earlier ends first, then follows the better beginning
    (the one ranked higher a step before), then the lower id. Time and memory are those of
    ``beam_size`` times as many rows, at most.

    Args:
        beam_size: outputs that are followed at each step.
        n_best: how many of them are given, at most ``beam_size``.
        length_penalty: the exponent above, 0 to 10.
        max_length: see ``LengthLimit``.
        length_factor: likewise.
        length_extra: likewise.

    Raises:
        ValueError: a setting is out of range.
    """

    def __init__(
        self,
        *,
        beam_size: int,
        n_best: int,
        length_penalty: float,
        max_length: int | None,
        length_factor: float,
        length_extra: int,
    ) -> None:
        if beam_size < 1:
            raise ValueError(f"search.beam_size is {beam_size}; it must be at least 1")
        if not 1 <= n_best <= beam_size:
            raise ValueError(
                f"search.n_best is {n_best}; it must be at least 1 and at most "
                f"search.beam_size={beam_size}"
            )
        if not 0 <= length_penalty <= MOST_PENALTY:
            raise ValueError(
                f"search.length_penalty is {length_penalty}; it must lie in [0, {MOST_PENALTY:g}]"
            )
        self.beam_size, self.n_best, self.length_penalty = beam_size, n_best, length_penalty
        self.limit = LengthLimit(
            max_length=max_length, length_factor=length_factor, length_extra=length_extra
        )

    def penalty(self, symbols: int) -> float:
        """What the log probability of an output of so many symbols is divided by."""
        return math.pow((5 + symbols) / 6, self.length_penalty)

    def search(self, decoder: Decoder, memory: Tensor, layout: Layout) -> Found:
        """See the base class."""
        device, beam = memory.device, self.beam_size
        limits = self.limit.of(decoder, layout)
        limit = torch.tensor(limits, dtype=torch.int64, device=device)
        most = torch.tensor(
            [self.penalty(symbols) for symbols in limits], dtype=torch.float64, device=device
        )
        rows = torch.arange(len(limits), device=device)  # those not yet done
        ended = Hypotheses.none(len(limits), beam, device)
        # Of what has begun: log probabilities [rows, beam], minus infinity in an empty place, and
        # ids [rows, beam, steps]. Float64, that no two symbols fall together behind a long output.
        followed = ended.log_probability.clone()
        followed[:, :1] = 0
        begun = ended.symbols
        last = torch.full((len(limits), beam), END, device=device)
        places = torch.arange(beam, device=device)
        done: list[tuple[Tensor, Hypotheses]] = []
        state = decoder.start(memory, layout)
        step = 0
        while len(rows):
            step += 1
            alive = followed.isfinite()  # row by row, the order of the decoder's state
            logits, state = decoder.step(last[alive], state)
            log_probability, origin, symbols = self._continue(followed, alive, logits)
            begun = torch.cat((_take(begun, origin), symbols.unsqueeze(2)), dim=2)
            score = log_probability / self.penalty(step)
            before = (ended.score.unsqueeze(1) >= score.unsqueeze(2)).sum(dim=2)
            kept = log_probability.isfinite() & (before + places < beam)
            over = (symbols == END) | (limit == step).unsqueeze(1)
            ended = ended.with_others(
                Hypotheses(
                    symbols=begun,
                    log_probability=log_probability,
                    score=score.where(kept & over, -math.inf),
                    complete=symbols == END,
                )
            )
            followed = log_probability.where(kept & ~over, -math.inf)
            going = followed.amax(dim=1) / most > ended.score[:, self.n_best - 1]
            stopped, going = (~going).nonzero().squeeze(1), going.nonzero().squeeze(1)
            if len(stopped):
                done.append((rows[stopped], ended.select(stopped)))
                rows, limit, most = rows[going], limit[going], most[going]
                ended, begun, followed = ended.select(going), begun[going], followed[going]
            # Which row of the state each continuation comes from.
            position = (alive.flatten().cumsum(0) - 1).view_as(alive).gather(1, origin)[going]
            state = state.select(position[followed.isfinite()])
            last = symbols[going]
        return self._found(done, batch=len(limits), steps=step, device=device)

    def _continue(
        self, followed: Tensor, alive: Tensor, logits: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations of each row by one symbol, best first.

        Args:
            followed: log probabilities ``[rows, beam]`` of what has begun.
            alive: bool ``[rows, beam]``, where there is something.
            logits: of the next symbol, ``[alive, classes]``.

        Returns:
            Of each, ``[rows, beam]``: log probability, place of what it continues, and symbol.
        """
        # Of one beginning no more than the beam can be among the best.
        shares, ids = _largest(logits.float().log_softmax(dim=-1), self.beam_size)
        width = shares.shape[1]
        values = followed.new_full((*followed.shape, width), -math.inf)
        values[alive] = followed[alive].unsqueeze(1) + shares
        symbols = ids.new_zeros(values.shape)
        symbols[alive] = ids
        best, index = _largest(values.flatten(1), self.beam_size)
        return best, index // width, symbols.flatten(1).gather(1, index)

    def _found(
        self,
        done: list[tuple[Tensor, Hypotheses]],
        *,
        batch: int,
        steps: int,
        device: torch.device,
    ) -> Found:
        """What was found, in the order of the batch's rows."""
        symbols = torch.full((batch, self.n_best, steps), END, device=device)
        log_probability = torch.zeros(batch, self.n_best, device=device)
        complete = torch.zeros(batch, dtype=torch.bool, device=device)
        for rows, ended in done:
            there = ended.score[:, : self.n_best].isfinite()
            chosen = torch.arange(self.n_best, device=device).where(there, 0)
            symbols[rows, :, : ended.symbols.shape[2]] = _take(ended.symbols, chosen)
            known = ended.log_probability[:, : self.n_best].where(there, -math.inf)
            log_probability[rows] = known.float()
            complete[rows] = ended.complete[:, 0]
        return Found(
            symbols=symbols[:, 0],
            log_probability=log_probability[:, 0],
            complete=complete,
            candidates=Candidates(symbols, log_probability),
        )


def _take(symbols: Tensor, places: Tensor) -> Tensor:
    """The ids ``[rows, n, steps]`` at ``places [rows, n]`` of ``symbols [rows, beam, steps]``."""
    return symbols.gather(1, places.unsqueeze(2).expand(-1, -1, symbols.shape[2]))


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest of each row of ``values [n, m]``, in order, and where; it is written over.

    Of equals the first comes first, which ``topk`` leaves open. Where all that is left is minus
    infinity, places repeat.
    """
    found = []
    for _ in range(min(count, values.shape[1])):
        best = values.max(dim=1)
        found.append(best)
        values.scatter_(1, best.indices.unsqueeze(1), -math.inf)
    return (
        torch.stack([best.values for best in found], dim=1),
        torch.stack([best.indices for best in found], dim=1),
    )
