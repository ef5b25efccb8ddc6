"""Characters of names and inputs that would do something where they are to be read."""

from __future__ import annotations

import re
import unicodedata

from seqtag.report.lettering import SHAPING

ACTIVE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode that move a cursor, turn a direction, end a line, or have no UTF-8."""

MARKDOWN = re.compile(r"[\\`*\[\]<>|#~$&]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
"""What Markdown, or GitHub's, may take for more than itself; ``macro_f1`` is safe as it is."""


def plain(text: str) -> str:
    """The text with every active character as its escape, ``\\n`` or ``\\u202e``."""
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in ACTIVE and char not in SHAPING
        else char
        for char in text
    )


def markdown(text: str) -> str:
    """The text for a line or a cell of Markdown, where it reads as it is."""
    return MARKDOWN.sub(r"\\\g<0>", plain(text))


def counted(count: int, word: str) -> str:
    """``1 row``, ``2,077 rows``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
