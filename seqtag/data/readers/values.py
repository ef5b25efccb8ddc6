"""How labels and numbers are spelled in files."""

from __future__ import annotations

import math
from typing import Any

from seqtag.batch import Output

NUMBER_FORMAT = ".7g"
"""All the digits that 32-bit numbers have."""


def spell(value: str | int | float) -> str:
    """The text of one label or number."""
    return format(value, NUMBER_FORMAT) if isinstance(value, float) else str(value)


def spell_probability(value: Any, probabilities: dict[str, float]) -> str:
    """The probability of the label that was chosen."""
    return format(probabilities[value], NUMBER_FORMAT)


def spell_probabilities(output: Output) -> str:
    """The probabilities of the labels that were chosen, with blanks between; "" for no label."""
    if not isinstance(output.value, list):
        return "" if output.value is None else spell_probability(output.value, output.probabilities)
    chances = output.probabilities
    # Several labels of one sequence share one mapping.
    shares = [chances] * len(output.value) if isinstance(chances, dict) else chances
    pairs = zip(output.value, shares, strict=True)
    return " ".join(spell_probability(value, chances) for value, chances in pairs)


def parse_number(text: str) -> float:
    """The finite number that ``text`` spells.

    Raises:
        ValueError: it spells none; the message holds the text, and no place.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # float() takes "1_000" as a thousand; here "_" is more likely a cell without a value.
    if not math.isfinite(number) or "_" in text:
        raise ValueError(f"{text!r} is not a finite number")
    return number
