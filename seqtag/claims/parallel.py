"""Training time per token, all elements at once or one after another."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.training import FIRST_SYMBOL, count_parameters, make_batch, make_model
from seqtag.model import Model
from seqtag.nn.encoders.attention import AttentionEncoder, AttentionLayer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LSTM, ATTENTION = "LSTM", "attention"
PAIRS = "attention, pairs alone"
"""The part of attention whose cost per token grows with the length."""

SHORTEST = 16
SYMBOLS, LABELS = 1000, 20


class Parallel(Claim):
    """A step of training (forward, backward, AdamW) on batches of as many tokens at any length.

    A short batch has many rows, a long one few: what is one after another in an LSTM has fewer
    and fewer rows beside it, and attention has more and more pairs. Models take turns, so that
    what else the machine does falls on all of them.

    Args:
        seeds: see ``Claim``; each is a repetition in a process of its own.
        full: longer sequences.
        device: see ``Claim``.
        encoders: ``LSTM`` and ``attention``, as overrides of ``train``.
        parameters: budget of each encoder.
        longest: length, ``[default, full]``; lengths are its halves down to 16.
        tokens: of a batch.
        repetitions: of each measurement, of which the median counts.
    """

    title = (
        "Attention trains on all elements at once and an LSTM on one after another, so attention "
        "takes less time per token, until its square cost overtakes."
    )
    keys = ("model", "length")
    measures = ("microseconds", "parameters")
    alone = True

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        encoders: dict[str, str],
        parameters: str | None,
        longest: list[int],
        tokens: int,
        repetitions: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if set(encoders) != {LSTM, ATTENTION}:
            raise ValueError(
                f"claim.encoders is of {', '.join(encoders)}; it must be of {LSTM} and {ATTENTION}"
            )
        self.encoders, self.parameters = encoders, parameters
        self.lengths = [
            SHORTEST * 2**power for power in range(int(math.log2(longest[full] / SHORTEST)) + 1)
        ]
        self.tokens, self.repetitions = tokens, repetitions

    @property
    def size(self) -> int:
        """At each length a row per encoder, and one for the pairs."""
        return (len(self.encoders) + 1) * len(self.lengths)

    def measure(self, seed: int) -> Iterator[Row]:
        """Times all at one length after the other."""
        models = {
            name: make_model(
                overrides.split(),
                task="tagging",
                symbols=SYMBOLS,
                labels=LABELS,
                seed=seed,
                parameters=self.parameters,
            ).to(self.device)
            for name, overrides in self.encoders.items()
        }
        encoder = models[ATTENTION].encoder
        assert isinstance(encoder, AttentionEncoder), "its pairs are to be measured"
        generator = torch.Generator().manual_seed(seed)
        for length in self.lengths:
            batch = self.draw(generator, length).to(self.device)
            steps = {name: training_step(model, batch) for name, model in models.items()}
            steps[PAIRS] = pairs_step(encoder, max(1, self.tokens // length), length)
            seconds = self.time_in_turns(steps)
            for name, taken in seconds.items():
                yield {
                    "model": name,
                    "length": length,
                    "microseconds": 1e6 * taken / batch.layout.valid.numel(),
                    "parameters": count_parameters(models[name]) if name in models else None,
                    "threads": torch.get_num_threads(),
                    "device": self.device.type,
                }

    def draw(self, generator: torch.Generator, length: int) -> Batch:
        """Random symbols in full rows, ``tokens`` of them; each has one label."""
        rows = max(1, self.tokens // length)
        symbols = torch.randint(SYMBOLS, (rows, length), generator=generator)
        return make_batch(FIRST_SYMBOL + symbols, symbols % LABELS)

    def time_in_turns(self, steps: dict[str, Callable[[], object]]) -> dict[str, float]:
        """Median seconds of each, behind one call that is not counted."""
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        for repetition in range(1 + self.repetitions):
            for name, step in steps.items():
                started = self._now()
                step()
                taken = self._now() - started
                if repetition:
                    seconds[name].append(taken)
        return {name: statistics.median(taken) for name, taken in seconds.items()}

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held, if there is a length at which attention's interval lies below that of the LSTM.

        Its square cost overtakes where attention ceases to be faster for good; see ``crossing``.
        """
        found = self.intervals(rows, "microseconds")
        lengths = sorted({length for _, length in found})
        ratio = {n: found[ATTENTION, n].mean / found[LSTM, n].mean for n in lengths}
        faster = [n for n in lengths if found[ATTENTION, n].high < found[LSTM, n].low]
        overtaken = crossing(ratio)
        shortest, longest = lengths[0], lengths[-1]
        share = found[PAIRS, longest].mean / found[ATTENTION, longest].mean
        if not faster:
            where = f"attention is faster at no length from {shortest} to {longest}"
        elif overtaken is None:
            where = f"attention is faster from {faster[0]} up to {longest}"
        else:
            where = f"attention is faster from {faster[0]} up to length {overtaken:.0f}"
        some_lengths = dict.fromkeys((shortest, lengths[len(lengths) // 2], longest))
        ratios = ", ".join(f"{ratio[n]:.2f} (at {n})" for n in some_lengths)
        line = f"{where}; it takes {ratios} times the time of the LSTM"
        times = "; ".join(
            f"{name} {found[name, shortest].spell(1)} at {shortest} and "
            f"{found[name, longest].spell(1)} at {longest}"
            for name in (LSTM, ATTENTION)
        )
        sizes = self.intervals(rows, "parameters")
        some = rows[0]
        growth = found[LSTM, longest].mean / found[LSTM, shortest].mean
        elsewhere = (
            "This speaks of one processor; a graphics processor, which can do thousands of things "
            "at once, was not measured (device=cuda measures it)."
            if some["device"] == "cpu"
            else "This speaks of one machine."
        )
        paragraph = (
            f"Forward, backward and AdamW step of a tagger on {self.tokens:,} tokens of full rows, "
            f"length {shortest} to {longest}, in turns, the median of {self.repetitions} "
            f"repetitions behind a warm-up, on {some['threads']} thread(s) of this machine "
            f"({some['device']}). Encoders of {sizes[LSTM, longest].mean:,.0f} (LSTM) and "
            f"{sizes[ATTENTION, longest].mean:,.0f} (attention) parameters. Microseconds per "
            f"token: {times}. At {longest} the pairs of queries and keys take {share:.0%} of "
            f"attention's time. The LSTM takes {growth:.1f} times as long per token at {longest}, "
            f"where its steps have {max(1, self.tokens // longest)} row(s) each, as at {shortest}, "
            f"where they have {self.tokens // shortest}: how much that is depends on how much the "
            f"machine can do at once. {elsewhere}"
        )
        return Verdict(bool(faster), line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Time per token over the length, both on logarithmic axes."""
        axes = figure.subplots()
        found = self.intervals(rows, "microseconds")
        for name, style in ((LSTM, "-"), (ATTENTION, "-"), (PAIRS, ":")):
            lengths = [n for kind, n in found if kind == name]
            values = [found[name, n] for n in lengths]
            (drawn,) = axes.plot(
                lengths, [value.mean for value in values], style, marker="o", label=name
            )
            axes.fill_between(
                lengths,
                [max(value.low, value.mean / 10) for value in values],
                [value.high for value in values],
                color=drawn.get_color(),
                alpha=0.2,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("length of a sequence in tokens")
        axes.set_ylabel("training time per token in µs")
        axes.legend()


def training_step(model: Model, batch: Batch) -> Callable[[], object]:
    """A call that trains ``model`` by one step on ``batch``."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).backward()
        optimizer.step()

    return step


def pairs_step(encoder: AttentionEncoder, rows: int, length: int) -> Callable[[], object]:
    """A call that scores, weighs and sums all pairs, as the layers of ``encoder`` do, and back."""
    layers = [layer for layer in encoder.layers if isinstance(layer, AttentionLayer)]
    shapes = []
    for layer in layers:
        attention = layer.attention
        head_dim = attention.query.out_features // attention.num_heads
        shapes.append((rows, attention.num_heads, length, head_dim))
    weight = layers[0].attention.query.weight

    def random(shape: tuple[int, ...]) -> Tensor:
        made = torch.randn(shape, device=weight.device, dtype=weight.dtype)
        return made.requires_grad_()

    tensors = [(random(shape), random(shape), random(shape)) for shape in shapes]

    def step() -> None:
        for query, key, value in tensors:
            context = functional.scaled_dot_product_attention(query, key, value)
            torch.autograd.grad(context.sum(), (query, key, value))

    return step


def crossing(ratio: dict[int, float]) -> float | None:
    """The length from which attention takes longer for good, between two that were measured.

    Interpolated on logarithmic axes.

    Args:
        ratio: time of attention by that of the LSTM, by length, in ascending order.

    Returns:
        None where attention is faster at the longest, or slower at all.
    """
    lengths = list(ratio)
    for shorter, longer in zip(lengths[-2::-1], lengths[:0:-1], strict=True):
        if ratio[longer] <= 1:
            return None
        if ratio[shorter] <= 1:
            low, high = math.log(ratio[shorter]), math.log(ratio[longer])
            return float(shorter * (longer / shorter) ** (-low / (high - low)))
    return None
