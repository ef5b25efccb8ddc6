"""One word in two roles: what sees the word alone has one answer for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from seqtag.batch import WORD, Batch
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRONOUNS, DETERMINERS, ADJECTIVES, WORDS = range(0, 4), range(4, 7), range(7, 13), range(13, 23)
"""Kinds of symbols; the last are verbs behind a pronoun, and nouns behind a determiner."""

SYMBOLS = 23
VERB, NOUN = 0, 1
UNASKED = -1

CLAUSE = (
    (PRONOUNS, UNASKED),
    (WORDS, VERB),
    (DETERMINERS, UNASKED),
    (ADJECTIVES, UNASKED),
    (ADJECTIVES, UNASKED),
    (WORDS, NOUN),
)
"""The places of a clause, each with its kind of symbol and its label."""

FIRST_ADJECTIVE, SECOND_ADJECTIVE = 3, 4
CLAUSES = 3

ALONE = "pointwise"
"""The encoder that sees each word alone."""

NEARLY_TWO, MOSTLY = 1.95, 0.9
"""Answers per word of what sees context, and its share of labels right, at least: one word of ten
may have a single answer in one of three seeds; and two answers must be more than noise."""


class Context(Claim):
    """Sentences such as "they saw the old saw", in which every verb and noun is a word of both.

    The claim holds, if the encoder named ``pointwise`` has one answer for each word and every other
    has ``NEARLY_TWO`` and is right in ``MOSTLY`` all cases, as means over words and seeds.

    Args:
        seeds: see ``Claim``.
        full: more steps of training.
        device: see ``Claim``.
        common: overrides of ``train`` for all encoders.
        encoders: what to compare, by the name that the page gives it, as further overrides.
        parameters: budget of each encoder.
        steps: of training, ``[default, full]``.
        rows: of a batch.
        tests: sentences of the test.
        lr: highest learning rate.

    Raises:
        ValueError: ``encoders`` has no ``pointwise``, or nothing beside it.
    """

    title = (
        "A word in two roles gets one answer from what sees the word alone, and two from what "
        "sees its context."
    )
    keys = ("encoder",)
    measures = ("answers_per_word", "accuracy", "parameters")

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        common: str,
        encoders: Mapping[str, str],
        parameters: str,
        steps: Sequence[int],
        rows: int,
        tests: int,
        lr: float,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        if ALONE not in encoders or len(encoders) < 2:
            raise ValueError(
                f"claim.encoders has {', '.join(encoders) or 'nothing'}; it must have {ALONE}, and "
                "one more at least"
            )
        self.common, self.encoders, self.parameters = common, encoders, parameters
        self.steps, self.rows, self.tests, self.lr = steps[full], rows, tests, lr

    @property
    def size(self) -> int:
        """A row per encoder."""
        return len(self.encoders)

    def measure(self, seed: int) -> Iterator[Row]:
        """Trains each encoder on sentences drawn anew, and asks it for each word in both roles."""
        for name, overrides in self.encoders.items():
            model = make_model(
                [*self.common.split(), *overrides.split()],
                task="tagging",
                symbols=SYMBOLS,
                labels=2,
                seed=seed,
                parameters=self.parameters,
            ).to(self.device)
            train(model, self.draw, steps=self.steps, lr=self.lr, seed=seed)
            test = sentences(torch.Generator().manual_seed(1000 + seed), self.tests)
            yield {
                "encoder": name,
                "answers_per_word": self._answers(model, test),
                "accuracy": accuracy(model, [test]),
                "parameters": count_parameters(model),
            }

    def draw(self, generator: torch.Generator) -> Batch:
        """A batch of training."""
        return sentences(generator, self.rows)

    @torch.inference_mode()
    def _answers(self, model: Model, test: Batch) -> float:
        """How many different answers a word gets, over all its places, as a mean over words."""
        model.eval()
        value = model.predict(test.to(self.device)).value.cpu()
        assert test.target is not None
        asked = test.target.present
        words, answers = test.inputs[WORD][asked].tolist(), value[asked].tolist()
        return len(set(zip(words, answers, strict=True))) / len(set(words))

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """See the class."""
        answers, right = self.intervals(rows, "answers_per_word"), self.intervals(rows, "accuracy")
        alone = answers[(ALONE,)]
        others = {key[0]: value for key, value in answers.items() if key[0] != ALONE}
        scores = {key[0]: value for key, value in right.items()}
        held = alone.mean == 1 and all(
            found.mean >= NEARLY_TWO and scores[name].mean >= MOSTLY
            for name, found in others.items()
        )
        means = [found.mean for found in others.values()]
        line = (
            f"answers per word: {ALONE} {alone.mean:.2f}, the others {min(means):.2f} to "
            f"{max(means):.2f}; labels right: {ALONE} {scores[ALONE].spell()}, the others at "
            f"least {min(scores[name].mean for name in others):.3f} ({MOSTLY} is asked)"
        )
        paragraph = (
            "Sentences of three clauses like “they saw the old saw”, with up to two adjectives "
            f"each: every verb and noun is one of {len(WORDS)} words that are both, equally "
            "often, and only these are asked for. One who sees the word alone can be right in "
            f"half of the cases. {self.steps} steps of {self.rows} sentences drawn anew, each "
            f"encoder with about {self.parameters} parameters; share right in {self.tests:,} "
            f"further sentences: {'; '.join(f'{k} {v.spell()}' for k, v in scores.items())}. The "
            "word before is enough to tell the role here: this does not show which way to see "
            "context is best."
        )
        return Verdict(held, line, paragraph)

    def plot(self, figure: Figure, rows: Sequence[Row]) -> None:
        """Answers per word, and share of labels right, as bars with their numbers."""
        panels = {"answers_per_word": "answers per word", "accuracy": "share of labels right"}
        for axes, (measure, name) in zip(figure.subplots(1, 2), panels.items(), strict=True):
            found = self.intervals(rows, measure)
            bars = axes.barh(
                [key[0] for key in found],
                [value.mean for value in found.values()],
                xerr=[value.high - value.mean for value in found.values()],
                color=["C1" if key[0] == ALONE else "C0" for key in found],
                capsize=3,
            )
            texts = [f"{value.mean:.2f}" for value in found.values()]
            axes.bar_label(bars, texts, label_type="center", color="white", weight="bold")
            axes.invert_yaxis()
            axes.set_xlabel(name)


def sentences(generator: torch.Generator, rows: int) -> Batch:
    """Clauses of pronoun, verb, determiner, up to two adjectives and noun, three to a sentence.

    Only verbs and nouns are asked for.
    """
    places = CLAUSE * CLAUSES
    first = torch.tensor([kind.start for kind, _ in places])
    sizes = torch.tensor([len(kind) for kind, _ in places])
    labels = torch.tensor([label for _, label in places])
    drawn = torch.rand(rows, len(places), generator=generator)
    symbols = FIRST_SYMBOL + first + (drawn * sizes).long()
    adjectives = torch.randint(3, (rows, CLAUSES, 1), generator=generator)
    there = torch.ones(rows, CLAUSES, len(CLAUSE), dtype=torch.bool)
    there[:, :, FIRST_ADJECTIVE : SECOND_ADJECTIVE + 1] = adjectives > torch.arange(2)
    there = there.flatten(1)  # [rows, places]
    lengths = there.sum(dim=1)
    # What is there moves to the left, in its order.
    order = (~there).long().argsort(dim=1, stable=True)[:, : int(lengths.max())]
    behind = torch.arange(order.shape[1]) >= lengths.unsqueeze(1)
    gold = labels.expand(rows, -1).gather(1, order).masked_fill(behind, UNASKED)
    return make_batch(symbols.gather(1, order).masked_fill(behind, 0), gold, lengths=lengths)
