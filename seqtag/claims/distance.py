"""The word that decides stands further and further away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seqtag.batch import Batch
from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.training import FIRST_SYMBOL, count_parameters, make_batch, make_model, train
from seqtag.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLACK = 8
"""Places of a sequence beyond its longest distance."""

ATTENTION = "attention"
FLAT, AHEAD = 0.05, 0.1
"""How much attention may lose from the nearest to the furthest place, and by how much it must lead
there."""


class Distance(Claim):
    """Facts, each a key beside its value, and queries, which hold a key and ask for its value.

    For each query there are two facts with its key and different values, one before it, at a given
    distance, and one somewhere behind it; the one before counts. Facts of other keys and filler
    stand in between. So the query alone says nothing, and a bag of the whole sequence leaves two
    values to guess from; one has to find the same key, on the right side.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        encoders: what to compare, by the name that the page gives it, ``attention`` among them:
            ``overrides`` of ``train``, and ``lr``, the highest learning rate.
        common: overrides of all of them.
        parameters: budget of each encoder.
        distances: from a query to its fact.
        shortest: the longest distance of a training sequence is one of those from this on, each as
            often.
        keys_and_values: how many different keys and values; no fewer keys than distances.
        fillers: how many different symbols that say nothing.
        steps: of training, ``[default, full]``.
        tokens: of a batch; how many sequences it has depends on their length.
        test_rows: sequences with all distances that are scored.
    """

    title = (
        "Attention finds the word that decides just as well 512 places away; whatever reads "
        "through a window or a memory loses it."
    )
    keys = ("encoder", "distance")
    measures = ("accuracy", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        encoders: Mapping[str, Mapping[str, Any]],
        common: str,
        parameters: str | None,
        distances: Sequence[int],
        shortest: int,
        keys_and_values: Sequence[int],
        fillers: int,
        steps: Sequence[int],
        tokens: int,
        test_rows: int,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        self.distances = tuple(sorted(distances))
        self.key_count, self.value_count = keys_and_values
        if not self.distances or self.distances[0] < 1 or self.key_count < len(self.distances):
            raise ValueError(
                f"claim.distances is {list(distances)} with {self.key_count} keys; each must be 1 "
                "or more, and there must be a key for each"
            )
        if self.value_count < 2 or shortest > self.distances[-1]:
            raise ValueError(
                f"claim.keys_and_values is {list(keys_and_values)} and claim.shortest {shortest}; "
                f"there must be 2 values or more, and a distance of at least the shortest"
            )
        if ATTENTION not in encoders:
            raise ValueError(f"claim.encoders has {', '.join(encoders)}, and no {ATTENTION}")
        self.encoders, self.common, self.parameters = encoders, common, parameters
        self.longest = tuple(value for value in self.distances if value >= shortest)
        self.fillers, self.steps, self.tokens = fillers, steps[full], tokens
        self.test_rows = test_rows

    @property
    def size(self) -> int:
        """A row per encoder and distance."""
        return len(self.encoders) * len(self.distances)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each encoder once, on all distances, and scores it on each."""
        symbols, gold, distance = self.draw_sequences(
            torch.Generator().manual_seed(1000 + seed), self.test_rows, self.distances[-1]
        )
        for name, encoder in self.encoders.items():
            model = make_model(
                [*self.common.split(), *encoder["overrides"].split()],
                task="tagging",
                symbols=self.key_count * (self.value_count + 1) + self.fillers,
                labels=self.value_count,
                seed=seed,
                parameters=self.parameters,
            ).to(self.device)
            train(model, self.draw, steps=self.steps, lr=encoder["lr"], seed=seed)
            right = self._predict(model, symbols) == gold
            for value in self.distances:
                yield {
                    "encoder": name,
                    "distance": value,
                    "accuracy": float(right[distance == value].double().mean()),
                    "parameters": count_parameters(model),
                }

    @torch.inference_mode()
    def _predict(self, model: Model, symbols: Tensor) -> Tensor:
        """The label of each element ``[rows, source]``, in batches of the size of training."""
        model.eval()
        chunks = torch.split(symbols, max(1, self.tokens // symbols.shape[1]))
        found = [
            model.predict(make_batch(part, torch.full_like(part, -1)).to(self.device)).value
            for part in chunks
        ]
        return torch.cat(found).cpu()

    def draw(self, generator: torch.Generator) -> Batch:
        """A batch of sequences of one length, whose longest distance is drawn."""
        longest = self.longest[int(torch.randint(len(self.longest), (), generator=generator))]
        rows = max(1, self.tokens // (longest + SLACK))
        symbols, gold, _ = self.draw_sequences(generator, rows, longest)
        return make_batch(symbols, gold)

    def draw_sequences(
        self, generator: torch.Generator, rows: int, longest: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Sequences with a query for each distance up to ``longest``, where there is room for it.

        Symbols are, from ``FIRST_SYMBOL`` on, the facts (``key * values + value``), the queries and
        the fillers. The keys of a sequence's queries are all different.

        Returns:
            Symbols, labels (-1 where nothing is asked) and distances (0 likewise), each
            ``[rows, longest + SLACK]``.
        """
        length = longest + SLACK
        shape = (rows, length)
        facts, queries = self.key_count * self.value_count, self.key_count
        symbols = facts + queries + torch.randint(self.fillers, shape, generator=generator)
        gold, distance = torch.full(shape, -1), torch.zeros(shape, dtype=torch.long)
        free = torch.ones(shape, dtype=torch.bool)
        shuffled = torch.rand(rows, self.key_count, generator=generator).argsort(dim=1)
        chosen = [value for value in self.distances if value <= longest]
        # The longest first, which have the fewest places to choose from.
        for number, value in enumerate(reversed(chosen)):
            fact = torch.randint(length - value - 1, (rows,), generator=generator)
            query = fact + value
            behind = torch.rand(rows, generator=generator) * (length - 1 - query)
            places = torch.stack([fact, query, query + 1 + behind.long()], dim=1)
            # A row without room goes without this distance.
            row = free.gather(1, places).all(dim=1).nonzero().squeeze(1)
            fact, query, decoy = places[row].T
            key = shuffled[row, number]
            answer = torch.randint(self.value_count, (rows,), generator=generator)[row]
            other = torch.randint(1, self.value_count, (rows,), generator=generator)[row]
            symbols[row, fact] = key * self.value_count + answer
            symbols[row, query] = facts + key
            symbols[row, decoy] = key * self.value_count + (answer + other) % self.value_count
            gold[row, query], distance[row, query] = answer, value
            free[row.unsqueeze(1), places[row]] = False
        return FIRST_SYMBOL + symbols, gold, distance

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Held where attention is as good far away as near, and everything else is not.

        That is, of the means over seeds: attention is at the furthest place at most ``FLAT`` worse
        than at the nearest, and more than ``AHEAD`` better there than each other encoder, of which
        each loses more than ``FLAT`` on the way.
        """
        right = {key: found.mean for key, found in self.intervals(rows, "accuracy").items()}
        near, far = self.distances[0], self.distances[-1]
        lost = {name: right[name, near] - right[name, far] for name in self.encoders}
        others = [name for name in self.encoders if name != ATTENTION]
        best = max(others, key=lambda name: right[name, far])
        held = (
            lost[ATTENTION] <= FLAT
            and right[ATTENTION, far] > right[best, far] + AHEAD
            and all(lost[name] > FLAT for name in others)
        )
        line = (
            f"accuracy at {near} and at {far} places: "
            + ", ".join(f"{n} {right[n, near]:.2f} and {right[n, far]:.2f}" for n in self.encoders)
            + f" (chance {1 / self.value_count:.2f})"
        )
        return Verdict(held, line, self._paragraph(right))

    def _paragraph(self, right: Mapping[tuple[Any, ...], float]) -> str:
        reach = {
            name: max((d for d in self.distances if right[name, d] >= 0.8), default=0)
            for name in self.encoders
        }
        reached = ", ".join(f"{name} {value or 'nowhere'}" for name, value in reach.items())
        return (
            f"An element holds one of {self.key_count} keys and asks for its value, one of "
            f"{self.value_count}. The key stands beside its value in two elements: in the one that "
            f"counts, {self.distances[0]} to {self.distances[-1]} places before, and, with another "
            "value, in one behind; other keys and filler stand around. One model per encoder, of "
            f"about {self.parameters} parameters, learns all distances in {self.steps} steps of "
            f"{self.tokens} elements, in sequences of {self.longest[0] + SLACK} to "
            f"{self.longest[-1] + SLACK}; scored on {self.test_rows} sequences of the greatest "
            f"length, which have every distance. The furthest place with 0.8 or more: {reached}. "
            "What each could do: FC window and CNN nothing beyond their radius; global pooling is "
            "a bag, which beyond the radius leaves the two values of a key to guess from, 0.5; RNN "
            "and LSTM all of it, if their state holds all keys with their values for as long; "
            "attention all of it, in one step from any distance. It does not show how far a larger "
            "or longer trained recurrent network would reach."
        )

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Accuracy by distance, a line per encoder with a band for its interval."""
        axes = figure.subplots()
        found = self.intervals(rows, "accuracy")
        for (name, _), marker in zip(
            ((name, None) for name in self.encoders), "osD^v<>*", strict=False
        ):
            values = [found[name, distance] for distance in self.distances]
            (drawn,) = axes.plot(
                self.distances,
                [value.mean for value in values],
                marker=marker,
                linewidth=2.5 if name == ATTENTION else 1.3,
                label=name,
            )
            axes.fill_between(
                self.distances,
                [value.low for value in values],
                [value.high for value in values],
                color=drawn.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        axes.axhline(1 / self.value_count, color="grey", linestyle=":", label="chance")
        axes.axhline(0.5, color="grey", linestyle="--", label="what a bag leaves")
        axes.set_xscale("log", base=2)
        axes.set_xticks(self.distances, [str(distance) for distance in self.distances])
        axes.set_xlabel("places from the deciding word")
        axes.set_ylabel("accuracy")
        axes.set_ylim(0, 1.05)
        axes.legend(fontsize="small", loc="lower left", ncols=2)
