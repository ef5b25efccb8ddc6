"""BLEU and chrF of new sequences, as sacrebleu (Post 2018) computes them.

Both are functions of sums over rows. What is summed are the statistics that sacrebleu itself takes
of a segment, so that the score is that of its ``corpus_score`` on the same strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import torch
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import Metric
from seqtag.evaluation.sequences import references

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

_COUNTS = 3
"""Rows, their references, and the squares of how many each has: these tell the signature."""


class Joiner(Protocol):
    """What makes a string of symbols."""

    def join(self, tokens: list[str]) -> str:
        """The string whose elements these are."""


class _CorpusScore(Metric):
    """A score of sacrebleu, from 0 to 100.

    Args:
        spec: see the base class.
        tokenizer: joins symbols to the strings that are scored.
        scorer: of sacrebleu.
    """

    higher_is_better: ClassVar[bool] = True

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

    def score(self, total: Tensor) -> float:
        """sacrebleu's score; NaN where nothing is present."""
        *counted, rows, _, _ = (int(number) for number in total.tolist())
        if not rows:
            return float("nan")
        return float(self._scorer._compute_score_from_stats(counted).score)

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
        self._orders = char_order + word_order
        super().__init__(
            spec,
            tokenizer,
            CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase),
        )

    @property
    def size(self) -> int:
        """Predicted, gold and common n-grams of each order; and the references."""
        return 3 * self._orders + _COUNTS
