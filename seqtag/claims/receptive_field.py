"""A label that sits k places away: who reaches it, and where learnt attention looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.training import (
    FIRST_SYMBOL,
    accuracy,
    count_parameters,
    make_batch,
    make_model,
    train,
)
from seqtag.model import Model
from seqtag.nn.attention import record_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNT, MOVED, CHANCE_MARGIN = 0.95, 0.8, 0.05
"""What counts as solved, as attention that looks at one place, and as no better than chance."""


TEST_ROWS = 200


class ReceptiveField(Claim):
    """Random symbols, in which the label of an element is the symbol ``offset`` places before it.

    No other element says anything of it, so that an encoder that does not reach it is at chance,
    and one that does can be right everywhere.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        encoders: what to compare, by the name that the page gives it: ``overrides`` of ``train``,
            where ``{reach}`` and ``{short}`` stand for the offset and one less, and ``{wide}`` and
            ``{narrow}`` for the widths of kernels with these radii; ``lr``, the highest learning
            rate; ``reaches``, whether it sees the deciding symbol.
        common: overrides of all of them.
        parameters: budget of each encoder.
        offsets: how far away the deciding symbol is; a model is trained for each.
        length: of the sequences.
        symbols: how many different ones.
        steps: of training, ``[default, full]``.
        rows: of a batch.
    """

    title = (
        "Learnt attention moves to the place that decides, however far; a CNN sees it only where "
        "its radius reaches that far."
    )
    keys = ("offset", "encoder")
    measures = ("accuracy", "mass_before", "mass_after", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        encoders: Mapping[str, Mapping[str, Any]],
        common: str,
        parameters: str | None,
        offsets: Sequence[int],
        length: int,
        symbols: int,
        steps: Sequence[int],
        rows: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if not offsets or min(offsets) < 1 or max(offsets) >= length:
            raise ValueError(
                f"claim.offsets is {list(offsets)}; each must be 1 or more and less than "
                f"claim.length, {length}"
            )
        self.encoders, self.common, self.parameters = encoders, common, parameters
        self.offsets, self.length, self.symbols = tuple(offsets), length, symbols
        self.steps, self.rows = steps[full], rows

    @property
    def size(self) -> int:
        """A row per offset and encoder."""
        return len(self.offsets) * len(self.encoders)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each encoder for each offset on sequences drawn anew."""
        for offset in self.offsets:
            test = self.draw(torch.Generator().manual_seed(1000 + seed), offset, rows=TEST_ROWS)
            for name, encoder in self.encoders.items():
                written = encoder["overrides"].format(
                    reach=offset, short=offset - 1, wide=2 * offset + 1, narrow=2 * offset - 1
                )
                model = make_model(
                    [*self.common.split(), *written.split()],
                    task="tagging",
                    symbols=self.symbols,
                    labels=self.symbols,
                    seed=seed,
                    parameters=self.parameters,
                ).to(self.device)
                before = mass(model, test, offset)
                train(
                    model,
                    partial(self.draw, offset=offset),
                    steps=self.steps,
                    lr=encoder["lr"],
                    seed=seed,
                )
                yield {
                    "offset": offset,
                    "encoder": name,
                    "accuracy": accuracy(model, [test]),
                    "mass_before": before,
                    "mass_after": mass(model, test, offset),
                    "parameters": count_parameters(model),
                }

    def draw(self, generator: torch.Generator, offset: int, rows: int | None = None) -> Batch:
        """Uniform symbols, each labelled with the one ``offset`` before it; the first with none."""
        shape = (self.rows if rows is None else rows, self.length)
        symbols = torch.randint(self.symbols, shape, generator=generator)
        gold = torch.full(shape, -1)
        gold[:, offset:] = symbols[:, :-offset]
        return make_batch(FIRST_SYMBOL + symbols, gold)

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held where, at every offset, who reaches is right, and who does not is at chance.

        That is: a mean accuracy of ``LEARNT`` or more, and at most ``CHANCE_MARGIN`` above
        1 / symbols; and the attention of those that reach has at least ``MOVED`` of its mass at the
        offset, on average over seeds, more than it had before training.
        """
        right = self.intervals(rows, "accuracy")
        before, after = self.intervals(rows, "mass_before"), self.intervals(rows, "mass_after")
        chance = 1 / self.symbols
        sees = {name: encoder["reaches"] for name, encoder in self.encoders.items()}
        reached = {key: found.mean for key, found in right.items() if sees[key[1]]}
        missed = {key: found.mean for key, found in right.items() if not sees[key[1]]}
        masses = {key: found.mean for key, found in after.items() if sees[key[1]]}
        starts = [before[key].mean for key in masses]
        held = (
            min(reached.values()) >= LEARNT
            and max(missed.values()) <= chance + CHANCE_MARGIN
            and all(value >= MOVED and value > before[key].mean for key, value in masses.items())
        )
        worst = min(reached, key=reached.__getitem__)
        line = (
            f"accuracy {min(reached.values()):.3f} to {max(reached.values()):.3f} of those that "
            f"reach, {min(missed.values()):.3f} to {max(missed.values()):.3f} of those that fall "
            f"one place short (chance {chance:.3f}); attention to the deciding place "
            f"{min(starts):.2f} to {max(starts):.2f} before training, {min(masses.values()):.2f} "
            f"to {max(masses.values()):.2f} after"
        )
        return Verdict(
            held,
            line,
            f"Sequences of {self.length} uniform symbols of {self.symbols} kinds; the label of an "
            f"element is the symbol k places before it, with k of {_listed(self.offsets)}. One "
            f"model per k and encoder, {self.steps} steps of {self.rows} sequences drawn anew, "
            f"encoders of about {self.parameters} parameters, one layer and one head; accuracy on "
            f"{TEST_ROWS} further sequences. Those that fall short have a radius of k - 1, so that "
            "the deciding symbol is the first one that they cannot see. The mass is the weight "
            "that an element gives to the one k places before it, averaged. "
            f"{self._moved(before, after)} "
            f"The lowest accuracy of those that reach is {reached[worst]:.3f} ({worst[1]} at "
            f"k = {worst[0]}). It does not show that attention must find a place by its distance "
            "where content would tell as well, nor what several CNN layers reach together.",
        )

    def _moved(self, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> str:
        """From where to where the mass of those that reach went, offset by offset."""
        found = [
            f"{before[key].mean:.2f} to {value.mean:.2f} at k = {key[0]}"
            for key, value in after.items()
            if self.encoders[key[1]]["reaches"]
        ]
        return f"Training moved it from {', '.join(found)}." if found else ""

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Accuracy by offset, and the mass of attention before and after training."""
        left, right = figure.subplots(1, 2)
        found = self.intervals(rows, "accuracy")
        for name, encoder in self.encoders.items():
            values = [found[(offset, name)] for offset in self.offsets if (offset, name) in found]
            left.errorbar(
                self.offsets[: len(values)],
                [value.mean for value in values],
                yerr=[value.high - value.mean for value in values],
                marker="o" if encoder["reaches"] else "x",
                linestyle="-" if encoder["reaches"] else "--",
                capsize=2,
                label=name,
            )
        left.axhline(1 / self.symbols, color="grey", linestyle=":", label="chance")
        left.set_ylabel("accuracy")
        for measure, style in (("mass_before", ":"), ("mass_after", "-")):
            masses = self.intervals(rows, measure)
            for name in dict.fromkeys(key[1] for key in masses if self.encoders[key[1]]["reaches"]):
                values = [masses[(offset, name)] for offset in self.offsets]
                right.errorbar(
                    self.offsets,
                    [value.mean for value in values],
                    yerr=[value.high - value.mean for value in values],
                    marker="o",
                    linestyle=style,
                    capsize=2,
                    label=f"{name}, {'after' if style == '-' else 'before'} training",
                )
        right.set_ylabel("share of attention at the deciding place")
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(self.offsets, [str(offset) for offset in self.offsets])
            axes.set_xlabel("k, places between label and symbol")
            axes.set_ylim(-0.03, 1.05)
            axes.legend(fontsize="small", loc="center left")


@torch.inference_mode()
def mass(model: Model, batch: Batch, offset: int) -> float | None:
    """The mean weight at ``offset`` places before, in the head that has most there.

    Returns:
        None where the model has no attention.
    """
    model.eval()
    device = next(model.parameters()).device
    with record_weights(model) as weights:
        model.predict(batch.to(device))
    grids = [grid for found in weights.values() for grid in found]
    return mass_at(grids, offset) if grids else None


def mass_at(grids: Sequence[Tensor], offset: int) -> float:
    """The mean weight ``offset`` places before the query, in the head that has most there.

    Args:
        grids: weights, each ``[batch, heads, query, key]``, of as many queries as keys.
        offset: how many places; queries that have not so many before them do not count.
    """
    # The diagonal that lies ``offset`` below the main one: [batch, heads, source - offset]
    heads = [grid.diagonal(-offset, dim1=2, dim2=3).mean(dim=(0, 2)) for grid in grids]
    return float(torch.cat(heads).max())


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
