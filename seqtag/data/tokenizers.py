"""How a string becomes the elements of a sequence, and how elements become a string again."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from typing import ClassVar

BETWEEN_WORDS = " \t\r\n"
"""What separates words. ``str.split()`` would also split at NBSP, NEL and U+2028, which occur
inside words of real corpora."""

WORD = re.compile(f"[^{BETWEEN_WORDS}]+")

# The pattern of Schwaller et al. 2019 (Molecular Transformer), and last any other character, so
# that a string outside the pattern loses nothing.
SMILES = re.compile(
    r"\[[^\[\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$"
    r"|%[0-9]{2}|[0-9]|.",
    re.DOTALL,
)


class Tokenizer(ABC):
    """Splits a string into elements; loses no character that is not a separator."""

    words: ClassVar[bool] = False
    """Whether its elements are words, so that their spelling says something of them."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The elements of ``text``, in order; an empty list for an empty text."""

    @abstractmethod
    def join(self, tokens: list[str]) -> str:
        """The string whose elements these are."""


class Whitespace(Tokenizer):
    """Words between blanks, tabs and line ends; every other character is part of a word."""

    words = True

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


class Separated(Tokenizer):
    """Elements between separators, such as ``V;PST;SG``; blanks around them are layout.

    Nothing between two separators is no element.

    Args:
        separator: what stands between two elements; more than blanks, for which there is
            ``Whitespace``.

    Raises:
        ValueError: the separator is empty, or of blanks alone.
    """

    def __init__(self, *, separator: str) -> None:
        if not separator.strip(BETWEEN_WORDS):
            raise ValueError(
                f"separator={separator!r}: give a character such as ; or |, or take the tokenizer "
                "whitespace"
            )
        self.separator = separator

    def split(self, text: str) -> list[str]:
        """The elements of ``text`` without the blanks around them."""
        parts = (part.strip(BETWEEN_WORDS) for part in text.split(self.separator))
        return [part for part in parts if part]

    def join(self, tokens: list[str]) -> str:
        """The elements with the separator between them."""
        return self.separator.join(tokens)


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


class CharacterKinds(dict[int, str]):
    """For ``str.translate``: a letter that says what each character is, found when first asked.

    ``L`` letter, ``N`` number, ``I`` ideograph, ``M`` what belongs to the character before it,
    ``Z`` the joiner of emoji, ``R`` half a flag, and itself what may join words or digits, and
    ``X`` any other.
    """

    def __missing__(self, code: int) -> str:
        self[code] = kind = self._kind(chr(code))
        return kind

    @staticmethod
    def _kind(char: str) -> str:
        category, name = unicodedata.category(char), unicodedata.name(char, "")
        if char == "\u200d":
            return "Z"
        if char in "'’-‐‑_.,:/":
            return {"’": "'", "‐": "-", "‑": "-"}.get(char, char)
        if name.startswith("REGIONAL INDICATOR"):
            return "R"
        # Marks, invisible signs such as a soft hyphen, and the skin colours of emoji.
        if category[0] == "M" or category == "Cf" or name.startswith("EMOJI MODIFIER"):
            return "M"
        if name.startswith("CJK ") and category == "Lo":
            return "I"
        return category[0] if category[0] in "LN" else "X"


KINDS = CharacterKinds()
# What follows reads the kinds, not the characters. Every element is found by what it holds alone,
# whatever stands beside it, so that an element between blanks is itself again.
LETTER, FIGURE = "L[MZ]*+", "(?:N[MZ]*+)++"
NUMBER = f"{FIGURE}(?:[.,:/]{FIGURE})*+"
RUN = f"(?:{LETTER}|{NUMBER})++"
ELEMENT = re.compile(
    rf"(?:{LETTER}\.){{2,}}+(?:{LETTER}(?![LN]))?"  # U.S. e.g. U.S.A
    rf"|{LETTER}\.{LETTER}(?![LN])"  # U.S
    rf"|{RUN}(?:['_-]{RUN})*+"  # don't, state-of-the-art, COVID-19, 3.14, 1990s
    r"|I[MZ]*+|RR|[MZ]++"
    r"|[^LNIMZ](?:M|ZX?)*+"  # a mark; an emoji with all that is joined to it
)
ADDRESS = re.compile(
    r"(?<!\w)\w[\w.+-]{0,63}+@\w[\w-]*+(?:\.\w[\w-]*+)++"
    r"|(?:(?:https?|ftp)://|www\.)[^\s<>\"]*[^\s<>\".,:;!?'’”»)\]}…]",
    re.IGNORECASE,
)

