"""How a token is written beside a picture, whatever characters it holds."""

from __future__ import annotations

import unicodedata

LONGEST_LABEL = 24
"""Columns of a label, as on a terminal; a longer one is cut."""

SHAPING = frozenset("\u200c\u200d")
"""Characters that are not seen but join or part their neighbours, in Persian and in emoji."""

INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
"""Categories of Unicode that show nothing, or turn the direction of what follows."""

ACTIVE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Those that move a cursor, turn a direction, end a line, or have no UTF-8."""

MARKS = frozenset({"Mn", "Mc", "Me"})
BLANK, CUT, DOTTED_CIRCLE = "\N{OPEN BOX}", "\N{HORIZONTAL ELLIPSIS}", "\N{DOTTED CIRCLE}"


def legible(token: str) -> str:
    """The token as a label: nothing invisible, nothing that acts on the text around it, not long.

    Blanks become ``␣``, what shows nothing its escape (``\\n``, ``\\u200b``), and a mark that
    stands on nothing is put on a dotted circle, as Unicode does.
    """
    if not token:
        return '""'
    shown = "".join(map(_visible, token))
    if unicodedata.category(shown[0]) in MARKS:
        shown = DOTTED_CIRCLE + shown
    if columns(shown) <= LONGEST_LABEL:
        return shown
    kept, used = [], 0
    for cluster in clusters(shown):
        used += columns(cluster)
        if used >= LONGEST_LABEL:
            break
        kept.append(cluster)
    return "".join(kept) + CUT


def columns(text: str) -> int:
    """How many columns a text takes on a terminal: two for each wide character, none for marks."""
    return sum(
        0 if _joins(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def clusters(text: str) -> list[str]:
    """The text cut into characters as a reader counts them, each with its marks."""
    found: list[str] = []
    joined = False
    for character in text:
        if found and (joined or _joins(character)):
            found[-1] += character
        else:
            found.append(character)
        joined = character == "\u200d"
    return found


def stacked(text: str) -> str | None:
    """A text that may be written from top to bottom, so: wide characters, or a single one.

    Returns:
        A character a line; None for texts whose letters make words only side by side.
    """
    parts = clusters(text)
    wide = all(part == CUT or columns(part) > 1 for part in parts)
    return "\n".join(parts) if wide or len(parts) == 1 else None


def _visible(character: str) -> str:
    if character == " ":
        return BLANK
    if unicodedata.category(character) not in INVISIBLE or character in SHAPING:
        return character
    return character.encode("unicode_escape").decode("ascii")


def _joins(character: str) -> bool:
    return unicodedata.category(character) in MARKS or character in SHAPING


def plain(text: str) -> str:
    """The text with every active character as its escape, ``\\n`` or ``\\u202e``."""
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in ACTIVE and char not in SHAPING
        else char
        for char in text
    )
