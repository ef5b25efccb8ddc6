"""How a string becomes the elements of a sequence, and how elements become a string again."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

BETWEEN_WORDS = " \t\r\n"
"""What separates words. ``str.split()`` would also split at NBSP, NEL and U+2028, which occur
inside words of real corpora."""

WORD = re.compile(f"[^{BETWEEN_WORDS}]+")

# The pattern of Schwaller et al. 2019 (Molecular Transformer), and last any other character, so
# that a string outside the pattern loses nothing.
SMILES = re.compile(
    r"\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$"
    r"|%[0-9]{2}|[0-9]|.",
    re.DOTALL,
)


class Tokenizer(ABC):
    """Splits a string into elements; loses no character that is not a separator."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The elements of ``text``, in order; an empty list for an empty text."""

    @abstractmethod
    def join(self, tokens: list[str]) -> str:
        """The string whose elements these are."""


class Whitespace(Tokenizer):
    """Words between blanks, tabs and line ends; every other character is part of a word."""

    def split(self, text: str) -> list[str]:
        """The words of ``text``."""
        return WORD.findall(text)

    def join(self, tokens: list[str]) -> str:
        """The words with one blank between them."""
        return " ".join(tokens)


class Characters(Tokenizer):
    """One element per Unicode code point, so a combining mark or a joiner is its own element."""

    def split(self, text: str) -> list[str]:
        """The code points of ``text``, blanks included."""
        return list(text)

    def join(self, tokens: list[str]) -> str:
        """The code points in a row."""
        return "".join(tokens)


class Smiles(Tokenizer):
    """Atoms, bonds and ring numbers of a molecule written as SMILES.

    The pattern is that of Schwaller et al. 2019, "Molecular Transformer: a model for
    uncertainty-calibrated chemical reaction prediction"; a character outside it is an element.
    """

    def split(self, text: str) -> list[str]:
        """The symbols of ``text``: ``Cl``, ``[nH]`` or ``%12`` are one each."""
        return SMILES.findall(text)

    def join(self, tokens: list[str]) -> str:
        """The symbols in a row."""
        return "".join(tokens)
