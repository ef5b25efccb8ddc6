"""The order of elements: attention without positions, and with each kind of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Interval, Row, Verdict
from seqtag.claims.training import (
    FIRST_SYMBOL,
    accuracy,
    count_parameters,
    make_batch,
    make_model,
    train,
)
from seqtag.configuration import options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSITIONS = "encoder/position"
NONE = "none"
"""The group whose options are compared, and the one without positions."""

NOISE = 0.02
"""An accuracy this close to the ceiling is at it: four standard errors of 8,000 labels."""

LASTING = 0.9
"""A kind lasts, if this share of its accuracy is left at the longest rows."""

MARKERS = "osDv^<>PXph"


class Order(Claim):
    """Rows of symbols drawn evenly; the label of each is the symbol to its left.

    Attention without positions gives elements in another order the same answers in that order. So
    all that it can use is the symbol itself and the bag of the others, of which each is equally
    likely to stand to the left. Whatever it learns, it is right no more often than one who always
    names the most frequent of the others: the ceiling, known for each row.

    The claim holds, if without positions the accuracy at the training length is within ``NOISE``
    of the ceiling, and at no length more than that above it, and if with each kind of position the
    interval at the training length lies above the ceiling.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        encoder: the encoder of all kinds, as overrides of ``train``.
        own: further overrides of a kind, by its name.
        symbols: how many there are.
        length: of the rows in training.
        times: lengths of the tests, as multiples of ``length``; the first is 1.
        labels: how many are asked for in the test at each length, about.
        steps: of training, ``[default, full]``.
        rows: of a batch.
        lr: highest learning rate.

    Raises:
        ValueError: ``times`` does not begin with 1, or there are fewer than two elements.
    """

    title = (
        "Without positions attention knows no more of the order than a bag of words does; with "
        "any kind of position it does."
    )
    keys = ("position", "length")
    measures = ("accuracy", "ceiling", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        encoder: str,
        own: Mapping[str, str],
        symbols: int,
        length: int,
        times: Sequence[int],
        labels: int,
        steps: Sequence[int],
        rows: int,
        lr: float,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if not times or times[0] != 1 or length < 2:
            raise ValueError(
                f"claim.times is {list(times)} and claim.length {length}; times must begin with 1, "
                "the training length, which must be 2 or more"
            )
        self.kinds = options(POSITIONS)
        self.encoder, self.own, self.symbols = encoder, own, symbols
        self.length, self.lengths = length, [length * number for number in times]
        self.labels, self.steps, self.rows, self.lr = labels, steps[full], rows, lr

    @property
    def size(self) -> int:
        """A row per kind of position and length."""
        return len(self.kinds) * len(self.lengths)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains the encoder with each kind on one length, and asks it at all lengths.

        Where a kind refuses a length, its accuracy there is None.
        """
        for kind in self.kinds:
            model = make_model(
                [
                    *self.encoder.split(),
                    f"{POSITIONS}={kind}",
                    *self.own.get(kind, "").split(),
                ],
                task="tagging",
                symbols=self.symbols,
                labels=self.symbols,
                seed=seed,
            ).to(self.device)
            train(model, self.draw, steps=self.steps, lr=self.lr, seed=seed)
            longest = model.encoder.longest
            for length in self.lengths:
                refused = longest is not None and length > longest
                rows = max(1, self.labels // (length - 1))
                generator = torch.Generator().manual_seed(1000 + seed)
                symbols = self.draw_symbols(generator, rows=rows, length=length)
                yield {
                    "position": kind,
                    "length": length,
                    "accuracy": None if refused else accuracy(model, [left_of(symbols)]),
                    "ceiling": bag_ceiling(symbols, self.symbols),
                    "parameters": count_parameters(model),
                }

    def draw(self, generator: torch.Generator) -> Batch:
        """A batch of training."""
        return left_of(self.draw_symbols(generator, rows=self.rows, length=self.length))

    def draw_symbols(self, generator: torch.Generator, *, rows: int, length: int) -> Tensor:
        """Symbols from 0 on, ``[rows, length]``."""
        return torch.randint(self.symbols, (rows, length), generator=generator)

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """See the class."""
        found, ceilings = self.intervals(rows, "accuracy"), self.intervals(rows, "ceiling")
        shortest, longest = self.lengths[0], self.lengths[-1]
        ceiling = ceilings[NONE, shortest]
        without = found[NONE, shortest]
        at_ceiling = abs(without.mean - ceiling.mean) <= NOISE and all(
            value.mean <= ceilings[kind, length].mean + NOISE
            for (kind, length), value in found.items()
            if kind == NONE
        )
        kinds = {kind: value for (kind, length), value in found.items() if length == shortest}
        del kinds[NONE]
        blind = [kind for kind, value in kinds.items() if value.low <= ceiling.mean]
        lowest = min(kinds, key=lambda kind: kinds[kind].mean)
        line = (
            f"without positions {without.spell()}, the bag's ceiling {ceiling.spell()}; "
            f"the lowest of {len(kinds)} kinds is {lowest} with {kinds[lowest].spell()}"
        )
        if blind:
            line += f"; not above the ceiling for certain: {', '.join(blind)}"
        paragraph = (
            f"Rows of {shortest} symbols, each one of {self.symbols} at random; the label of each "
            "is the symbol to its left. One who knows the bag only, and names the most frequent "
            f"of the others, is right in {ceiling.spell()} of cases, and no model without "
            "positions can do better. The same attention encoder was trained with each kind for "
            f"{self.steps} steps of {self.rows} rows, all with the same data, and asked for about "
            f"{self.labels:,} labels. {_spell(kinds)}. {self._one_sided(kinds)} "
            f"{_lasting(found, shortest, longest)} The ceiling there is "
            f"{ceilings[NONE, longest].spell()}. This asks for the nearest neighbour only: what a "
            "kind does with far distances, or with more training, it does not show."
        )
        return Verdict(at_ceiling and not blind, line, paragraph)

    def _one_sided(self, kinds: Mapping[str, Interval]) -> str:
        """Which kinds do no better than one who knows both neighbours, but not their sides."""
        bound = (1 + 1 / self.symbols) / 2
        names = [kind for kind, value in kinds.items() if value.mean <= bound + NOISE]
        return (
            "Who knows the two neighbours but not their sides is right where both agree and in "
            f"half of the other cases, {bound:.3f}: a bound, the ends of the rows aside, for a "
            "kind that knows distances but not directions. Not clearly above it: "
            f"{', '.join(names) or 'none of the kinds'}."
        )

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Accuracy of each kind by length, with the ceiling; the best at the end come first."""
        found, ceilings = self.intervals(rows, "accuracy"), self.intervals(rows, "ceiling")
        axes = figure.subplots()
        longest = self.lengths[-1]

        def last(kind: str) -> float:
            return found[kind, longest].mean if (kind, longest) in found else -1.0

        kinds = sorted(set(self.kinds) - {NONE}, key=last, reverse=True)
        for number, kind in enumerate([*kinds, NONE]):
            lengths = [length for length in self.lengths if (kind, length) in found]
            values = [found[kind, length] for length in lengths]
            refusal = "" if longest in lengths else f" (up to {max(lengths, default=0)})"
            axes.errorbar(
                lengths,
                [value.mean for value in values],
                yerr=[value.high - value.mean for value in values],
                label=kind + refusal,
                marker=MARKERS[number % len(MARKERS)],
                color="black" if kind == NONE else f"C{number % 10}",
                capsize=2,
            )
        axes.plot(
            self.lengths,
            [ceilings[NONE, length].mean for length in self.lengths],
            color="0.8",
            linewidth=6,
            zorder=0,
            label="ceiling of the bag",
        )
        axes.set_xscale("log", base=2)
        axes.set_xticks(self.lengths, [str(length) for length in self.lengths])
        axes.set_xlabel(f"elements of a row (trained on {self.length})")
        axes.set_ylabel("share of labels found")
        axes.set_ylim(0, 1.05)
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper", fontsize="small")


def left_of(symbols: Tensor) -> Batch:
    """Rows of symbols; the label of each is its left neighbour, and the first has none.

    Args:
        symbols: from 0 on, ``[batch, source]``.
    """
    labels = symbols.roll(1, dims=1)
    labels[:, 0] = -1
    return make_batch(symbols + FIRST_SYMBOL, labels)


def bag_ceiling(symbols: Tensor, count: int) -> float:
    """How often the most frequent of the others stands to the left, in all orders of the rows.

    Args:
        symbols: from 0 on, ``[batch, source]``.
        count: how many different ones there are.

    Returns:
        The mean over all elements but the first of each row; an element's left neighbour is each
        of the others with the same probability.
    """
    own = one_hot(symbols, count)  # [batch, source, count]
    others = own.sum(dim=1, keepdim=True) - own
    best = others.amax(dim=-1)[:, 1:]
    return float(best.double().mean()) / (symbols.shape[1] - 1)


def _spell(kinds: Mapping[str, Interval]) -> str:
    ordered = sorted(kinds.items(), key=lambda item: -item[1].mean)
    return "Found with each kind: " + "; ".join(f"{kind} {v.spell()}" for kind, v in ordered)


def _lasting(found: Mapping[tuple[str, int], Interval], shortest: int, longest: int) -> str:
    """What is left of each kind at the longest rows."""
    lasting: list[str] = []
    falling: list[str] = []
    refusing: list[str] = []
    for kind, length in found:
        if length != shortest or kind == NONE:
            continue
        if (kind, longest) not in found:
            refusing.append(kind)
            continue
        left = found[kind, longest]
        group = lasting if left.mean >= LASTING * found[kind, shortest].mean else falling
        group.append(f"{kind} ({left.spell(2)})")
    return (
        f"On rows of {longest}, {longest // shortest} times as long as in training, "
        f"{', '.join(lasting) or 'none'} still had {LASTING:.0%} of that; "
        f"{', '.join(falling) or 'none'} had less; {', '.join(refusing) or 'none'} refused them."
    )
