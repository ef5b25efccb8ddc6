"""More and more examples: who is ahead with few, and who with many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Interval, Row, Verdict, interval
from seqtag.claims.training import FIRST_SYMBOL, count_parameters, make_batch, make_model, train
from seqtag.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTENTION, CNN = "attention", "CNN"

PAIRS, COLOURS, FILLERS = 4, 4, 12
"""How many pairs of symbols whose order is the local part, colours of a mark, and other symbols."""

SYMBOLS = 2 * PAIRS + 2 * COLOURS + FILLERS
MARGIN = 6
"""Places at either end of a sequence where its marks stand; the pair stands between."""


class Data(Claim):
    """Sequences whose label is made of a local pattern and an agreement over a distance.

    Somewhere in the middle two symbols stand side by side, and their order is the local part; a
    mark near the beginning and one near the end have the same colour or not, and that is the other.
    The label is which of the four it is. No symbol by itself says anything of it.

    Args:
        seeds: see ``Claim``.
        full: the further training set of ``sizes``, and more steps of training.
        device: see ``Claim``.
        encoders: what to compare, by the name that the page gives it, ``attention`` and ``CNN``
            among them: ``overrides`` of ``train``, and ``lr``, the highest learning rate.
        common: overrides of all of them.
        parameters: budget of each encoder.
        sizes: of the training sets, each the beginning of the next, ``[default, full]``.
        length: of the sequences.
        steps: of training, the same for each size, ``[default, full]``.
        rows: of a batch.
        test_rows: sequences that are scored.
    """

    title = "With few examples a CNN is ahead of attention, with many attention is ahead."
    keys = ("encoder", "examples")
    measures = ("accuracy", "local_part", "distant_part", "train_accuracy", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        encoders: Mapping[str, Mapping[str, Any]],
        common: str,
        parameters: str | None,
        sizes: Sequence[Sequence[int]],
        length: int,
        steps: Sequence[int],
        rows: int,
        test_rows: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if not {ATTENTION, CNN} <= encoders.keys():
            raise ValueError(
                f"claim.encoders has {', '.join(encoders)}; {ATTENTION} and {CNN} must be there"
            )
        if length < 2 * MARGIN + 2:
            raise ValueError(f"claim.length is {length}; it must be {2 * MARGIN + 2} or more")
        self.sizes = tuple(sorted(sizes[full]))
        if len(self.sizes) < 2 or self.sizes[0] < 1:
            raise ValueError(f"claim.sizes has {list(sizes[full])}; give two sizes of 1 or more")
        self.encoders, self.common, self.parameters = encoders, common, parameters
        self.length, self.steps, self.rows, self.test_rows = length, steps[full], rows, test_rows

    @property
    def size(self) -> int:
        """A row per encoder and size of the training set."""
        return len(self.encoders) * len(self.sizes)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each encoder on each training set, for as many steps."""
        everything = self.draw(torch.Generator().manual_seed(1000 + seed), self.sizes[-1])
        test = self.draw(torch.Generator().manual_seed(2000 + seed), self.test_rows)
        for size in self.sizes:
            symbols, gold = everything[0][:size], everything[1][:size]

            def batch(
                generator: torch.Generator, symbols: Tensor = symbols, gold: Tensor = gold
            ) -> Batch:
                rows = torch.randint(len(symbols), (self.rows,), generator=generator)
                return make_batch(symbols[rows], gold[rows])

            for name, encoder in self.encoders.items():
                model = make_model(
                    [*self.common.split(), *encoder["overrides"].split()],
                    task="classification",
                    symbols=SYMBOLS,
                    labels=4,
                    seed=seed,
                    parameters=self.parameters,
                ).to(self.device)
                train(model, batch, steps=self.steps, lr=encoder["lr"], seed=seed)
                found = self._predict(model, test[0])
                known = self._predict(model, symbols[: self.test_rows])
                yield {
                    "encoder": name,
                    "examples": size,
                    "accuracy": _share(found == test[1]),
                    "local_part": _share(found // 2 == test[1] // 2),
                    "distant_part": _share(found % 2 == test[1] % 2),
                    "train_accuracy": _share(known == gold[: self.test_rows]),
                    "parameters": count_parameters(model),
                }

    @torch.inference_mode()
    def _predict(self, model: Model, symbols: Tensor) -> Tensor:
        """Labels ``[rows]``."""
        model.eval()
        batch = make_batch(symbols, torch.zeros(len(symbols), dtype=torch.long))
        return model.predict(batch.to(self.device)).value.cpu()

    def draw(self, generator: torch.Generator, rows: int) -> tuple[Tensor, Tensor]:
        """Sequences and their labels.

        Symbols are, from ``FIRST_SYMBOL`` on, those of the pairs, two by two; the marks of the
        beginning and those of the end, a colour each; and the fillers.

        Returns:
            Symbols ``[rows, length]``, and ``2 * order + agreement`` ``[rows]``, where the order is
            1 for the pair whose second symbol comes first.
        """

        def below(bound: int) -> Tensor:
            return torch.randint(bound, (rows,), generator=generator)

        shape, row = (rows, self.length), torch.arange(rows)
        symbols = 2 * (PAIRS + COLOURS) + torch.randint(FILLERS, shape, generator=generator)
        agreement, order = below(2), below(2)
        colour = below(COLOURS)
        other = (colour + 1 + below(COLOURS - 1)) % COLOURS
        symbols[row, below(MARGIN)] = 2 * PAIRS + colour
        symbols[row, self.length - 1 - below(MARGIN)] = (
            2 * PAIRS + COLOURS + colour.where(agreement == 1, other)
        )
        place = MARGIN + below(self.length - 2 * MARGIN - 1)
        pair = 2 * below(PAIRS)
        symbols[row, place] = pair + order
        symbols[row, place + 1] = pair + 1 - order
        return FIRST_SYMBOL + symbols, 2 * order + agreement

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held where the CNN is ahead with the fewest examples, and attention with the most.

        Ahead is, of the accuracies of the seeds, one by one on the same examples: the 95 per cent
        interval of the difference excludes zero.
        """
        ahead = self._differences(rows)
        few, many = self.sizes[0], self.sizes[-1]
        held = ahead[few].high < 0 and ahead[many].low > 0
        right = self.intervals(rows, "accuracy")
        line = "; ".join(
            f"{size:,} examples: "
            + ", ".join(f"{name} {right[name, size].mean:.3f}" for name in self.encoders)
            for size in self.sizes
        )
        return Verdict(held, line, self._paragraph(rows, ahead))

    def _differences(self, rows: Sequence[Row]) -> dict[int, Interval]:
        """By how much attention is ahead of the CNN, by size, over the seeds."""
        right = {(row["encoder"], row["examples"], row["seed"]): row["accuracy"] for row in rows}
        return {
            size: interval(
                [
                    right[ATTENTION, size, seed] - value
                    for (name, examples, seed), value in right.items()
                    if name == CNN and examples == size
                ]
            )
            for size in self.sizes
        }

    def _paragraph(self, rows: Sequence[Row], ahead: Mapping[int, Interval]) -> str:
        few, many = self.sizes[0], self.sizes[-1]
        local, distant = self.intervals(rows, "local_part"), self.intervals(rows, "distant_part")
        known = self.intervals(rows, "train_accuracy")
        differences = ", ".join(f"{found.spell()} at {size:,}" for size, found in ahead.items())
        parts = "; ".join(
            f"{name} {local[name, few].mean:.2f} and {distant[name, few].mean:.2f} at {few:,}, "
            f"{local[name, many].mean:.2f} and {distant[name, many].mean:.2f} at {many:,}"
            for name in self.encoders
        )
        fitted = ", ".join(f"{name} {known[name, few].mean:.2f}" for name in self.encoders)
        return (
            f"Sequences of {self.length} elements with one of four labels: whether a pair of "
            "symbols in the middle stands in one order or the other, and whether a mark near the "
            "beginning and one near the end have the same colour. Training sets of "
            f"{few:,} to {many:,} sequences, {self.steps} steps of {self.rows} sequences each, "
            f"without stopping early, encoders of about {self.parameters} parameters; accuracy on "
            f"{self.test_rows:,} others. Attention is ahead of the CNN by {differences}. "
            f"The two parts, order and agreement (0.5 is chance): {parts}. On what they were "
            f"trained on, of {few:,} sequences: {fitted}. A plain CNN of this size never sees both "
            "marks at once; where there is one with global pooling, that tells it of them. It is "
            "one made-up task and one size of model; where the two cross depends on both, and on "
            "how much of a task is local."
        )

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Accuracy, and that of each part, by the number of training examples."""
        titles = {
            "accuracy": "both parts (the label)",
            "local_part": "order of neighbours",
            "distant_part": "agreement of ends",
        }
        all_axes = figure.subplots(1, 3, sharey=True)
        for axes, (measure, title) in zip(all_axes, titles.items(), strict=True):
            found = self.intervals(rows, measure)
            for name, marker in zip(self.encoders, "osD^v", strict=False):
                values = [found[name, size] for size in self.sizes]
                (drawn,) = axes.plot(
                    self.sizes, [value.mean for value in values], marker=marker, label=name
                )
                axes.fill_between(
                    self.sizes,
                    [value.low for value in values],
                    [value.high for value in values],
                    color=drawn.get_color(),
                    alpha=0.15,
                    linewidth=0,
                )
            chance = 0.25 if measure == "accuracy" else 0.5
            axes.axhline(chance, color="grey", linestyle=":", label="chance")
            axes.set_xscale("log")
            axes.set_title(title, fontsize="medium")
            axes.set_xlabel("training examples")
            axes.set_ylim(0.2, 1.05)
        all_axes[0].set_ylabel("accuracy on further sequences")
        all_axes[0].legend(fontsize="small")


def _share(right: Tensor) -> float:
    return float(right.double().mean())
