"""Where the columns of a file without a header stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from seqtag.data.readers.blocks import Block
from seqtag.data.readers.columns import Table
from seqtag.data.readers.lines import Line
from seqtag.data.readers.separators import Separator

COMMENT_LIKE = re.compile(r"#[ \t]*[\w.:-]+[ \t]*=")


class Layout:
    """The separator and the columns of a file, found in the first line that has them all.

    Args:
        separator_of: told a line, says what stands between its cells.
        table_of: told the number of a line and how many cells it has, says where the columns
            stand; raises ValueError where it lacks one.
    """

    def __init__(
        self, separator_of: Callable[[str], Separator], table_of: Callable[[int, int], Table]
    ) -> None:
        self._separator_of, self._table_of = separator_of, table_of
        self._found: tuple[Separator, Table] | None = None
        self._refused: set[int] = set()

    def seek(self, block: Block) -> tuple[Separator, Table] | None:
        """What was found, or is in the first line of a sentence that is hardly a comment.

        A comment would else say how many columns there are, and every other line be faulty.
        """
        if self._found is None:
            lines = (line for line in block.lines if not COMMENT_LIKE.match(line.text))
            line = next(lines, None)
            if line is not None and line.readable:
                with suppress(ValueError):  # told when the line's turn comes
                    self._found = self._layout(line)
        return self._found

    def find(self, line: Line) -> tuple[Separator, Table] | None:
        """What is in a line; None where as many cells were told to be too few.

        Raises:
            ValueError: the line lacks a column; the message holds no place.
        """
        # A file that lacks a column would else be told so at each of its lines.
        count = len(self._separator_of(line.text).cells(line.text))
        if count in self._refused:
            return None
        self._refused.add(count)
        self._found = self._layout(line)
        return self._found

    def _layout(self, line: Line) -> tuple[Separator, Table]:
        separator = self._separator_of(line.text)
        return separator, self._table_of(line.number, len(separator.cells(line.text)))
