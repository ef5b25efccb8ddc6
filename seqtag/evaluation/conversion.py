"""Spans respelled: from one scheme's labels to another's, and their probabilities with them.

One reading serves every scheme, since a letter means the same wherever it stands: B, S and U begin
a span, E, L, S and U end one, and I says neither. A span also begins behind an O, where the type
changes, and behind an end; it ends where no element of it follows. Of labels that break nothing
these are the spans that their scheme means, so that conversion there and back changes nothing. Of
broken ones they are the spans that the conlleval script reads, and conversion repairs them:

- an I, E or L with nothing of its span before it begins one (``O I-X O`` in IOB2 is ``O B-X O``);
- a change of type begins one (``B-X I-Y`` is two spans);
- a span without its end goes as far as its type does (``B-X I-X O`` in IOBES is ``B-X E-X O``);
- a letter of another scheme keeps its meaning (``S-X`` among IOB2 is a span of one element).

No element leaves or enters a span, or changes its type. Missing labels (None) stay missing and
are passed over, as in the span scores: what is before and behind them touches, so that
``B-X None I-X`` is one span, ``B-X None E-X`` in IOBES. A label that is spelled in no scheme
(``NAME``, ``M-x``) stays as it is, and is outside of all spans. Bare letters (``B I O``) give bare
letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from seqtag.evaluation.schemes import OUTSIDE, SCHEMES, position_and_type

_BEGINS, _ENDS = "BSU", "ELSU"
_CACHED_PLACES = 2**16


def convert(labels: Sequence[str | None], source: str, target: str) -> list[str | None]:
    """The labels of a row with their spans spelled as another scheme has it.

    Args:
        labels: of the row; None for missing ones.
        source: name of the scheme that the labels follow, see ``SCHEMES``.
        target: name of the scheme wanted. The source itself changes nothing, not even what
            breaks it.
    """
    if SCHEMES[source] is SCHEMES[target]:
        return list(labels)
    return respell(labels, target)


def respell(labels: Sequence[str | None], scheme: str) -> list[str | None]:
    """The labels of a row with their spans spelled in a scheme, so that nothing breaks it.

    Args:
        labels: of the row, in any scheme; None for missing ones.
        scheme: name of the scheme wanted.
    """
    spelled: Iterator[str] = (
        _respelled(behind, label, ahead, scheme) for behind, label, ahead in _neighbours(labels)
    )
    return [None if label is None else next(spelled) for label in labels]


def respell_probabilities(
    labels: Sequence[str],
    shares: Iterable[Sequence[float]],
    names: Sequence[str],
    scheme: str,
) -> list[dict[str, float]]:
    """Probabilities of a row's respelled labels, from those of the labels that a model knows.

    How a label is respelled depends on its neighbours, so a model has no probability of its own
    for the new one. What is given is the sum over all labels that would be spelled so between the
    neighbours that were predicted: of ``B-X`` in IOB2, those of ``B-X`` and ``S-X`` in IOBES. It is
    exact where the model's labels say more than the new ones, and never below the probability of
    the label that was chosen. Labels that cannot stand between those neighbours are left out; the
    rest add up to one.

    Args:
        labels: predicted, in the model's scheme.
        shares: for each of them, the probability of every label in ``names``.
        names: the labels of the model.
        scheme: name of the scheme wanted.
    """
    names = tuple(names)
    respelled = []
    for (behind, _, ahead), elements in zip(_neighbours(labels), shares, strict=True):
        sums: dict[str, float] = {}
        for name, share in zip(names, elements, strict=True):
            new = _respelled(behind, name, ahead, scheme)
            sums[new] = sums.get(new, 0.0) + share
        respelled.append(sums)
    return respelled


def count_repairs(label_sequences: Iterable[Sequence[str | None]], scheme: str) -> tuple[int, int]:
    """Rows and elements that conversion to another scheme and back would change.

    Args:
        label_sequences: the labels of each row.
        scheme: name of the scheme that they follow.
    """
    rows = elements = 0
    for labels in label_sequences:
        pairs = zip(labels, respell(labels, scheme), strict=True)
        changed = sum(before != after for before, after in pairs)
        rows, elements = rows + (changed > 0), elements + changed
    return rows, elements


def _neighbours(labels: Sequence[str | None]) -> Iterable[tuple[str, str, str]]:
    """Each label that is there between those beside it, with an O beyond both ends of the row."""
    present = [OUTSIDE, *(label for label in labels if label is not None), OUTSIDE]
    return zip(present, present[1:], present[2:], strict=False)


@lru_cache(maxsize=_CACHED_PLACES)
def _respelled(behind: str, label: str, ahead: str, scheme: str) -> str:
    """One label in another scheme; no scheme looks further than to the labels beside it."""
    parts = position_and_type(label)
    if parts is None or label == OUTSIDE:
        return label
    rules = SCHEMES[scheme]
    first, inner, last, only = tuple(rules.spelling)
    begins, ends = _begins(behind, label), _begins(label, ahead)
    letter = (only if ends else first) if begins else (last if ends else inner)
    # B in IOB1 and E in IOE1 only keep apart what touches.
    bound_behind = begins and letter in rules.before and not _same_type(behind, label)
    bound_ahead = ends and letter in rules.after and not _same_type(label, ahead)
    return (inner if bound_behind or bound_ahead else letter) + label[1:]


def _begins(behind: str, label: str) -> bool:
    """Whether a label is not of the same span as the one before."""
    return not _same_type(behind, label) or label[0] in _BEGINS or behind[0] in _ENDS


def _same_type(one: str, other: str) -> bool:
    """Whether two labels, one of which is in a span, are both in spans of one type."""
    parts, others = position_and_type(one), position_and_type(other)
    return parts is not None and others is not None and parts[1] == others[1]
