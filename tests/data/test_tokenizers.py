from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.data.tokenizers import Characters, Smiles, Tokenizer, Whitespace, Words

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


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \r\n\t", []),
        ("I don't, he said.", ["I", "don't", ",", "he", "said", "."]),
        ("O’Neill’s state-of-the-art e-mail", ["O’Neill’s", "state-of-the-art", "e-mail"]),
        ("the dogs' pre-", ["the", "dogs", "'", "pre", "-"]),
        ("well--known", ["well", "-", "-", "known"]),
        ("COVID-19 in the 1990s snake_case", ["COVID-19", "in", "the", "1990s", "snake_case"]),
        ("3.14 1,000.5 12:30 1/2", ["3.14", "1,000.5", "12:30", "1/2"]),
        ("-5% of $3.", ["-", "5", "%", "of", "$", "3", "."]),
        (
            "the U.S. and the U.S, e.g. J.R.R.Tolkien",
            ["the", "U.S.", "and", "the", "U.S", ",", "e.g.", "J.R.R.", "Tolkien"],
        ),
        ("Mr. X was vitamin C.It", ["Mr", ".", "X", "was", "vitamin", "C", ".", "It"]),
        ("wait... what?!", ["wait", ".", ".", ".", "what", "?", "!"]),
        ("(see https://a.org/b?c=d_(e).)", ["(", "see", "https://a.org/b?c=d_(e", ")", ".", ")"]),
        ("www.a.org, a.b+c@d-e.org.", ["www.a.org", ",", "a.b+c@d-e.org", "."]),
        ("a @b #c d@e", ["a", "@", "b", "#", "c", "d", "@", "e"]),
        (
            "e\u0301te\u0301 नि\u200dष soft\u00adhyphen",
            ["e\u0301te\u0301", "नि\u200dष", "soft\u00adhyphen"],
        ),
        ("\u0301a", ["\u0301", "a"]),
        ("so👍🏽!", ["so", "👍🏽", "!"]),
        (
            "👩\u200d👩\u200d👧❤\ufe0f1\ufe0f\u20e3",
            ["👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3"],
        ),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("我爱NLP，很好。", ["我", "爱", "NLP", "，", "很", "好", "。"]),
        ("犬が走った", ["犬", "が", "走", "った"]),
        ("10\u00a0000\u2028x", ["10", "\u00a0", "000", "\u2028", "x"]),
    ],
)
def test_plain_text_is_cut_into_words_numbers_and_marks(text: str, tokens: list[str]) -> None:
    assert Words().split(text) == tokens


@pytest.mark.parametrize(
    "text",
    [
        "I don't know, he said (in the U.S.): 3.14% of $5; yes!",
        'He said: "This is it..." and left.',
        "'Tis [not] so, and/or “never” -- ‘ever’.",
        "她说：“我爱你。”",
        "犬が走った",
        "see https://a.org/b. 10\u00a0km",
    ],
)
def test_joined_words_read_as_they_were_written(text: str) -> None:
    assert Words().join(Words().split(text)) == text


def test_a_blank_keeps_apart_what_would_grow_together() -> None:
    assert Words().split("U . S . 1 / 2") == ["U", ".", "S", ".", "1", "/", "2"]
    assert Words().join(["U", ".", "S", ".", "1", "/", "2"]) == "U. S. 1 / 2"
    assert Words().join(["です", "か", "。"]) == "です か。"
    assert Words().join(["not split", "", ""]) == "not split  "


PIECES = st.sampled_from(
    [
        *" \t\n.,:;/'’\"-_@&%$()“”…¿\u0301\u200d\ufe0f🏽👩❤🇩\u00a0\u00adaBéでス犬，1½",
        *["नि", "23", "www.", "https://", "x@y.z", "U.S."],
    ]
)


@unhurried
@given(text=st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_words_lose_only_separators_and_survive_being_joined(text: str) -> None:
    tokens = Words().split(text)
    assert "".join(tokens) == text.translate(dict.fromkeys(map(ord, " \t\r\n")))
    assert "" not in tokens
    assert Words().split(Words().join(tokens)) == tokens


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "unit", ["=", "a.b@", "a.", "1/", "http://", "\u0301", "a-", "'", "www", "です か ", "1 / "]
)
def test_long_text_takes_no_longer_than_its_length(unit: str) -> None:
    text = unit * 60_000 + "@"
    tokens = Words().split(text)
    assert Words().split(Words().join(tokens)) == tokens


def test_words_are_words() -> None:
    assert Words.words
    assert Whitespace.words
    assert not Characters.words
    assert not Smiles.words
