"""Why the scores of attention are divided by the root of the width of a head."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.training import FIRST_SYMBOL, accuracy, make_batch, make_model, train
from seqtag.configuration import build, compose_node
from seqtag.model import Model
from seqtag.nn.attention import record_weights
from seqtag.nn.scorers import Scorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALED, UNSCALED = "scaled", "unscaled"
SCORER = "encoder/scorer"

NAMES, VALUES, PAIRS = 16, 8, 8
"""Of the look-up task: different names, different values, and named values in a sequence."""

EVEN = 0.1
"""Scaled scores are even across widths if no entropy is further from their mean than this."""

SHARP = 0.25
"""Unscaled scores are saturated where the entropy is less."""

LOST = 0.05
"""Training has suffered where accuracy is less by more than this."""


class Scale(Claim):
    """Softmax over scores of random queries and keys, and a look-up that needs attention.

    Entropy is a share of that of equal weights. The gradient is that of a random direction of the
    weights by the scores: what the softmax lets through to queries and keys (Vaswani et al. 2017,
    section 3.2.1, footnote 4).

    For training, a sequence shows ``PAIRS`` values with different names, each as one symbol, then
    asks for each name in another order; to answer is to find the one element with that name. One
    layer, one head, no positions: only attention can do it, since an element by itself
    knows the name and no value (chance is 1 in ``VALUES``).

    Args:
        seeds: see ``Claim``.
        full: more widths and steps of training.
        device: see ``Claim``.
        scorers: ``scaled`` and ``unscaled``, as options of ``encoder/scorer``.
        head_dims: widths of a head for the random queries and keys.
        keys: how many there are to choose from.
        queries: of each measurement.
        trained: widths of a head in training, ``[default, full]``.
        dim: of the encoder.
        steps: of training, ``[default, full]``.
        rows: of a batch.
        lrs: highest learning rates, of which each scorer and width takes the one that is best on
            sequences that are not those of the test.
    """

    title = (
        "Without 1/sqrt(d_k) the softmax of wide heads saturates: hardly any entropy is left, its "
        "gradient shrinks, and training suffers."
    )
    keys = ("scorer", "head_dim")
    measures = ("entropy", "gradient", "median_gradient", "accuracy", "first_entropy", "lr")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        scorers: dict[str, str],
        head_dims: list[int],
        keys: int,
        queries: int,
        trained: list[list[int]],
        dim: int,
        steps: list[int],
        rows: int,
        lrs: list[float],
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if set(scorers) != {SCALED, UNSCALED}:
            raise ValueError(
                f"claim.scorers is of {', '.join(scorers)}; it must be of {SCALED} and {UNSCALED}"
            )
        self.scorers, self.head_dims = scorers, head_dims
        self.num_keys, self.num_queries = keys, queries
        self.trained, self.dim = trained[full], dim
        self.steps, self.rows, self.lrs = steps[full], rows, lrs

    @property
    def size(self) -> int:
        """A row per scorer and width."""
        return len(self.scorers) * len(self.head_dims)

    def measure(self, seed: int) -> Iterator[Row]:
        """Scores random queries and keys, and trains those widths that are to be trained."""
        nodes = {name: compose_node(SCORER, option) for name, option in self.scorers.items()}
        for head_dim in self.head_dims:
            for name, node in nodes.items():
                made = build(node, kinds=(Scorer,), name=SCORER, head_dim=head_dim, num_heads=1)
                row = {"scorer": name, "head_dim": head_dim}
                row |= self.saturation(made, head_dim, torch.Generator().manual_seed(seed))
                row |= {"accuracy": None, "first_entropy": None, "lr": None}
                if head_dim in self.trained:
                    row |= self.learn(name, head_dim, seed)
                yield row

    def saturation(
        self, scorer: Scorer, head_dim: int, generator: torch.Generator
    ) -> dict[str, float | None]:
        """Entropy of the weights, and norm of the gradient by the scores, of random queries.

        The same generator gives the same queries and keys to each scorer.
        """
        query = torch.randn(1, 1, self.num_queries, head_dim, generator=generator)
        key = torch.randn(1, 1, self.num_keys, head_dim, generator=generator)
        direction = torch.randn(self.num_queries, self.num_keys, generator=generator)
        with torch.no_grad():
            scores = scorer(query, key)[0, 0]
        scores = scores.double().requires_grad_()
        weights = scores.softmax(dim=-1)
        (gradient,) = torch.autograd.grad((weights * direction).sum(), scores)
        norms = gradient.norm(dim=-1)
        return {
            "entropy": entropy(weights.detach()),
            "gradient": float(norms.mean()),
            "median_gradient": float(norms.median()),
        }

    def model(self, name: str, head_dim: int, seed: int) -> Model:
        """A tagger of one layer, with one head."""
        return make_model(
            [
                "encoder=attention",
                f"{SCORER}={self.scorers[name]}",
                "encoder/position=none",
                "encoder.num_layers=1",
                "encoder.num_heads=1",
                f"encoder.head_dim={head_dim}",
                f"encoder.dim={self.dim}",
                f"encoder.feedforward_dim={2 * self.dim}",
                "encoder.dropout=0",
                f"embedding.dim={self.dim}",
                "embedding.dropout=0",
            ],
            task="tagging",
            symbols=NAMES * (VALUES + 1),
            labels=VALUES,
            seed=seed,
        )

    def learn(self, name: str, head_dim: int, seed: int) -> dict[str, float | None]:
        """Accuracy of the best learning rate; and the entropy at the start of the training."""
        chooser = self.draw(torch.Generator().manual_seed(1000 + seed), rows=250)
        test = self.draw(torch.Generator().manual_seed(2000 + seed), rows=500)
        start = self.model(name, head_dim, seed).to(self.device)
        first = first_entropy(start, test.to(self.device))
        tried = []
        for lr in self.lrs:
            model = copy.deepcopy(start)
            train(model, self.draw, steps=self.steps, lr=lr, seed=seed)
            tried.append((accuracy(model, [chooser]), accuracy(model, [test]), lr))
        _, right, lr = max(tried, key=lambda one: one[0])
        return {"accuracy": right, "first_entropy": first, "lr": lr}

    def draw(self, generator: torch.Generator, rows: int | None = None) -> Batch:
        """Named values, then the names alone in another order, whose values are asked for.

        The symbol of value ``v`` named ``n`` is ``VALUES * n + v``, that of the name alone
        ``NAMES * VALUES + n``.
        """
        rows = self.rows if rows is None else rows
        names = torch.rand(rows, NAMES, generator=generator).argsort(dim=1)[:, :PAIRS]
        values = torch.randint(VALUES, (rows, PAIRS), generator=generator)
        order = torch.rand(rows, PAIRS, generator=generator).argsort(dim=1)
        shown = VALUES * names + values
        asked = NAMES * VALUES + names.gather(1, order)
        return make_batch(
            FIRST_SYMBOL + torch.cat((shown, asked), dim=1),
            torch.cat((torch.full_like(values, -1), values.gather(1, order)), dim=1),
        )

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held, if unscaled scores saturate and shrink the gradient, scaled ones don't, and
        training suffers at the widest head.

        See ``EVEN``, ``SHARP`` and ``LOST``; the gradient shrinks if it is less than half of that
        with scaling.
        """
        entropies, gradients = self.intervals(rows, "entropy"), self.intervals(rows, "gradient")
        medians, right = self.intervals(rows, "median_gradient"), self.intervals(rows, "accuracy")
        widest = max(head_dim for _, head_dim in entropies)
        even = [found.mean for (name, _), found in entropies.items() if name == SCALED]
        middle = sum(even) / len(even)
        level = all(abs(one - middle) <= EVEN for one in even)
        left = entropies[UNSCALED, widest].mean
        passed = gradients[UNSCALED, widest].mean / gradients[SCALED, widest].mean
        median = medians[UNSCALED, widest].mean / medians[SCALED, widest].mean
        trained = sorted({head_dim for _, head_dim in right})
        lost = {n: right[SCALED, n].mean - right[UNSCALED, n].mean for n in trained}
        saturates = level and left < SHARP and passed < 0.5
        suffers = lost[trained[-1]] > LOST
        line = (
            f"at d_k = {widest} the softmax keeps {left:.0%} of its entropy ({middle:.0%} scaled) "
            f"and {passed:.2f} times the gradient; accuracy after training at d_k = {trained[-1]} "
            f"is {right[UNSCALED, trained[-1]].spell()} unscaled, "
            f"{right[SCALED, trained[-1]].spell()} scaled"
        )
        accuracies = "; ".join(
            f"d_k = {n}: {right[UNSCALED, n].spell()} and {right[SCALED, n].spell()}"
            for n in trained
        )
        firsts = self.intervals(rows, "first_entropy")
        first = firsts[UNSCALED, trained[-1]].mean
        found = "suffers" if suffers else "does not suffer by more than " + f"{LOST:.2f}"
        paragraph = (
            "Entropy (as a share of that of equal weights) of the softmax of "
            f"{self.num_queries:,} random queries over {self.num_keys} random keys of unit "
            "variance, and the norm of the gradient that a random direction of the weights sends "
            "back to the scores. Unscaled, "
            "the scores have variance d_k, and the softmax becomes a choice of one key. The mean "
            f"gradient there is that of the few queries with two keys almost level; the median "
            f"query keeps {median:.1g} of it. Training: one layer with one head looks up the value "
            f"of a name among {PAIRS} (chance {1 / VALUES:.3f}), {self.steps} steps of {self.rows} "
            f"sequences, learning rates {', '.join(map(str, self.lrs))}, the best of each counts; "
            f"accuracy unscaled and scaled: {accuracies}. Training {found} at d_k = "
            f"{trained[-1]}. Its queries and keys do not start at unit variance: Xavier's start "
            f"makes them smaller the wider the head is than its input ({self.dim}), and the "
            f"unscaled softmax starts with {first:.0%} of its entropy. A larger model, or many "
            "layers, was not tried."
        )
        return Verdict(saturates and suffers, line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Entropy, gradient and accuracy over the width of a head."""
        titles = {
            "entropy": "entropy of the softmax,\nas a share of equal weights",
            "gradient": "gradient by the scores\n(dotted: median)",
            "accuracy": "accuracy of the look-up\nafter training",
        }
        for axes, (measure, title) in zip(
            figure.subplots(1, len(titles)), titles.items(), strict=True
        ):
            found = self.intervals(rows, measure)
            for color, name in enumerate(self.scorers):
                widths = [width for kind, width in found if kind == name]
                values = [found[name, width] for width in widths]
                axes.errorbar(
                    widths,
                    [value.mean for value in values],
                    yerr=[value.high - value.mean for value in values],
                    marker="o",
                    markersize=3,
                    color=f"C{color}",
                    label=name,
                )
                if measure == "gradient":
                    medians = self.intervals(rows, "median_gradient")
                    axes.plot(
                        widths, [medians[name, w].mean for w in widths], ":", color=f"C{color}"
                    )
            axes.set_xscale("log", base=2)
            if measure == "gradient":
                axes.set_yscale("log")
            else:
                axes.set_ylim(0, 1.05)
            axes.set_title(title, fontsize="medium")
            axes.set_xlabel("d_k, width of a head")
            axes.legend(fontsize="small", loc="lower left")


@torch.inference_mode()
def first_entropy(model: Model, batch: Batch) -> float:
    """Entropy of the attention weights of a model, as a share of that of equal weights."""
    with record_weights(model.eval()) as weights:
        model.encode(batch)
    ((recorded,),) = weights.values()
    return entropy(recorded)


def entropy(weights: torch.Tensor) -> float:
    """Mean entropy of weights ``[..., keys]``, as a share of that of equal weights."""
    nats = torch.special.entr(weights).sum(dim=-1)
    return float(nats.mean()) / math.log(weights.shape[-1])
