"""Heads that share keys and values: what is saved, and what it costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from seqtag.batch import END, Batch, Layout
from seqtag.claims.claim import Claim, Row, Verdict, interval
from seqtag.claims.training import FIRST_SYMBOL, accuracy, make_batch, make_model, train
from seqtag.model import Model
from seqtag.nn.decoders.attention import AttentionDecoder, AttentionState
from seqtag.nn.decoders.decoder import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORTEST = 4
"""Symbols of the shortest sequence."""

SOURCE = 32
"""Elements of the input while speed is measured: few, so that the symbols so far count most."""

FASTER = 1.05
"""Decoding is faster if multi-query takes so many times as many steps in a second."""

LOST = 0.05
"""Quality is kept if multi-query finds no smaller a share of the sequences than this less."""


class Sharing(Claim):
    """The same encoder and decoder with fewer and fewer heads of keys and values.

    Quality is that of turning a sequence of symbols around, found whole. Cache and speed are
    those of a decoder of ``decoder_dim``, whose steps are taken one by one, as a search does, with
    random symbols; kinds take turns.

    Args:
        seeds: see ``Claim``.
        full: longer sequences and more steps of training.
        device: see ``Claim``.
        num_heads: of queries, in encoder and decoder.
        num_kv_heads: of keys and values, one kind each; as many as ``num_heads`` and 1 among them.
        dim: of encoder and decoder whose quality is measured.
        symbols: how many different ones.
        longest: sequence to turn around, ``[default, full]``.
        steps: of training, ``[default, full]``.
        rows: of a batch.
        lr: highest learning rate.
        decoder_dim: of the decoder whose cache and speed are measured.
        decoded: rows, and steps, of that measurement.
        repetitions: of it, of which the median counts.
    """

    title = (
        "Heads that share keys and values need fewer parameters and a smaller cache, decode "
        "faster, and are about as good."
    )
    keys = ("num_kv_heads",)
    measures = (
        "parameters",
        "cache_bytes_per_token",
        "steps_per_second",
        "accuracy",
    )
    alone = True

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        num_heads: int,
        num_kv_heads: list[int],
        dim: int,
        symbols: int,
        longest: list[int],
        steps: list[int],
        rows: int,
        lr: float,
        decoder_dim: int,
        decoded: list[int],
        repetitions: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if not {num_heads, 1} <= set(num_kv_heads):
            raise ValueError(
                f"claim.num_kv_heads is {num_kv_heads}; claim.num_heads ({num_heads}) and 1 must "
                "be among them"
            )
        self.num_heads, self.num_kv_heads, self.dim = num_heads, num_kv_heads, dim
        self.symbols, self.longest = symbols, longest[full]
        self.steps, self.rows, self.lr = steps[full], rows, lr
        self.decoder_dim = decoder_dim
        self.decoded_rows, self.decoded_steps = decoded
        self.repetitions = repetitions

    @property
    def size(self) -> int:
        """A row per number of heads."""
        return len(self.num_kv_heads)

    def measure(self, seed: int) -> Iterator[Row]:
        """Measures speed and cache of all kinds in turns, then trains one after another."""
        decoders: dict[int, AttentionDecoder] = {}
        for heads in self.num_kv_heads:
            decoder = self.model(heads, self.decoder_dim, seed).head.decoder
            assert isinstance(decoder, AttentionDecoder), "its cache is to be measured"
            decoders[heads] = decoder.eval()
        speed, cache = self.decode(decoders, seed)
        test = self.draw(torch.Generator().manual_seed(1000 + seed), rows=500)
        for heads in self.num_kv_heads:
            model = self.model(heads, self.dim, seed)
            train(model, self.draw, steps=self.steps, lr=self.lr, seed=seed)
            yield {
                "num_kv_heads": heads,
                "parameters": sum(p.numel() for p in decoders[heads].parameters()),
                "cache_bytes_per_token": cache[heads],
                "steps_per_second": speed[heads],
                "accuracy": accuracy(model, [test]),
                "threads": torch.get_num_threads(),
                "device": self.device.type,
            }

    def model(self, num_kv_heads: int, dim: int, seed: int) -> Model:
        """An encoder and a decoder of two layers each, untrained."""
        sizes = [
            f"{part}.{key}={value}"
            for part in ("encoder", "decoder")
            for key, value in {
                "dim": dim,
                "feedforward_dim": 2 * dim,
                "num_heads": self.num_heads,
                "num_kv_heads": num_kv_heads,
                "dropout": 0,
            }.items()
        ]
        return make_model(
            ["encoder=attention", "decoder=attention", f"embedding.dim={dim}", *sizes],
            task="seq2seq",
            symbols=self.symbols,
            labels=1 + self.symbols,
            seed=seed,
        ).to(self.device)

    def draw(self, generator: torch.Generator, rows: int | None = None) -> Batch:
        """Random symbols, and the same from the last to the first with ``END`` behind them."""
        rows = self.rows if rows is None else rows
        lengths = torch.randint(SHORTEST, self.longest + 1, (rows, 1), generator=generator)
        longest = int(lengths.max())
        symbols = torch.randint(self.symbols, (rows, longest), generator=generator)
        # Place i of the target is place length - 1 - i of the input; -1 behind its end.
        source = lengths - 1 - torch.arange(longest + 1)
        target = 1 + symbols.gather(1, source.clamp(min=0))
        target = torch.where(source == -1, END, target.where(source >= 0, -1))
        return make_batch(FIRST_SYMBOL + symbols, target, lengths=lengths.squeeze(1))

    @torch.inference_mode()
    def decode(
        self, decoders: dict[int, AttentionDecoder], seed: int
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Steps in a second, and bytes kept for each symbol so far, by number of heads."""
        generator = torch.Generator().manual_seed(seed)
        rows, steps = self.decoded_rows, self.decoded_steps
        memory = torch.randn(rows, SOURCE, self.decoder_dim, generator=generator).to(self.device)
        symbols = torch.randint(1, 1 + self.symbols, (steps, rows), generator=generator)
        symbols = symbols.to(self.device)
        layout = Layout.of(torch.full((rows,), SOURCE)).to(self.device)
        seconds: dict[int, list[float]] = {heads: [] for heads in decoders}
        cache: dict[int, float] = {}
        for repetition in range(1 + self.repetitions):
            for heads, decoder in decoders.items():
                started = self._now()
                state: State = decoder.start(memory, layout)
                for step in symbols:
                    _, state = decoder.step(step, state)
                if repetition:
                    seconds[heads].append(self._now() - started)
                assert isinstance(state, AttentionState)
                cache[heads] = cache_bytes(state) / (rows * steps)
        return {heads: steps / statistics.median(s) for heads, s in seconds.items()}, cache

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held, if multi-query is smaller, has a cache smaller by the number of heads, is faster
        than multi-head, and is about as good.

        See ``FASTER`` and ``LOST``; the speed is compared seed by seed, and the whole interval of
        the ratio must lie above 1 too.
        """
        parameters, cache, speed, right = (
            {key[0]: found for key, found in self.intervals(rows, measure).items()}
            for measure in self.measures
        )
        many = self.num_heads
        ratio = interval(
            [
                one["steps_per_second"] / other["steps_per_second"]
                for one in rows
                for other in rows
                if one["seed"] == other["seed"]
                and (one["num_kv_heads"], other["num_kv_heads"]) == (1, many)
            ]
        )
        smaller = parameters[1].mean < parameters[many].mean
        exact = cache[1].mean * many == cache[many].mean
        faster = ratio.mean >= FASTER and ratio.low > 1
        good = right[many].mean - right[1].mean <= LOST
        line = (
            f"multi-query against multi-head with {many} heads: "
            f"{parameters[1].mean / parameters[many].mean:.2f} of the parameters, "
            f"{cache[1].mean:,.0f} against {cache[many].mean:,.0f} bytes of cache per token, "
            f"{ratio.spell(2)} times the decoding speed, accuracy {right[1].spell()} against "
            f"{right[many].spell()}"
        )
        accuracies = ", ".join(f"{right[heads].spell()} with {heads}" for heads in right)
        speeds = ", ".join(f"{speed[heads].mean:,.0f} with {heads}" for heads in speed)
        failed = [
            what
            for what, ok in {
                "the parameters": smaller,
                "the cache": exact,
                "the speed": faster,
                "the quality": good,
            }.items()
            if not ok
        ]
        some = rows[0]
        paragraph = (
            f"Speed and cache: a decoder of 2 layers, width {self.decoder_dim}, {many} query "
            f"heads, {self.decoded_steps} steps taken one by one for {self.decoded_rows} rows of "
            f"symbols, kinds in turns, the median of {self.repetitions}, on {some['threads']} "
            f"thread(s) of this machine ({some['device']}). Steps in a second by heads of keys and "
            f"values: {speeds}. The cache is measured from the keys and values that the decoder "
            "keeps; seqtag copies shared ones to each query head at each step, which saves "
            "memory between the steps, not within one. Quality: sequences "
            f"of {SHORTEST} to {self.longest} of {self.symbols} symbols turned around by encoder "
            f"and decoder of width {self.dim}, {self.steps} steps of {self.rows}, one learning "
            f"rate ({self.lr}) for all, 500 further sequences found whole: {accuracies}. "
            + (f"It fails in {' and '.join(failed)}. " if failed else "")
            + "A small task says little of what sharing costs a large model, and the kinds with "
            "fewer heads have fewer parameters, which was not made up for elsewhere."
        )
        return Verdict(not failed, line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """A bar per kind for each measure."""
        titles = {
            "parameters": "parameters of the decoder",
            "cache_bytes_per_token": "cache, bytes per token",
            "steps_per_second": "decoding, steps per second",
            "accuracy": "accuracy",
        }
        for axes, (measure, title) in zip(figure.subplots(2, 2).flat, titles.items(), strict=True):
            found = self.intervals(rows, measure)
            axes.bar(
                [str(heads) for (heads,) in found],
                [value.mean for value in found.values()],
                yerr=[value.high - value.mean for value in found.values()],
                capsize=3,
            )
            axes.set_title(title, fontsize="medium")
            axes.set_xlabel("heads of keys and values")


def cache_bytes(state: AttentionState) -> int:
    """Bytes of the keys and values of the symbols so far."""
    return sum(
        tensor.numel() * tensor.element_size()
        for memory in state.symbols
        for tensor in (memory.keys, memory.values)
    )
