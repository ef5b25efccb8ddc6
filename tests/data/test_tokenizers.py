from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.data.tokenizers import Characters, Smiles, Tokenizer, Whitespace

unhurried = settings(deadline=None)  # a busy machine is no failure


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t ", []),
        ("  a\tb  c ", ["a", "b", "c"]),
        ("two\nlines\r\nhere", ["two", "lines", "here"]),
        ("10\u00a0000 km", ["10\u00a0000", "km"]),
        ("a\u0085b c\u2028d", ["a\u0085b", "c\u2028d"]),
        ("form\x0cfeed \x0b", ["form\x0cfeed", "\x0b"]),
        ("नि\u200dष b", ["नि\u200dष", "b"]),
        ("\u3000 x\ufeff", ["\u3000", "x\ufeff"]),
    ],
)
def test_words_end_at_blanks_tabs_and_line_ends_only(text: str, tokens: list[str]) -> None:
    assert Whitespace().split(text) == tokens


def test_words_are_joined_by_one_blank() -> None:
    assert Whitespace().join(["a", "b", "c"]) == "a b c"


def test_a_combining_mark_and_a_joiner_are_characters_of_their_own() -> None:
    assert Characters().split("e\u0301\u200d b") == ["e", "\u0301", "\u200d", " ", "b"]


@pytest.mark.parametrize(
    ("smiles", "tokens"),
    [
        ("", []),
        ("CCl", ["C", "Cl"]),
        ("BrB", ["Br", "B"]),
        ("c1cc[nH]c1", ["c", "1", "c", "c", "[nH]", "c", "1"]),
        ("C[C@@H](N)C(=O)O", ["C", "[C@@H]", "(", "N", ")", "C", "(", "=", "O", ")", "O"]),
        ("C%12/C=C\\F", ["C", "%12", "/", "C", "=", "C", "\\", "F"]),
        ("[Na+].[Cl-]>>[Na]Cl", ["[Na+]", ".", "[Cl-]", ">", ">", "[Na]", "Cl"]),
        ("C[ Xé\n", ["C", "[", " ", "X", "é", "\n"]),
    ],
)
def test_smiles_are_cut_into_atoms_bonds_and_rings(smiles: str, tokens: list[str]) -> None:
    assert Smiles().split(smiles) == tokens


@pytest.mark.parametrize("tokenizer", [Characters(), Smiles()])
@unhurried
@given(text=st.text())
def test_nothing_is_lost_where_nothing_separates(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.split(text)
    assert tokenizer.join(tokens) == text
    assert "" not in tokens


@unhurried
@given(text=st.text())
def test_only_separators_are_lost_between_words(text: str) -> None:
    tokens = Whitespace().split(text)
    assert "".join(tokens) == text.translate(dict.fromkeys(map(ord, " \t\r\n")))
    assert Whitespace().split(Whitespace().join(tokens)) == tokens
