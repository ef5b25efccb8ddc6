"""Installed fonts that together hold the characters of a text."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable
from functools import cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

# Else it says of each family looked at which weights that has not.
logging.getLogger(font_manager.__name__).setLevel(logging.ERROR)

FIRST = "DejaVu Sans"
"""It comes with matplotlib, and serves where it has the characters."""

PLACEHOLDERS = "Last Resort"
"""Begins the name of fonts that hold a frame with a number for every character there is."""

DEBIAN = {
    ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "FULLWIDTH", "IDEOGRAPHIC"): (
        "fonts-noto-cjk"
    ),
    (): "fonts-noto-core",
}
"""Beginnings of the names of characters, and the package of Debian whose font has those."""


def choose_families(text: Iterable[str]) -> tuple[list[str], set[str]]:
    """Families for a text, in the order in which they are to be asked for a character.

    Args:
        text: characters, in any order.

    Returns:
        The families, and the characters that no installed font has.
    """
    missing = {character for character in text if _needs_glyph(character)}
    chosen: list[str] = []
    for family in (FIRST, *_covering(missing - _held(FIRST, missing))):
        chosen.append(family)
        missing -= _held(family, missing)
    return chosen, missing


def packages(characters: Iterable[str]) -> list[str]:
    """Packages of Debian, by name, that have fonts for these characters."""
    return sorted(
        {
            next(
                package
                for beginnings, package in DEBIAN.items()
                if not beginnings or unicodedata.name(character, "").startswith(beginnings)
            )
            for character in characters
        }
    )


def _covering(missing: set[str]) -> list[str]:
    """Families beside the first, each of which has most of what those before it lack."""
    chosen: list[str] = []
    looked_again = False
    while missing:
        held = {family: len(_held(family, missing)) for family in _families()}
        best = max(held, key=lambda family: (held[family], "Sans" in family), default=None)
        if best is not None and held[best]:
            chosen.append(best)
            missing = missing - _held(best, missing)
        elif looked_again or not _look_for_new_fonts():
            break
        else:
            looked_again = True
    return chosen


def _families() -> list[str]:
    upright = {font.name for font in font_manager.fontManager.ttflist if font.style == "normal"}
    return sorted(name for name in upright if not name.startswith(PLACEHOLDERS))


def _held(family: str, characters: set[str]) -> set[str]:
    """Those of the characters that the upright, regular font of a family has."""
    font = _font(family)
    if font is None:
        return set()
    return {character for character in characters if font.get_char_index(ord(character))}


@cache
def _font(family: str) -> FT2Font | None:
    """The font that matplotlib takes for a family; None where it cannot draw with it."""
    try:
        properties = font_manager.FontProperties(family=[family])
        path = font_manager.findfont(properties, fallback_to_default=False)
        font = font_manager.get_font(path)
    except (ValueError, OSError, RuntimeError):  # gone, or of a kind that FreeType does not read
        return None
    return font if font.scalable else None


def _look_for_new_fonts() -> bool:
    """Add fonts that were installed after matplotlib wrote its list; whether there are any."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    found = False
    for path in sorted(set(font_manager.findSystemFonts()) - known):
        try:
            font_manager.fontManager.addfont(path)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            logging.getLogger(__name__).debug("%s: %s", path, error)
        else:
            found = True
    if found:
        _font.cache_clear()
    return found


def _needs_glyph(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cf"} and character not in "\ufe0e\ufe0f"
