"""How much of the last element's gradient reaches an element so many steps back."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from seqtag.batch import Layout
from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.training import make_model
from seqtag.nn.encoders.encoder import Encoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR, TANH = "linear recurrence", "tanh recurrence"
LSTM, ATTENTION = "LSTM", "attention"

RATE_TOLERANCE = 0.01
"""A recurrence has its gain as its rate if it differs by no more."""

LEVEL = 4.0
"""Attention's gradient is as large at any distance if the largest is at most so many times the
smallest."""

SMALLEST = 1e-300
"""What is less is not measured well: numbers lose their digits there."""

FADED = 1e-3
"""The gradient of an LSTM has faded if less of it is left at the longest distance."""


class Gradient(Claim):
    """Back-propagation through random sequences, at the start, before any training.

    A random direction of the last output is differentiated by the input ``distance`` steps before
    it. All is relative to distance 1: at distance 0 attention has its residual sum besides.

    The plain recurrence is ``h_t = f(gain * Q h_{t-1} + x_t)`` with a random orthogonal ``Q``. With
    ``f`` the identity each step back multiplies by the gain and nothing else (Pascanu et al. 2013,
    section 2.1), so it shows both vanishing and exploding; with tanh, whose slope is less than 1,
    the rate is the gain times what the slopes leave, and it cannot go on exploding.

    Args:
        seeds: see ``Claim``.
        full: longer distances.
        device: see ``Claim``.
        gains: of the plain recurrence.
        encoders: by the name that the page gives it, as overrides of ``train``; ``LSTM`` and
            ``attention`` are what the verdict speaks of.
        dim: width of inputs and outputs.
        longest: distance, ``[default, full]``; distances are its halves, quarters, ... down to 1.
        rows: sequences of each measurement.
    """

    title = (
        "The gradient that reaches a position d steps back vanishes or explodes as gain^d in a "
        "recurrent network and fades in an LSTM; attention's is as large at any distance."
    )
    keys = ("model", "distance")
    measures = ("gradient", "relative")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        gains: list[float],
        encoders: dict[str, str],
        dim: int,
        longest: list[int],
        rows: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        self.gains, self.encoders = gains, encoders
        self.dim, self.rows = dim, rows
        self.distances = [2**power for power in range(int(math.log2(longest[full])) + 1)]

    @property
    def size(self) -> int:
        """A row per model and distance."""
        return (2 * len(self.gains) + len(self.encoders)) * len(self.distances)

    def measure(self, seed: int) -> Iterator[Row]:
        """Differentiates each model once, for all distances."""
        for name, model in self._models(seed).items():
            model = model.to(self.device, torch.float64).eval()
            norms = self.norms(model, torch.Generator().manual_seed(seed))
            for distance in self.distances:
                yield {
                    "model": name,
                    "distance": distance,
                    "gradient": float(norms[distance]),
                    "relative": float(norms[distance] / norms[1]),
                }

    def _models(self, seed: int) -> dict[str, nn.Module]:
        generator = torch.Generator().manual_seed(seed)
        square = torch.randn(self.dim, self.dim, generator=generator, dtype=torch.float64)
        orthogonal = torch.linalg.qr(square).Q
        models: dict[str, nn.Module] = {}
        activations: dict[str, Callable[[Tensor], Tensor]] = {
            LINEAR: lambda x: x,
            TANH: torch.tanh,
        }
        for kind, activation in activations.items():
            for gain in self.gains:
                models[name_of(kind, gain)] = Recurrence(gain * orthogonal, activation)
        for name, overrides in self.encoders.items():
            models[name] = make_model(
                [*overrides.split(), f"encoder.dim={self.dim}", f"embedding.dim={self.dim}"],
                task="tagging",
                symbols=1,
                labels=2,
                seed=seed,
            ).encoder
        return models

    def norms(self, model: nn.Module, generator: torch.Generator) -> Tensor:
        """Norms of the gradient by distance from the last element, ``[longest + 1]``.

        Each is a root mean square over the rows, whose inputs and directions are standard normal.
        """
        source = self.distances[-1] + 1
        x = torch.randn(self.rows, source, self.dim, generator=generator, dtype=torch.float64)
        direction = torch.randn(self.rows, self.dim, generator=generator, dtype=torch.float64)
        x = x.to(self.device).requires_grad_()
        layout = Layout.of(torch.full((self.rows,), source)).to(self.device)
        last = model(x, layout)[:, -1]
        (gradient,) = torch.autograd.grad((last * direction.to(self.device)).sum(), x)
        norms: Tensor = gradient.norm(dim=-1).square().mean(dim=0).sqrt()
        return norms.flip(0).cpu()

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held, if each linear rate is its gain, the LSTM's fades, and attention's stays level.

        See ``RATE_TOLERANCE``, ``FADED`` and ``LEVEL``.
        """
        rates = {name: rate(rows, name) for name in dict.fromkeys(row["model"] for row in rows)}
        linear = {gain: rates[name_of(LINEAR, gain)] for gain in self.gains}
        tanh = {gain: rates[name_of(TANH, gain)] for gain in self.gains}
        relative = self.intervals(rows, "relative")
        longest = max(row["distance"] for row in rows)
        of_attention = [found.mean for (name, _), found in relative.items() if name == ATTENTION]
        spread = max(of_attention) / min(of_attention)
        left = relative[LSTM, longest].mean
        geometric = all(abs(found - gain) <= RATE_TOLERANCE for gain, found in linear.items())
        line = (
            f"a step back multiplies by {_listed(linear.values())} at gain {_listed(linear)}"
            f", by {rates[LSTM]:.2f} in the LSTM ({left:.0e} of it is left at distance {longest});"
            f" attention's varies by a factor of {spread:.1f} over all distances"
        )
        ends = ", ".join(
            f"{relative[name_of(LINEAR, gain), longest].mean:.2g} at gain {gain}"
            for gain in self.gains
        )
        others = ", ".join(
            f"{rates[name]:.2f} in the {name}" for name in self.encoders if name != ATTENTION
        )
        near, far = (self.intervals(rows, "gradient")[ATTENTION, n].mean for n in (1, longest))
        paragraph = (
            f"The gradient of the last output by the input 1 to {longest} steps back, before any "
            f"training, relative to distance 1; {self.rows} random sequences, width {self.dim}. A "
            f"linear recurrence (an orthogonal matrix times a gain) keeps {ends} over {longest} "
            f"steps. The same with tanh multiplies by {_listed(tanh.values())} a step: the slope "
            "of tanh is less than 1, so inputs of unit variance make it vanish at a gain of 1.1 "
            "too. As seqtag starts them, the LSTM with its forget gates open, a step multiplies "
            f"by {others}. Attention takes one step from any element to any other, however far: "
            f"its gradient is {near:.2g} at distance 1 and {far:.2g} at {longest}. It is a "
            "share, though, since the weights of all elements sum to 1; with longer sequences it "
            "would be smaller everywhere. All this says how models start, not what they become: "
            "training can open gates further, and sharpen attention."
        )
        held = geometric and left < FADED and spread <= LEVEL
        return Verdict(held, line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """The relative gradient over the distance, both on logarithmic axes."""
        axes = figure.subplots()
        found = self.intervals(rows, "relative")
        for name in dict.fromkeys(key[0] for key in found):
            distances = [key[1] for key in found if key[0] == name]
            mean = [found[name, distance].mean for distance in distances]
            axes.plot(
                distances,
                mean,
                marker="o",
                markersize=3,
                linestyle="--" if name.startswith(TANH) else "-",
                linewidth=5 if name == ATTENTION else 1.5,  # another line may lie upon it
                zorder=1 if name == ATTENTION else 2,
                label=name,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_ylim(1e-30, 1e24)
        axes.set_xlabel("distance in steps")
        axes.set_ylabel("gradient, relative to distance 1")
        axes.legend(fontsize="small", ncols=2)


class Recurrence(Encoder):
    """``h_t = f(W h_{t-1} + x_t)``, and no more; its states are its outputs.

    Args:
        weight: ``W [dim, dim]``.
        activation: ``f``.
    """

    def __init__(self, weight: Tensor, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.output_dim = len(weight)
        self.register_buffer("weight", weight)
        self.weight: Tensor
        self.activation = activation

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """States ``[batch, source, dim]`` of inputs of that shape, without padding."""
        state = torch.zeros_like(x[:, 0])
        states = []
        for element in x.unbind(dim=1):
            state = self.activation(state @ self.weight.T + element)
            states.append(state)
        return torch.stack(states, dim=1)


def name_of(kind: str, gain: float) -> str:
    """What the page calls a recurrence."""
    return f"{kind}, gain {gain}"


def rate(rows: Sequence[Row], model: str) -> float:
    """By how much a step back multiplies, as a mean over the steps from distance 1 on.

    Up to the longest distance at which double precision still has something left, with every seed.
    """
    left: dict[int, list[float]] = {}
    for row in rows:
        if row["model"] == model:
            left.setdefault(row["distance"], []).append(row["relative"])
    longest = max(n for n, values in left.items() if min(values) > SMALLEST)
    return math.exp(statistics.fmean(map(math.log, left[longest])) / (longest - 1))


def _listed(numbers: Iterable[float]) -> str:
    """``0.90, 1.00, 1.10``."""
    return ", ".join(f"{number:.2f}" for number in numbers)
