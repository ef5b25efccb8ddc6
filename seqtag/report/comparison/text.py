"""Characters of names and inputs that would do something where they are to be read."""

from __future__ import annotations

import re

from seqtag.report.lettering import plain

WHOSE = (
    "An answer is that of the contender's first seed; the scores are the row's own, of both, mean "
    "over the seeds."
)
"""What must be known of the rows that one contender does better."""

MARKDOWN = re.compile(r"[\\`*\[\]<>|#~$&]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
"""What Markdown, or GitHub's, may take for more than itself; ``macro_f1`` is safe as it is."""


def markdown(text: str) -> str:
    """The text for a line or a cell of Markdown, where it reads as it is."""
    return MARKDOWN.sub(r"\\\g<0>", plain(text))


def counted(count: int, word: str) -> str:
    """``1 row``, ``2,077 rows``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
