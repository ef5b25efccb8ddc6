"""Copying what was read: through one vector, or with attention to the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import pad

from seqtag.batch import END, Batch
from seqtag.claims.claim import Claim, Interval, Row, Verdict
from seqtag.claims.training import FIRST_SYMBOL, make_batch, make_model, train
from seqtag.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FALL = 0.2
"""What is lost of the share of symbols, from the shortest to the longest input, is at least this
where there is a bottleneck, and at most half of it where there is none."""

FIRST_TARGET = END + 1
"""Id of the first symbol of a target; ``END`` is the one before."""


class Bottleneck(Claim):
    """Rows of drawn symbols to be written once more, in the same order or backwards.

    Symbols are drawn evenly and independently, so an input of n symbols cannot be told in less
    than n times the bits of one. Each model is trained on inputs of 1 symbol up to the longest of
    the test, each batch of a length drawn evenly; one model answers for all lengths.

    The claim holds, if without attention the share of symbols found falls by ``FALL`` or more from
    the shortest to the longest input, and each model with attention loses at most half of ``FALL``,
    and at the longest its interval lies above that of the model without.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        common: overrides of ``train`` for all models.
        without: the model without attention: its name, and its overrides.
        attention: the models with attention, likewise.
        encoder_parameters: budget of each encoder.
        symbols: how many different ones there are.
        lengths: of the inputs in the test, rising.
        reverse: whether they are to be written backwards.
        tests: inputs of each length in the test.
        steps: of training, ``[default, full]``.
        rows: of a batch.
        lr: highest learning rate of each model, by its name.

    Raises:
        ValueError: ``without`` is not one model, ``attention`` has none, lengths do not rise, or a
            learning rate is missing.
    """

    title = (
        "A decoder without attention loses the input as it grows, for all of it passes through one "
        "vector; one with attention does not."
    )
    keys = ("decoder", "length")
    measures = ("symbols_found", "exact_match", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        common: str,
        without: Mapping[str, str],
        attention: Mapping[str, str],
        encoder_parameters: str,
        symbols: int,
        lengths: Sequence[int],
        reverse: bool,
        tests: int,
        steps: Sequence[int],
        rows: int,
        lr: Mapping[str, float],
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if len(without) != 1 or not attention:
            raise ValueError(
                f"claim.without has {len(without)} models and claim.attention {len(attention)}; "
                "there must be one without attention and at least one with"
            )
        if len(lengths) < 2 or min(lengths) < 1 or sorted(set(lengths)) != list(lengths):
            raise ValueError(f"claim.lengths is {list(lengths)}; it must be 2 or more that rise")
        self.models = {**without, **attention}
        missing = sorted(set(self.models) - set(lr))
        if missing:
            raise ValueError(f"claim.lr has no rate for {', '.join(missing)}")
        self.without, self.attention = next(iter(without)), list(attention)
        self.common, self.encoder_parameters = common, encoder_parameters
        self.symbols, self.lengths, self.reverse = symbols, list(lengths), reverse
        self.tests, self.steps, self.rows, self.lr = tests, steps[full], rows, lr

    @property
    def size(self) -> int:
        """A row per model and length."""
        return len(self.models) * len(self.lengths)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each model on mixed lengths, and tests it on each length."""
        for name, overrides in self.models.items():
            model = make_model(
                [*self.common.split(), *overrides.split()],
                task="seq2seq",
                symbols=self.symbols,
                labels=self.symbols,
                seed=seed,
                parameters=self.encoder_parameters,
            ).to(self.device)
            train(model, self.draw, steps=self.steps, lr=self.lr[name], seed=seed)
            for length in self.lengths:
                generator = torch.Generator().manual_seed(1000 + seed)
                test = self.draw_rows(generator, rows=self.tests, length=length)
                found, exact = answers(model, test, self.device)
                yield {
                    "decoder": name,
                    "length": length,
                    "symbols_found": found,
                    "exact_match": exact,
                    "parameters": sum(model.parameters_by_part().values()),
                }

    def draw(self, generator: torch.Generator) -> Batch:
        """A batch of training: rows of one length, drawn evenly from 1 to the longest."""
        length = int(torch.randint(1, self.lengths[-1] + 1, (), generator=generator))
        return self.draw_rows(generator, rows=self.rows, length=length)

    def draw_rows(self, generator: torch.Generator, *, rows: int, length: int) -> Batch:
        """Rows of so many symbols, with themselves as targets, ``END`` behind them."""
        symbols = torch.randint(self.symbols, (rows, length), generator=generator)
        wanted = symbols.flip(1) if self.reverse else symbols
        return make_batch(FIRST_SYMBOL + symbols, pad(FIRST_TARGET + wanted, (0, 1), value=END))

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """See the class."""
        found, exact = self.intervals(rows, "symbols_found"), self.intervals(rows, "exact_match")
        parameters = self.intervals(rows, "parameters")
        shortest, longest = self.lengths[0], self.lengths[-1]
        lost = {
            name: found[name, shortest].mean - found[name, longest].mean for name in self.models
        }
        end = {name: found[name, longest] for name in self.models}
        held = lost[self.without] >= FALL and all(
            lost[name] <= FALL / 2 and end[name].low > end[self.without].high
            for name in self.attention
        )
        line = f"symbols found in inputs of {shortest} and of {longest}: " + "; ".join(
            f"{name} {found[name, shortest].spell()} and {end[name].spell()}"
            for name in self.models
        )
        task = "written backwards" if self.reverse else "copied"
        means = "; ".join(
            f"{name} {', '.join(_exact(exact, name, length) for length in self.lengths)}"
            for name in self.models
        )
        sizes = ", ".join(
            f"{name} {parameters[name, shortest].mean / 1000:.0f}k" for name in self.models
        )
        paragraph = (
            f"Inputs of 1 to {longest} symbols, each one of {self.symbols} at random, were to be "
            f"{task}. One model of each kind and seed was trained on all lengths, with "
            f"{self.steps} batches of {self.rows} rows, and tested with {self.tests} inputs of "
            f"each length, its own output fed back. Encoders have about "
            f"{self.encoder_parameters} parameters; whole models have {sizes}. Outputs right as a "
            f"whole, for inputs of {', '.join(map(str, self.lengths))}: {means}. A symbol counts "
            f"as found if it stands in its place; guessing finds {1 / self.symbols:.3f}. The "
            "attention decoder is told how far places in the output and in the input are apart: a "
            "great help in copying, less of one backwards. What is compared is what is learnt in "
            "these steps; with more of them, or a wider vector, longer inputs may pass without "
            "attention as well."
        )
        return Verdict(held, line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Symbols found and outputs right as a whole, by length of the input."""
        panels = figure.subplots(1, 2, sharey=True)
        measures = {
            "symbols_found": "symbols found in their places",
            "exact_match": "outputs right as a whole",
        }
        for axes, (measure, name) in zip(panels, measures.items(), strict=True):
            found = self.intervals(rows, measure)
            for number, model in enumerate(self.models):
                values = [found[model, length] for length in self.lengths]
                axes.errorbar(
                    self.lengths,
                    [value.mean for value in values],
                    yerr=[value.high - value.mean for value in values],
                    label=model,
                    marker="osD^v<>"[number % 7],
                    capsize=3,
                )
            axes.set_xscale("log", base=2)
            axes.set_xticks(self.lengths, [str(length) for length in self.lengths])
            axes.set_xlabel("symbols of the input")
            axes.set_title(name, fontsize="medium")
            axes.grid(alpha=0.3)
        panels[0].axhline(1 / self.symbols, color="grey", linestyle="--", label="guessing")
        panels[0].set_ylim(-0.03, 1.05)
        panels[0].set_ylabel("share")
        panels[0].legend(loc="lower left", fontsize="small")


@torch.inference_mode()
def answers(model: Model, test: Batch, device: torch.device | str) -> tuple[float, float]:
    """What a model finds, each output made of its own symbols.

    Args:
        model: with a decoder.
        test: full rows of one length, their targets one longer for ``END``.
        device: that of the model.

    Returns:
        The share of symbols found in their places, and of outputs right as a whole.
    """
    model.eval()
    assert test.target is not None
    gold = test.target.value  # [batch, length + 1]
    output = model.predict(test.to(device)).value.cpu()
    width = max(output.shape[1], gold.shape[1])
    right = _widened(output, width) == _widened(gold, width)
    length = gold.shape[1] - 1
    return float(right[:, :length].double().mean()), float(right.all(dim=1).double().mean())


def _widened(symbols: Tensor, width: int) -> Tensor:
    return pad(symbols, (0, width - symbols.shape[1]), value=END)


def _exact(exact: Mapping[tuple[str, int], Interval], name: str, length: int) -> str:
    return f"{exact[name, length].mean:.2f}"
