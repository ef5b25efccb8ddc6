"""How labels spell spans: ``B-LOC I-LOC O`` and its relatives.

A label of a span scheme is ``O`` (outside of all spans), or one letter that says where in a span
the element lies, alone or followed by ``-`` and the type of the span. Any other label, ``NAME``
say, is spelled in no scheme and never taken apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

OUTSIDE = "O"
"""The label of an element that is in no span."""

UNTYPED = "_"
"""Type of a span whose labels are bare letters, as seqeval has it."""

_DELIMITER = "-"
_POSITIONS = "BIESLU"


def position_and_type(label: str) -> tuple[str, str] | None:
    """The letter and the type of a label, or None where it is spelled in no scheme."""
    if label == OUTSIDE:
        return OUTSIDE, ""
    letter, delimiter, kind = label.partition(_DELIMITER)
    if len(letter) != 1 or letter not in _POSITIONS or (delimiter and not kind):
        return None
    return letter, kind or UNTYPED


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """What a scheme allows, from one element to the next.

    Attributes:
        letters: those that the scheme knows besides ``O``.
        before: for letters that stand only behind an element of the same span (IOB1: of the same
            type), the letters that this element may have.
        after: the same for letters that stand only in front of such an element.
        stand_in: for letters of other schemes, the nearest letter of this one. A split may hold
            labels which training lacks, and those are spans all the same.
        spelling: letters of the first, an inner, the last, and the only element of a span. A first
            one that ``before`` binds to a span just behind it is spelled only there, else as an
            inner one is; a last or only one that ``after`` binds, likewise.
    """

    letters: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    stand_in: Mapping[str, str]
    spelling: str

    def allows(self, previous: str, label: str) -> bool:
        """Whether ``label`` may follow ``previous``; a label of another spelling never may."""
        here = position_and_type(label)
        there = position_and_type(previous) or (OUTSIDE, "")
        if here is None or here[0] not in OUTSIDE + self.letters:
            return False
        same_type = here[1] == there[1]
        behind, ahead = self.before.get(here[0]), self.after.get(there[0])
        return (behind is None or (same_type and there[0] in behind)) and (
            ahead is None or (same_type and here[0] in ahead)
        )

    def respell(self, label: str) -> str:
        """The label in this scheme's letters; ``O`` for a label that is spelled in no scheme."""
        parts = position_and_type(label)
        if parts is None:
            return OUTSIDE
        return self.stand_in.get(parts[0], parts[0]) + label[1:]


# In order of preference between schemes that fit equally well.
SCHEMES: Mapping[str, Scheme] = {
    "IOB2": Scheme(
        letters="BI",
        before={"I": "BI"},
        after={},
        stand_in={"E": "I", "L": "I", "S": "B", "U": "B"},
        spelling="BIIB",
    ),
    "IOB1": Scheme(
        letters="BI",
        before={"B": "BI"},
        after={},
        stand_in={"E": "I", "L": "I", "S": "I", "U": "I"},
        spelling="BIIB",
    ),
    "IOBES": Scheme(
        letters="BIES",
        before={"I": "BI", "E": "BI"},
        after={"B": "IE", "I": "IE"},
        stand_in={"L": "E", "U": "S"},
        spelling="BIES",
    ),
    "BILOU": Scheme(
        letters="BILU",
        before={"I": "BI", "L": "BI"},
        after={"B": "IL", "I": "IL"},
        stand_in={"E": "L", "S": "U"},
        spelling="BILU",
    ),
    "IOE2": Scheme(
        letters="IE",
        before={},
        after={"I": "IE"},
        stand_in={"B": "I", "L": "E", "S": "E", "U": "E"},
        spelling="IIEE",
    ),
    "IOE1": Scheme(
        letters="IE",
        before={},
        after={"E": "IE"},
        stand_in={"B": "I", "L": "I", "S": "I", "U": "I"},
        spelling="IIEE",
    ),
}
"""By the names that seqeval has for them."""

COMMON_NAMES: Mapping[str, str] = {
    "IOB1": "IOB1",
    "IOB2": "IOB2",
    "BIO": "IOB2",
    "IOBES": "IOBES",
    "BIOES": "IOBES",
    "BILOU": "BILOU",
    "BILUO": "BILOU",
    "IOE1": "IOE1",
    "IOE2": "IOE2",
}
"""What people call the schemes, to the names in ``SCHEMES``."""


def named_scheme(given: Any, *, key: str) -> str:
    """The scheme that a user names, in capitals or not, as ``SCHEMES`` spells it.

    Args:
        given: the value of the setting.
        key: name of the setting, for the message.

    Raises:
        ValueError: no scheme has that name.
    """
    found = COMMON_NAMES.get(given.upper()) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"{key} is {given!r}; it must be null or one of {', '.join(COMMON_NAMES)}")
    return found


def invalid_transitions(
    label_sequences: Iterable[Sequence[str | None]], scheme: str
) -> Counter[tuple[str, str]]:
    """How often labels follow each other that may not, by the pair; ``.total()`` is the count.

    Args:
        label_sequences: the labels of each row. Missing ones (None) are passed over, as in the
            span scores. Beyond both ends of a row there is an ``O``.
        scheme: name of the scheme.
    """
    return broken(_transitions(label_sequences), SCHEMES[scheme])


def broken(transitions: Counter[tuple[str, str]], scheme: Scheme) -> Counter[tuple[str, str]]:
    """Those transitions that the scheme does not allow."""
    return Counter({pair: count for pair, count in transitions.items() if not scheme.allows(*pair)})


def fitting_scheme(transitions: Counter[tuple[str, str]], seen: Collection[str]) -> str | None:
    """The scheme that the labels break least often, or None: they are no spans.

    Args:
        transitions: of the whole split, between labels that are all spelled in a scheme.
        seen: the labels.
    """
    if set(seen) <= {OUTSIDE}:
        return None
    violations = {name: broken(transitions, scheme).total() for name, scheme in SCHEMES.items()}
    best = min(violations, key=violations.__getitem__)
    if all(len(label) == 1 for label in seen):
        inside = sum(count for (_, label), count in transitions.items() if label != OUTSIDE)
        if not ("B" in seen or {"I", OUTSIDE} <= set(seen)) or 10 * violations[best] > inside:
            return None
    return best


def row_transitions(labels: Sequence[str | None]) -> Iterable[tuple[str, str]]:
    """Each label of a row with the one before it, and the outside at both ends."""
    present = [label for label in labels if label is not None]
    return pairwise([OUTSIDE, *present, OUTSIDE])


def _transitions(label_sequences: Iterable[Sequence[str | None]]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for labels in label_sequences:
        counts.update(row_transitions(labels))
    return counts
