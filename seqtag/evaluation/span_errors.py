"""What is wrong with predicted spans: which kind of error each one is, and each gold one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from seqtag.evaluation.spans import Span

FOUND, WRONG_TYPE, WRONG_BOUNDARY, BOTH = "found", "wrong_type", "wrong_boundary", "both"
MISSED, SPURIOUS = "missed", "spurious"

PAIRED = (FOUND, WRONG_TYPE, WRONG_BOUNDARY, BOTH)
"""Kinds of a gold span and a predicted span together."""

RULE = (
    "each gold and each predicted span counts once: pairs are found (same type and extent), then "
    "wrong_type (same extent), then wrong_boundary (same type, overlapping), then both "
    "(overlapping), where spans with more elements in common are paired first, then those further "
    "left; what is left over is missed (gold) or spurious (predicted)"
)
"""How spans are paired, in words."""


@dataclass
class SpanErrors:
    """How often each kind occurs, by the types of the spans.

    The kinds of a pair are those of gold and of prediction alike, so that for the whole split
    gold = found + wrong_type + wrong_boundary + both + missed, and
    predicted = found + wrong_type + wrong_boundary + both + spurious.

    Attributes:
        gold: by kind and gold type, paired spans and missed ones.
        predicted: by kind and predicted type, paired spans and spurious ones.
    """

    gold: Counter[tuple[str, str]] = field(default_factory=Counter)
    predicted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def update(self, pairs: Iterable[tuple[set[Span], set[Span]]]) -> None:
        """Count the predicted and gold spans of rows."""
        for predicted, gold in pairs:
            for kind, wanted, found in classify(predicted, gold):
                if wanted is not None:
                    self.gold[kind, wanted[0]] += 1
                if found is not None:
                    self.predicted[kind, found[0]] += 1

    def types(self) -> list[str]:
        """The types of all spans that were counted, by name."""
        return sorted({kind[1] for kind in (*self.gold, *self.predicted)})

    def of_gold(self, kind: str, name: str | None = None) -> int:
        """Gold spans of a kind, of one type or of all."""
        return _sum(self.gold, kind, name)

    def of_predicted(self, kind: str, name: str | None = None) -> int:
        """Predicted spans of a kind, of one type or of all."""
        return _sum(self.predicted, kind, name)


def _sum(counts: Counter[tuple[str, str]], kind: str, name: str | None) -> int:
    if name is not None:
        return counts[kind, name]
    return sum(count for (one, _), count in counts.items() if one == kind)


def classify(predicted: set[Span], gold: set[Span]) -> list[tuple[str, Span | None, Span | None]]:
    """Kind, gold span and predicted span of every span of a row; see ``RULE``.

    Args:
        predicted: type, first element and element behind the last of each span; they may overlap.
        gold: the same.
    """
    both = predicted & gold
    found: list[tuple[str, Span | None, Span | None]] = [
        (FOUND, span, span) for span in sorted(both)
    ]
    wanted, given = gold - both, predicted - both
    rules: tuple[tuple[str, Callable[[Span, Span], bool]], ...] = (
        (WRONG_TYPE, lambda one, other: one[1:] == other[1:]),
        (WRONG_BOUNDARY, lambda one, other: one[0] == other[0]),
        (BOTH, lambda one, other: True),
    )
    if wanted and given:
        for kind, suits in rules:
            candidates = [
                (-_common(one, other), one[1:], other[1:], one, other)
                for one in wanted
                for other in given
                if _common(one, other) > 0 and suits(one, other)
            ]
            for _, _, _, one, other in sorted(candidates):
                if one in wanted and other in given:
                    found.append((kind, one, other))
                    wanted.discard(one)
                    given.discard(other)
    found += [(MISSED, span, None) for span in sorted(wanted)]
    return found + [(SPURIOUS, None, span) for span in sorted(given)]


def _common(one: Span, other: Span) -> int:
    """Elements that lie in both; negative where they are apart."""
    return min(one[2], other[2]) - max(one[1], other[1])
