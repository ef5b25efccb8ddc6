"""A window that grows to the whole sequence, on as many examples as before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Interval, Row, Verdict, interval
from seqtag.claims.training import (
    FIRST_SYMBOL,
    accuracy,
    count_parameters,
    make_batch,
    make_model,
    train,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE, ATTENTION = "whole", "attention"
"""What stands for a radius where the whole sequence is seen: by one FC, or by attention."""

TEST_ROWS = 500


class Window(Claim):
    """Sequences with rare openers; the label of an element is the kind of the last one before it.

    A window sees that opener only where it stands within its radius, so that a wider one could be
    right more often; but it has weights of their own for every place of it.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        radii: of the windows.
        window: override of ``train`` for a window, with ``{radius}`` for its radius.
        whole: the same for an FC over the whole sequence, with ``{length}`` for its length.
        attention: the same for attention.
        lr: highest learning rate of ``window``, ``whole`` and ``attention``.
        dim: width of the elements in each window and in the FC over the whole sequence.
        parameters: budget of attention.
        common: overrides of all of them.
        examples: sequences of the training set, one and the same for all.
        length: of the sequences.
        kinds: of openers, which are the labels.
        words: different symbols of each kind.
        fillers: how many other symbols.
        share: of the elements that are openers.
        steps: of training, ``[default, full]``.
        rows: of a batch.
    """

    title = (
        "A window that grows to the whole sequence sees more, but its parameters and its "
        "overfitting grow along; attention sees the whole sequence at one price."
    )
    keys = ("radius",)
    measures = ("train_accuracy", "test_accuracy", "gap", "reachable", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        radii: Sequence[int],
        window: str,
        whole: str,
        attention: str,
        lr: Mapping[str, float],
        dim: int,
        parameters: str | None,
        common: str,
        examples: int,
        length: int,
        kinds: int,
        words: int,
        fillers: int,
        share: float,
        steps: Sequence[int],
        rows: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if not radii or list(radii) != sorted(set(radii)) or radii[0] < 0 or radii[-1] >= length:
            raise ValueError(
                f"claim.radii is {list(radii)}; give rising numbers from 0 on, each less than "
                f"claim.length, {length}"
            )
        self.radii, self.window, self.whole, self.attention = tuple(radii), window, whole, attention
        self.lr, self.dim, self.parameters, self.common = lr, dim, parameters, common
        self.examples, self.length, self.share = examples, length, share
        self.kinds, self.words, self.fillers = kinds, words, fillers
        self.steps, self.rows = steps[full], rows

    @property
    def size(self) -> int:
        """A row per radius, one for the whole sequence and one for attention."""
        return len(self.radii) + 2

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each on the same sequences, and asks it for those and for others."""
        symbols, gold, _ = self.draw(torch.Generator().manual_seed(1000 + seed), self.examples)
        known = make_batch(symbols, gold)
        symbols_apart, gold_apart, distance = self.draw(
            torch.Generator().manual_seed(2000 + seed), TEST_ROWS
        )
        test = make_batch(symbols_apart, gold_apart)

        def batch(generator: torch.Generator) -> Batch:
            rows = torch.randint(self.examples, (self.rows,), generator=generator)
            return make_batch(symbols[rows], gold[rows])

        for radius, overrides, lr, parameters in self._kinds():
            model = make_model(
                [*self.common.split(), *overrides.split()],
                task="tagging",
                symbols=self.kinds * self.words + self.fillers,
                labels=self.kinds,
                seed=seed,
                parameters=parameters,
            ).to(self.device)
            train(model, batch, steps=self.steps, lr=lr, seed=seed)
            on_known, on_test = accuracy(model, [known]), accuracy(model, [test])
            yield {
                "radius": radius,
                "train_accuracy": on_known,
                "test_accuracy": on_test,
                "gap": on_known - on_test,
                "reachable": self.reachable(distance, radius),
                "parameters": count_parameters(model),
            }

    def _kinds(self) -> Iterator[tuple[str, str, float, str | None]]:
        """Radius, overrides, learning rate and budget of all that are compared."""
        dim = f" encoder.dim={self.dim}"
        for radius in self.radii:
            yield str(radius), self.window.format(radius=radius) + dim, self.lr["window"], None
        yield WHOLE, self.whole.format(length=self.length) + dim, self.lr["whole"], None
        yield ATTENTION, self.attention, self.lr["attention"], self.parameters

    def draw(self, generator: torch.Generator, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """Uniform openers and fillers.

        Returns:
            Symbols; labels, -1 at openers and before the first one; and how far away the opener
            is that decides, 0 where there is no label. Each ``[rows, length]``.
        """
        shape = (rows, self.length)
        opener = torch.rand(shape, generator=generator) < self.share
        kind = torch.randint(self.kinds, shape, generator=generator)
        word = kind * self.words + torch.randint(self.words, shape, generator=generator)
        filler = self.kinds * self.words + torch.randint(self.fillers, shape, generator=generator)
        place = torch.arange(self.length)
        last = place.where(opener, torch.tensor(-1)).cummax(dim=1).values
        asked = ~opener & (last >= 0)
        gold = kind.gather(1, last.clamp(min=0)).where(asked, torch.tensor(-1))
        distance = (place - last).where(asked, torch.tensor(0))
        return FIRST_SYMBOL + word.where(opener, filler), gold, distance

    def reachable(self, distance: Tensor, radius: str) -> float:
        """The accuracy of who knows what lies within the radius, and guesses the rest."""
        asked = distance[distance > 0]
        limit = self.length if radius in (WHOLE, ATTENTION) else int(radius)
        seen = float((asked <= limit).double().mean())
        return seen + (1 - seen) / self.kinds

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held where growing pays at first, then costs, and attention does not pay that.

        That is, of the means over seeds: the best window's test accuracy is above that of the
        narrowest, the FC over the whole sequence is no better than the best window and has a
        larger gap between training and test than it; and attention is better on test than the FC
        over the whole sequence (the 95 per cent interval of their difference, seed by seed, lies
        above zero), with a smaller gap and fewer parameters.
        """
        test = {key[0]: found.mean for key, found in self.intervals(rows, "test_accuracy").items()}
        gap = {key[0]: found.mean for key, found in self.intervals(rows, "gap").items()}
        size = {key[0]: found.mean for key, found in self.intervals(rows, "parameters").items()}
        windows = [str(radius) for radius in self.radii]
        best, first = max(windows, key=test.__getitem__), windows[0]
        held = (
            test[best] > test[first]
            and test[WHOLE] <= test[best]
            and gap[WHOLE] > gap[best]
            and self._ahead(rows, WHOLE).low > 0
            and gap[ATTENTION] < gap[WHOLE]
            and size[ATTENTION] < size[WHOLE]
        )
        told = [(f"radius {first}", first), (f"radius {best} (the best)", best)]
        told += [("FC over the whole sequence", WHOLE), ("attention", ATTENTION)]
        line = "test accuracy, gap to training, parameters: " + "; ".join(
            f"{name} {test[key]:.3f}, {gap[key]:.3f}, {size[key]:,.0f}"
            for name, key in dict(told).items()
        )
        return Verdict(held, line, self._paragraph(rows, best))

    def _ahead(self, rows: Sequence[Row], other: str) -> Interval:
        """By how much attention is ahead of another on test, over the seeds."""
        right = {(row["radius"], row["seed"]): row["test_accuracy"] for row in rows}
        return interval(
            [right[ATTENTION, seed] - value for (key, seed), value in right.items() if key == other]
        )

    def _paragraph(self, rows: Sequence[Row], best: str) -> str:
        test = self.intervals(rows, "test_accuracy")
        gap = self.intervals(rows, "gap")
        reachable = self.intervals(rows, "reachable")
        size = self.intervals(rows, "parameters")
        widest = str(self.radii[-1])
        return (
            f"{self.examples} sequences of {self.length} elements for training, the same for all; "
            f"about {self.share:.3g} of the elements open a stretch, and the label of every other "
            f"is the kind, one of {self.kinds}, of the last opener before it. {self.steps} steps "
            f"of {self.rows} sequences, {TEST_ROWS} others for the test. Windows and the FC over "
            f"the whole sequence have two layers of width {self.dim}; each has "
            "weights of their own for every place of it, and so that over the whole sequence is a "
            f"window of radius {self.length - 1}. "
            f"From radius {self.radii[0]} to {best} test accuracy rises from "
            f"{test[str(self.radii[0]),].spell()} to {test[best,].spell()}, where "
            f"{reachable[best,].mean:.3f} is what is seen within it; radius {widest} has "
            f"{test[widest,].spell()} of {reachable[widest,].mean:.3f}, with a gap to training of "
            f"{gap[widest,].spell()} and {size[widest,].mean / size[str(self.radii[0]),].mean:.0f} "
            f"times the parameters of radius {self.radii[0]}; the FC over the whole sequence "
            f"{test[WHOLE,].spell()}, with {gap[WHOLE,].spell()} and "
            f"{size[WHOLE,].mean / size[ATTENTION,].mean:.0f} times the parameters of attention, "
            f"which has {test[ATTENTION,].spell()} and {gap[ATTENTION,].spell()}. Seed by seed "
            "attention is ahead of the FC over the whole sequence by "
            f"{self._ahead(rows, WHOLE).spell()}, and of the best window by "
            f"{self._ahead(rows, best).spell()}. It does not show what regularisation, or many "
            "more examples, would save of the wide windows."
        )

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Accuracy on training and test by radius, and parameters."""
        left, right = figure.subplots(1, 2)
        names = [*map(str, self.radii), WHOLE]
        places = range(len(names))
        labels = [*names[:-1], "whole\nFC"]
        curves = (("train_accuracy", "training", "s--"), ("test_accuracy", "test", "o-"))
        for (measure, label, style), color in zip(curves, ("tab:orange", "tab:blue"), strict=True):
            found = self.intervals(rows, measure)
            values = [found[name,] for name in names]
            left.errorbar(
                places,
                [value.mean for value in values],
                yerr=[value.high - value.mean for value in values],
                fmt=style,
                color=color,
                capsize=2,
                label=f"FC, {label}",
            )
            left.axhline(
                found[ATTENTION,].mean, color=color, linestyle=":", label=f"attention, {label}"
            )
        reachable = self.intervals(rows, "reachable")
        left.plot(
            places, [reachable[name,].mean for name in names], color="grey", label="within reach"
        )
        left.set_ylabel("accuracy")
        left.legend(fontsize="small", loc="lower right")
        size = self.intervals(rows, "parameters")
        right.plot(places, [size[name,].mean for name in names], "o-", color="tab:blue", label="FC")
        right.axhline(size[ATTENTION,].mean, color="tab:blue", linestyle=":", label="attention")
        right.set_yscale("log")
        right.set_ylabel("parameters of the encoder")
        right.legend(fontsize="small")
        for axes in (left, right):
            axes.set_xticks(places, labels)
            axes.set_xlabel("radius of the window, elements")
