"""The verdict on two contenders in words, chance of the rows and of the seeds kept apart."""

from __future__ import annotations

from dataclasses import dataclass

from seqtag.evaluation.significance import LEVEL

_LEAST = 0.001


@dataclass(kw_only=True)
class Evidence:
    """What is known of a difference.

    Attributes:
        corrected: p over the rows, corrected for the number of pairs; NaN without a difference.
        p_seeds: p over the seeds, corrected likewise, or None.
        one_seed: whether a side that was trained on has a single seed.
    """

    corrected: float
    p_seeds: float | None
    one_seed: bool


def verdict(other: str, evidence: Evidence, *, ahead: bool) -> str:
    """What is said of a contender against another.

    Better or worse without reserve is only what is told apart from chance both over the rows and
    over the seeds.

    Args:
        other: name of the other.
        evidence: on the two.
        ahead: whether the contender that it is said of is the better one.
    """
    corrected, p_seeds = evidence.corrected, evidence.p_seeds
    if corrected != corrected:
        return f"not compared with {other}: a score is not defined"
    word, rows = "better" if ahead else "worse", say_p(corrected)
    told = corrected < LEVEL
    if p_seeds is not None:
        seeds = say_p(p_seeds)
        if told and p_seeds < LEVEL:
            return f"{word} than {other} ({rows}; over seeds {seeds})"
        if told:
            return (
                f"{word} than {other} on these rows ({rows}), not told apart over seeds ({seeds})"
            )
        if p_seeds < LEVEL:
            return (
                f"not told apart from {other} on these rows ({rows}); {word} over seeds ({seeds})"
            )
        return f"not told apart from {other} ({rows}; over seeds {seeds})"
    if not told:
        return f"not told apart from {other} ({rows})"
    if evidence.one_seed:
        return f"{word} than {other} on these rows with these models ({rows}; one seed)"
    return f"{word} than {other} ({rows}; every seed scores the same)"


def say_p(p: float) -> str:
    """``p = 0.03`` in two digits, more where two would put it on the other side of the level."""
    if p < _LEAST:
        return f"p < {_LEAST}"
    digits = 2
    while (float(text := f"{p:.{digits}g}") < LEVEL) != (p < LEVEL):
        digits += 1
    return f"p = {text}"
