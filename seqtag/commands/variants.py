"""``variants={small: [encoder.dim=64], ...}`` as a user types it, which Hydra's grammar refuses."""

from __future__ import annotations

import re

from seqtag.commands.messages import UnreadableError

FORM = "variants={NAME: [key=value, ...], ...}, all of it in quotes for the shell"

NAME = re.compile(r"[^\W\d][\w.+-]*")
SPECIAL = frozenset({"true", "false", "null", "nan", "inf"})
"""Names that Hydra would take for a value."""

BRACKETS = {"[": "]", "{": "}", "(": ")"}


def read_variants(text: str) -> dict[str, list[str]]:
    """The ``key=value`` words of each variant.

    Args:
        text: in braces; of each variant, its name, a colon, and its words in brackets, or a single
            one as it is. A word ends at a comma or a bracket that stands in no brackets or quotes
            of the word's own.

    Raises:
        UnreadableError: it is of another form, or a name is given twice.
    """
    inside = _inside(text.strip(), "{")
    if inside is None:
        raise UnreadableError(f"variants={text} cannot be read; it is {FORM}")
    variants: dict[str, list[str]] = {}
    for part in _parts(inside):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        if not colon or not rest:
            raise UnreadableError(f"variants: '{part}' cannot be read; it is {FORM}")
        if not NAME.fullmatch(name) or name.lower() in SPECIAL:
            raise UnreadableError(
                f"variants: '{name}' cannot be a name; it begins with a letter, and holds letters, "
                "digits and _.+- only"
            )
        if name in variants:
            raise UnreadableError(f"variants: two of them are called {name}")
        listed = _inside(rest, "[")
        words = _parts(rest if listed is None else listed)
        for word in words:
            if "=" not in word and not word.startswith("~"):
                raise UnreadableError(f"variants: '{word}' of {name} is no key=value")
        variants[name] = words
    if not variants:
        raise UnreadableError(f"variants={text} names none; it is {FORM}")
    return variants


def _inside(text: str, opening: str) -> str | None:
    """What stands between a bracket and its partner, where these are the first and last sign."""
    if not text.startswith(opening) or not text.endswith(BRACKETS[opening]):
        return None
    return text[1:-1]


def _parts(text: str) -> list[str]:
    """The stretches between commas that stand in no brackets and no quotes, without blanks around.

    Raises:
        UnreadableError: brackets or quotes that do not match.
    """
    ends = []
    waited_for: list[str] = []
    quote = ""
    for i, sign in enumerate(text):
        if quote:
            # As in Hydra, a backslash keeps a quote from ending.
            if sign == quote and not _escaped(text, i):
                quote = ""
        elif sign in "'\"" and text[:i].rstrip()[-1:] in {"", "=", ",", ":", *BRACKETS}:
            quote = sign  # an apostrophe inside a plain value opens nothing
        elif sign in BRACKETS:
            waited_for.append(BRACKETS[sign])
        elif sign in BRACKETS.values():
            if not waited_for or waited_for.pop() != sign:
                raise UnreadableError(f"variants: a '{sign}' too many in '{text}'; it is {FORM}")
        elif sign == "," and not waited_for:
            ends.append(i)
    if quote or waited_for:
        raise UnreadableError(f"variants: no {quote or waited_for[-1]} ends '{text}'; it is {FORM}")
    starts = [0, *(end + 1 for end in ends)]
    parts = [text[a:b].strip() for a, b in zip(starts, [*ends, len(text)], strict=True)]
    if parts[-1] == "":
        parts.pop()  # nothing at all, or a comma at the end
    if "" in parts:
        raise UnreadableError(f"variants: nothing stands between two commas of '{text}'")
    return parts


def _escaped(text: str, end: int) -> bool:
    before = text[:end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