NO_BLANK_BEFORE = frozenset(".,:;!?%…)]}’”»/。，、！？：；）」』】》")
NO_BLANK_AFTER = frozenset("([{‘“«/$£€¥#@¿¡（「『【《")
UNDIRECTED = frozenset("\"'")
BESIDE_WIDE = frozenset("“”‘’—…")  # marks that Chinese shares with English
# Ideographs, kana, and the marks that go with them, wide letters included.
UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


class Words(Tokenizer):
    """Words, numbers and marks of plain text, by rules that know no language's vocabulary.

    - A word is a run of letters and digits, with single apostrophes, hyphens or underscores inside:
      ``don't``, ``O'Neill's``, ``e-mail``, ``state-of-the-art``, ``COVID-19`` and ``1990s`` are one
      element each. At a word's edge they are elements of their own: ``dogs '``, ``' tis``.
    - A number may hold ``. , : /`` between digits: ``3.14``, ``1,000``, ``12:30``, ``1/2``. Signs
      and units stand apart: ``- 5``, ``$ 5``, ``5 %``.
    - Single letters with dots are one element, dots included: ``U.S.``, ``e.g.``. Other dots are
      not part of a word: ``Mr .``, ``etc .``, ``example . com``.
    - A web address that begins with ``http://``, ``https://``, ``ftp://`` or ``www.`` and an e-mail
      address are one element, without the marks that follow.
    - Every other character is its own element: ``. . .``, and blanks other than ``BETWEEN_WORDS``.
    - Combining marks, joiners and variation selectors stay with what they follow, an emoji with its
      skin colour and all that is joined to it; a flag is one element.
    - A Chinese character is its own element. Other scripts without blanks are cut only there and
      at marks: a run of kana, of Thai, of Khmer is one element, which for the latter is a whole
      sentence; take ``Characters`` for those.
    """

    words = True

    def split(self, text: str) -> list[str]:
        """The elements of ``text``; together they hold all of it but ``BETWEEN_WORDS``."""
        tokens: list[str] = []
        for chunk in WORD.findall(text):
            start = 0
            # The test spares text without addresses a search at every letter.
            for address in ADDRESS.finditer(chunk) if re.search(r"[@:]|www", chunk, re.I) else ():
                tokens += _elements(chunk[start : address.start()])
                tokens.append(address[0])
                start = address.end()
            tokens += _elements(chunk[start:])
        return tokens

    def join(self, tokens: list[str]) -> str:
        """Text to read, which splits into the same elements again if they came from ``split``.

        No blank stands before ``. , : ; ! ? %``, inside brackets and quotes, or between Chinese
        characters. Of the straight quotes every other one is taken to open. Where elements would
        grow together (``1`` and ``/`` and ``2``), blanks keep them apart all the same.
        """
        pieces: list[list[str]] = []
        opened: set[str] = set()
        for token in tokens:
            if pieces and _touch(pieces[-1][-1], token, opened):
                pieces[-1].append(token)
            else:
                pieces.append([token])
            if token in UNDIRECTED:
                opened ^= {token}
        texts: list[str] = []
        for piece in pieces:
            text = "".join(piece)
            texts += [text] if self.split(text) == piece else piece
        return " ".join(texts)


def _elements(text: str) -> list[str]:
    """The elements of a text without addresses and separators."""
    return [text[slice(*match.span())] for match in ELEMENT.finditer(text.translate(KINDS))]


def _touch(left: str, right: str, opened: set[str]) -> bool:
    """Whether two elements are written without a blank; ``opened`` are the quotes that are open."""
    if right in UNDIRECTED and right in opened:
        return True
    if left in UNDIRECTED and left in opened:
        return True
    if right in NO_BLANK_BEFORE or left in NO_BLANK_AFTER or left.isspace() or right.isspace():
        return True
    if left == right != "" and KINDS[ord(left[0])] not in "LNI":  # -- and ***
        return True
    if all(token != "" and KINDS[ord(token[0])] in "LN" for token in (left, right)):
        return False
    wide = [UNSPACED.match(char) is not None for char in (left[-1:], right[:1])]
    return all(wide) or (any(wide) and (left in BESIDE_WIDE or right in BESIDE_WIDE))
