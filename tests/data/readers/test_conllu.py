from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import conllu, pairs, read, word, write, write_gold
from seqtag.data.tokenizers import Whitespace

SENTENCE = word(1, "a", "DET") + word(2, "b", "NOUN")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("\n\n", []),
        ("# only a comment\n\n", []),
        (SENTENCE + "\n", [(["a", "b"], ["DET", "NOUN"])]),
        (SENTENCE, [(["a", "b"], ["DET", "NOUN"])]),
        (SENTENCE.rstrip("\n"), [(["a", "b"], ["DET", "NOUN"])]),
        (SENTENCE.replace("\n", "\r\n") + "\r\n", [(["a", "b"], ["DET", "NOUN"])]),
        ("\ufeff" + SENTENCE, [(["a", "b"], ["DET", "NOUN"])]),
        (word(1, "_", "_"), [(["_"], [None])]),
        (word(1, "#", "PUNCT"), [(["#"], ["PUNCT"])]),
        (word(1, "New York"), [(["New York"], ["X"])]),
        (word(1, "10\u00a0000") + word(2, "\u200d"), [(["10\u00a0000", "\u200d"], ["X", "X"])]),
        (word(1, "x\u2028y\u0085z"), [(["x\u2028y\u0085z"], ["X"])]),
        (word("1-2", "ab", "_") + SENTENCE, [(["a", "b"], ["DET", "NOUN"])]),
        (word("0.1", "e") + SENTENCE + word("2.1", "e"), [(["a", "b"], ["DET", "NOUN"])]),
        ("# s\n" + word(1, "a") + "# within\n" + word(2, "b"), [(["a", "b"], ["X", "X"])]),
        (word(1, "a") + "\t\n" + word(1, "b"), [(["a"], ["X"]), (["b"], ["X"])]),
        (word(1, "a") + " \n\n\n# c\n\n" + word(1, "b"), [(["a"], ["X"]), (["b"], ["X"])]),
        (word(1, "a", "NOUN "), [(["a"], ["NOUN"])]),
    ],
)
def test_sentences_are_read(text: str, rows: list[Any]) -> None:
    assert pairs(conllu(), text.encode()) == rows
    if rows:
        assert write_gold(conllu(), text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SENTENCE + "3\tc\n",
            "f:3: 2 columns between tabs where CoNLL-U has 10: '3\\tc'",
        ),
        ("# c\n1 a _ X\n", "f:2: 1 column between tabs where CoNLL-U has 10: '1 a _ X'"),
        (word(1, "a")[:-1] + "\t\n", "f:1: 11 columns between tabs where CoNLL-U has 10"),
        (word(2, "a"), "f:1: id '2' where the next word is 1"),
        (SENTENCE + word(2, "c"), "f:3: id '2' where the next word is 3"),
        (SENTENCE + word(4, "c"), "f:3: id '4' where the next word is 3"),
        (SENTENCE + word("03", "c"), "f:3: id '03' where the next word is 3"),
        (SENTENCE + word("", "c"), "f:3: id '' where the next word is 3"),
        (SENTENCE + word("x-y", "c"), "f:3: id 'x-y' where the next word is 3"),
        (SENTENCE + word("٣", "c"), "f:3: id '٣' where the next word is 3"),
        (SENTENCE + "# next\n" + word(1, "c"), "f:4: id '1' where the next word is 3"),
        (word("1-2", "ab"), "f:1: a sentence without words"),
        (word(1, ""), "f:1: column FORM is empty"),
        (word(1, "a", ""), "f:1: column UPOS is empty; CoNLL-U writes '_'"),
    ],
)
def test_a_bad_line_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="f:") as error:
        read(conllu(), text.encode())
    assert str(error.value).startswith(message)


def test_an_error_shows_the_line() -> None:
    with pytest.raises(ValueError, match="id") as error:
        read(conllu(), word(7, "a").encode())
    expected = "f:1: id '7' where the next word is 1: '7\\ta\\t_\\tX\\t_\\t_\\t_\\t_\\t_\\t_'"
    assert str(error.value) == expected


@pytest.mark.parametrize("column", ["UPOS", "upos", "Upos", 3])
def test_a_column_goes_by_name_in_any_case_or_by_number(column: Any) -> None:
    assert pairs(conllu(target=column), SENTENCE.encode()) == [(["a", "b"], ["DET", "NOUN"])]


