"""How the numbers of a comparison are rounded for people; files keep all digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

NONE = "-"
"""Stands where there is no number."""

OF_HUNDRED = frozenset({"bleu", "chrf"})
"""Scores from 0 to 100."""

MINUTE, HOUR = 60, 3600


def defined(value: float | None) -> bool:
    """Whether there is a number."""
    return value is not None and math.isfinite(value)


def decimals(metric: str, values: Iterable[float | None]) -> int:
    """Decimals for all values of a metric in a table.

    Four for fractions of 1, two for scores of 100; four significant digits of the largest for
    what has a unit.
    """
    if metric in OF_HUNDRED:
        return 2
    largest = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    if largest == 0 or 0.01 <= largest <= 1:
        return 4
    # Far from 1, so many that nobody reads them: then a power of ten would be better, and is rare.
    return min(max(3 - math.floor(math.log10(largest)), 0), 12)


def spell_number(value: float | None, places: int) -> str:
    """With so many decimals."""
    return f"{value:,.{places}f}" if value is not None and math.isfinite(value) else NONE


def spell_interval(low: float | None, high: float | None, places: int) -> str:
    """``[0.8123, 0.8456]``."""
    if not defined(low) or not defined(high):
        return NONE
    return f"[{spell_number(low, places)}, {spell_number(high, places)}]"


def spell_p(p: float | None) -> str:
    """A probability with as many digits as say something."""
    if p is None or not math.isfinite(p):
        return NONE
    if p < 0.0001:
        return "<0.0001"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def spell_seconds(seconds: float | None) -> str:
    """A duration in the units that suit it."""
    if seconds is None or not math.isfinite(seconds):
        return NONE
    if seconds < 99.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    minutes = round(seconds / MINUTE)
    return f"{minutes // 60} h {minutes % 60} min"


def spell_count(count: float | None) -> str:
    """A count, or a rate that need not be known better than to three digits."""
    if count is None or not math.isfinite(count):
        return NONE
    if isinstance(count, int):
        return f"{count:,}"
    rounded = round(count, 2 - math.floor(math.log10(abs(count)))) if count else 0.0
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def spell_range(numbers: Sequence[int]) -> str:
    """``4``, or ``3-7``."""
    if not numbers:
        return NONE
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"
