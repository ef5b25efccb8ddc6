"""BLEU and chrF of new sequences, as sacrebleu (Post 2018) computes them.

Both are functions of sums over rows. What is summed are the statistics that sacrebleu itself takes
of a segment; the score of the sums is that of its ``corpus_score`` on the same strings, by its
formulas for many sums at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import ArithmeticMetric
from seqtag.evaluation.sequences import references

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

_COUNTS = 3
"""Rows, their references, and the squares of how many each has: these tell the signature."""


class Joiner(Protocol):
    """What makes a string of symbols."""

    def join(self, tokens: list[str]) -> str:
        """The string whose elements these are."""


class _CorpusScore(ArithmeticMetric):
    """A score of sacrebleu, from 0 to 100.

    Args:
        spec: see the base class.
        tokenizer: joins symbols to the strings that are scored.
        scorer: of sacrebleu.
    """

    higher_is_better: ClassVar[bool] = True
    counts_of: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: TargetSpec, tokenizer: Joiner, scorer: Scorer) -> None:
        super().__init__(spec)
        self._names = (*spec.labels, *spec.unseen)
        self._tokenizer, self._scorer = tokenizer, scorer

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for sequences."""
        return spec.sequence

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """What sacrebleu counts in each row, and its references, ``[batch, size]``."""
        statistics = torch.zeros(len(prediction.value), self.size, dtype=torch.float64)
        for number, row in enumerate(references(prediction.value, target)):
            if row is None:
                continue
            found, accepted = self._text(row[0]), [self._text(ids) for ids in row[1]]
            # What sacrebleu's own tests of significance add up as well.
            counted = self._scorer._extract_corpus_statistics([found], [[a] for a in accepted])[0]
            counts = (1, len(accepted), len(accepted) ** 2)
            statistics[number] = torch.tensor([*counted, *counts], dtype=torch.float64)
        return statistics

    def scores(self, totals: Tensor) -> Tensor:
        """sacrebleu's score; NaN where nothing is present."""
        return self._score(totals[:, :-_COUNTS]).where(totals[:, -_COUNTS] > 0, torch.nan)

    @abstractmethod
    def _score(self, counted: Tensor) -> Tensor:
        """Of what sacrebleu counts, ``[sums, size]``, the score ``[sums]``."""

    def signature(self, total: Tensor) -> str:
        """sacrebleu's signature of such a score: everything that it depends on.

        Args:
            total: summed statistics, which tell how many references the rows have.
        """
        rows, references_, squares = total[-_COUNTS:].tolist()
        alike = rows and references_**2 == rows * squares
        self._scorer.num_refs = int(references_ / rows) if alike else -1  # -1: it varies
        return str(self._scorer.get_signature())

    def _text(self, ids: Sequence[int]) -> str:
        return self._tokenizer.join([self._names[symbol - self.spec.first] for symbol in ids])


class Bleu(_CorpusScore):
    """BLEU of a corpus (Papineni et al. 2002): n-grams up to four that a reference has as well.

    Args:
        spec: see the base class.
        tokenizer: joins symbols to the strings that are scored.
        tokenize: sacrebleu's name of what splits those strings again, see its ``--tokenize``.
        lowercase: whether capitals count as small letters.

    Raises:
        ValueError: sacrebleu has no such way to split.
    """

    def __init__(
        self, spec: TargetSpec, *, tokenizer: Joiner, tokenize: str, lowercase: bool
    ) -> None:
        from sacrebleu.metrics.bleu import BLEU

        if tokenize not in BLEU.TOKENIZERS:
            raise ValueError(
                f"tokenize of BLEU is {tokenize!r}; sacrebleu has {', '.join(BLEU.TOKENIZERS)}"
            )
        scorer = BLEU(tokenize=tokenize, lowercase=lowercase)
        self._orders = scorer.max_ngram_order
        super().__init__(spec, tokenizer, scorer)

    @property
    def size(self) -> int:
        """Both lengths; right and predicted n-grams of each order; and the references."""
        return 2 + 2 * self._orders + _COUNTS

    def _score(self, counted: Tensor) -> Tensor:
        found, accepted = counted[:, 0], counted[:, 1]
        right, there = counted[:, 2:].chunk(2, dim=1)  # [sums, orders]
        # A prediction without any symbol is infinitely too short.
        brevity = torch.where(found < accepted, (1 - accepted / found).exp(), 1.0)
        # Orders without a right n-gram count as a half, a quarter, ... of one: what sacrebleu calls
        # exp, smoothing of the script mteval-v13a.
        none = right == 0
        counts = torch.where(none, 0.5 ** none.cumsum(dim=1), right)
        scores = 100 * brevity * (counts / there).log().mean(dim=1).exp()
        return torch.where((right > 0).any(dim=1) & (there > 0).all(dim=1), scores, 0.0)


class Chrf(_CorpusScore):
    """chrF of a corpus (Popovic 2015): F of character n-grams, and of words in chrF++.

    Of several references it takes the one that suits the row best.

    Args:
        spec: see the base class.
        tokenizer: joins symbols to the strings that are scored.
        char_order: longest n-gram of characters.
        word_order: longest n-gram of words; 0 for chrF, 2 for chrF++.
        beta: how many times as much as precision recall counts.
        lowercase: whether capitals count as small letters.
    """

    def __init__(
        self,
        spec: TargetSpec,
        *,
        tokenizer: Joiner,
        char_order: int,
        word_order: int,
        beta: int,
        lowercase: bool,
    ) -> None:
        from sacrebleu.metrics.chrf import CHRF

        if char_order < 1 or word_order < 0 or beta < 1:
            raise ValueError(
                f"char_order, word_order and beta of chrF are {char_order}, {word_order} and "
                f"{beta}; they must be at least 1, 0 and 1"
            )
        self._orders, self._beta = char_order + word_order, beta
        super().__init__(
            spec,
            tokenizer,
            CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase),
        )

    @property
    def size(self) -> int:
        """Predicted, gold and common n-grams of each order; and the references."""
        return 3 * self._orders + _COUNTS

    def _score(self, counted: Tensor) -> Tensor:
        found, gold, common = counted.reshape(-1, self._orders, 3).unbind(dim=2)
        both = (found > 0) & (gold > 0)  # orders that one of the two is too short for do not count
        orders = both.sum(dim=1).clamp(min=1)
        precision = torch.where(both, common / found, 0.0).sum(dim=1) / orders
        recall = torch.where(both, common / gold, 0.0).sum(dim=1) / orders
        weight = self._beta**2
        scores = 100 * (1 + weight) * precision * recall / (weight * precision + recall)
        return torch.where(precision + recall > 0, scores, 0.0)