@pytest.mark.parametrize("column", ["POS", 10, -1, ["UPOS", "XPOS"]])
def test_a_column_that_conllu_lacks_is_refused(column: Any) -> None:
    with pytest.raises(ValueError, match=r"data\.target=.*: a CoNLL-U file has one column for it"):
        conllu(target=column)


def test_rows_know_their_lines_and_what_stands_before_them() -> None:
    text = "# a\n" + word("1-2", "xy") + SENTENCE + "\n# b\n" + SENTENCE + "\n# end\n"
    first, second = read(conllu(), text.encode())
    assert (first["line"], first["element_lines"]) == (2, [3, 4])
    assert (second["line"], second["element_lines"]) == (7, [7, 8])
    assert second["leading"] == "# b\n"
    assert second["raw"] == SENTENCE + "\n# end\n"


def test_targets_that_are_not_read_do_not_matter() -> None:
    text = word(1, "a", "") + word(2, "b", "_")
    assert pairs(conllu(read_target=False), text.encode()) == [(["a", "b"], None)]
    assert pairs(conllu(target=None), text.encode()) == [(["a", "b"], None)]


def test_predictions_replace_the_target_and_nothing_else() -> None:
    text = "# s\r\n" + word("1-2", "ab", "_") + SENTENCE + word("2.1", "e", "E") + "\n# end\n"
    written = write(conllu(), text.encode(), [["VERB", "NOUN"]])
    assert written == text.replace("\tDET\t", "\tVERB\t")


def test_probabilities_go_to_misc_and_replace_earlier_ones() -> None:
    data = word(1, "a", "X", "_") + word(2, "b", "X", "SpaceAfter=No|Probability=1|Z=1")
    chances = [[{"X": 0.123456789, "Y": 0.8}, {"X": 0.2, "Y": 0.98}]]
    written = write(conllu(), data.encode(), [["X", "Y"]], chances)
    assert written == word(1, "a", "X", "Probability=0.1234568") + word(
        2, "b", "Y", "SpaceAfter=No|Z=1|Probability=0.98"
    )


def test_probabilities_keep_the_line_end() -> None:
    data = word(1, "a").replace("\n", "\r\n")
    written = write(conllu(), data.encode(), [["X"]], [[{"X": 1.0}]])
    assert written == word(1, "a", "X", "Probability=1").replace("\n", "\r\n")


def test_a_label_that_would_break_the_line_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'A\\tB' cannot be written into one column"):
        write(conllu(), SENTENCE.encode(), [["X", "A\tB"]])


@pytest.mark.parametrize("value", ["positive", ["X"], None])
def test_a_prediction_that_is_not_one_per_word_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="f:1: this format holds one prediction per element, 2"):
        write(conllu(), SENTENCE.encode(), [value])


def test_writing_needs_a_target() -> None:
    with pytest.raises(ValueError, match=r"data\.target is null"):
        write(conllu(target=None), SENTENCE.encode(), [["X", "Y"]])


def test_any_column_is_a_feature_named_as_the_setting_names_it() -> None:
    text = "1\ta\tA\tX\tN\t_\t2\troot\t_\t_\n2\tb\tB\tY\tV\t_\t_\tobj\t_\t_\n\n"
    reader = conllu(features=["xpos", 7], numeric_features=["HEAD"])
    [row] = read(reader, text.encode())
    assert row["features"] == {"xpos": ["N", "V"], "7": ["root", "obj"], "HEAD": [2.0, None]}
    assert write_gold(reader, text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ["POS"]}, r"data\.features=POS: a CoNLL-U file has one column for it"),
        ({"numeric_features": [10]}, r"data\.numeric_features=10: a CoNLL-U file has"),
        (
            {"mask": 4, "target_tokenizer": Whitespace()},
            r"data\.mask=4: CoNLL-U has no column for it; take data=conll for a mask",
        ),
        ({"further_input": ["XPOS"]}, r"data\.further_input=XPOS: CoNLL-U has no column for it"),
        (
            {"references": ["XPOS", "FEATS"], "sequence_tokenizer": Whitespace()},
            r"data\.references=XPOS, FEATS: CoNLL-U has no column for it",
        ),
    ],
)
def test_columns_that_the_format_cannot_have_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        conllu(**changes)
