"""How a string becomes the elements of a sequence, and how elements become a string again."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Tokenizer(ABC):
    """Splits a string into elements; loses no character that is not a separator."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The elements of ``text``, in order; an empty list for an empty text."""

    @abstractmethod
    def join(self, tokens: list[str]) -> str:
        """The string whose elements these are."""
