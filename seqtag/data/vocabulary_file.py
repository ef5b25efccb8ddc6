"""A vocabulary that a user gives, in place of what the training split has."""

from __future__ import annotations

from collections.abc import Mapping

from seqtag.data.byte_lines import byte_lines, decode
from seqtag.data.normalization import Normalization
from seqtag.data.readers.lines import bad_line
from seqtag.data.shares import share
from seqtag.data.vocabulary import Vocabulary


def read_vocabulary(path: str, normalization: Normalization) -> Vocabulary:
    """The symbols of a file in UTF-8 with one on each line, in the order of their ids.

    A line is taken verbatim: a blank is a symbol too.

    Raises:
        ValueError: a line is empty or stands there twice, also after normalisation; the file has
            none; it cannot be read.
    """
    lines: dict[str, int] = {}
    for number, line in byte_lines(path):
        symbol = normalization(decode(path, number, line))
        if not symbol:
            raise bad_line(
                path, number, "an empty line; each line of data.vocabulary is a symbol", line
            )
        if symbol in lines:
            form = f" once it is normalised ({normalization.form})" if normalization.form else ""
            raise bad_line(path, number, f"line {lines[symbol]} has this symbol too{form}", line)
        lines[symbol] = number
    if not lines:
        raise ValueError(f"{path} (data.vocabulary) has no symbols: put one on each line")
    return Vocabulary(list(lines))


def describe_coverage(path: str, vocabulary: Vocabulary, counts: Mapping[str, int]) -> str:
    """How many of the counted symbols a vocabulary from a file has, in a line.

    Raises:
        ValueError: it has none of them.
    """
    known = {symbol: count for symbol, count in counts.items() if symbol in vocabulary}
    if counts and not known:
        example = next(iter(counts))
        raise ValueError(
            f"{path} (data.vocabulary) has none of the {len(counts):,} different elements of the "
            f"training split, such as {example!r}; its first symbol is {vocabulary.symbols[0]!r}: "
            "give one symbol a line, spelled as in the data"
        )
    elements = sum(counts.values())
    return (
        f"data.vocabulary: {len(vocabulary.symbols):,} symbols; they cover "
        f"{share(sum(known.values()), elements)} of the {elements:,} training elements, and "
        f"{share(len(known), len(counts))} of the {len(counts):,} different ones"
    )
