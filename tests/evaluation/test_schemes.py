import pytest

from seqtag.evaluation.schemes import (
    COMMON_NAMES,
    SCHEMES,
    invalid_transitions,
    named_scheme,
    position_and_type,
)
from seqtag.evaluation.spans import detect_scheme

EXAMPLES = {
    "IOB2": ["B-X I-X O B-X", "B-Y B-Y"],
    "IOB1": ["I-X I-X O I-Y", "I-X B-X I-X"],
    "IOBES": ["B-X I-X E-X O S-Y"],
    "BILOU": ["B-X I-X L-X O U-Y"],
    "IOE2": ["I-X E-X O E-Y"],
    "IOE1": ["I-X I-X O I-Y", "I-X E-X I-X"],
}


def split(*rows):
    return [row.split() for row in rows]


@pytest.mark.parametrize("scheme", EXAMPLES)
def test_each_scheme_is_told_from_its_labels(scheme):
    rows = split(*EXAMPLES[scheme])
    assert detect_scheme(rows) == scheme
    assert invalid_transitions(rows, scheme).total() == 0


@pytest.mark.parametrize("scheme", EXAMPLES)
def test_bare_letters_are_a_scheme_too(scheme):
    bare = [[label[0] for label in row] for row in split(*EXAMPLES[scheme])]
    # Without types, X O Y of the examples keeps its spans apart by the O.
    assert detect_scheme(bare) == scheme


def test_the_whole_split_is_read():
    outside = [["O", "O"]] * 1000
    assert detect_scheme([*outside, ["B-PER", "E-PER"]]) == "IOBES"
    assert detect_scheme([*outside, ["NAME", "O"]]) is None


@pytest.mark.parametrize(
    "rows",
    [
        ["O O", "O"],
        [""],
        ["NAME O"],
        ["I NAME"],
        ["B-X I-X O", "NAME O"],
        ["NOUN VERB X PRON"],
        ["B-X I-X O B_X"],
        ["B- I-X"],
        ["b-X i-X o"],
        ["X-B X-I O"],
        # Letters that mean something else: upper and lower, exon and intron, buy and sell.
        ["U L U L"],
        ["E E I I E"],
        ["O B S O S O S B O"],
        ["I I I"],
    ],
)
def test_labels_that_are_no_spans(rows):
    assert detect_scheme(split(*rows)) is None


def test_no_rows_are_no_spans():
    assert detect_scheme([]) is None


def test_missing_labels_are_passed_over():
    assert detect_scheme([["B-X", None, "I-X"], [None]]) == "IOB2"


def test_single_element_spans_alone():
    assert detect_scheme(split("B-X O B-Y")) == "IOB2"
    assert detect_scheme(split("I-X O I-Y")) == "IOB1"
    assert detect_scheme(split("S-X O S-Y")) == "IOBES"
    assert detect_scheme(split("U-X O U-Y")) == "BILOU"
    assert detect_scheme(split("E-X O E-Y")) == "IOE2"


def test_a_broken_file_has_the_scheme_that_it_breaks_least():
    rows = split("B-X I-X O", "B-Y I-Y O", "O I-X O")
    assert detect_scheme(rows) == "IOB2"
    assert invalid_transitions(rows, "IOB2") == {("O", "I-X"): 1}


def test_letters_of_another_scheme_are_counted_once_each():
    rows = split(*["B-X I-X O"] * 3, "S-X O E-Y")
    assert detect_scheme(rows) == "IOB2"
    assert invalid_transitions(rows, "IOB2") == {("O", "S-X"): 1, ("O", "E-Y"): 1}


def test_transitions_at_both_ends_of_a_row_count():
    assert invalid_transitions(split("E-X B-X"), "IOBES") == {
        ("O", "E-X"): 1,
        ("B-X", "O"): 1,
    }


def test_a_change_of_type_inside_a_span_is_invalid():
    assert invalid_transitions(split("B-X I-Y"), "IOB2") == {("B-X", "I-Y"): 1}
    assert invalid_transitions(split("I-X B-Y"), "IOB1") == {("I-X", "B-Y"): 1}


def test_a_label_of_another_spelling_is_invalid_and_outside():
    assert invalid_transitions(split("NAME I-X"), "IOB2") == {("O", "NAME"): 1, ("NAME", "I-X"): 1}


def test_a_label_is_taken_apart_only_where_it_is_spelled_in_a_scheme():
    assert position_and_type("B-PER") == ("B", "PER")
    assert position_and_type("B-PER-SUB") == ("B", "PER-SUB")
    assert position_and_type("I") == ("I", "_")
    assert position_and_type("O") == ("O", "")
    for label in ("NAME", "O-PER", "BI-PER", "B-", "-PER", "", "-", "B_PER", "NA-ME"):
        assert position_and_type(label) is None


def test_labels_are_respelled_in_the_letters_of_the_scheme():
    assert SCHEMES["IOB2"].respell("S-PER") == "B-PER"
    assert SCHEMES["BILOU"].respell("E") == "L"
    assert SCHEMES["IOBES"].respell("O") == "O"
    assert SCHEMES["IOBES"].respell("NAME") == "O"
    for scheme in SCHEMES.values():
        respelled = {scheme.respell(letter) for letter in "BIESLU"}
        assert respelled <= set(scheme.letters)


@pytest.mark.parametrize(
    ("given", "scheme"),
    [
        ("BIO", "IOB2"),
        ("bio", "IOB2"),
        ("IOB2", "IOB2"),
        ("iob1", "IOB1"),
        ("BIOES", "IOBES"),
        ("Iobes", "IOBES"),
        ("BILOU", "BILOU"),
        ("biluo", "BILOU"),
        ("IOE1", "IOE1"),
        ("ioe2", "IOE2"),
    ],
)
def test_schemes_are_known_by_their_common_names(given, scheme):
    assert named_scheme(given, key="data.scheme") == scheme


def test_every_scheme_has_a_name():
    assert set(COMMON_NAMES.values()) == set(SCHEMES)


@pytest.mark.parametrize("given", ["IOB", "BMES", "", " BIO", 1, True, ["BIO"], {}])
def test_other_names_are_refused_with_the_choices(given):
    choices = r"^data\.scheme is .*; it must be null or one of IOB1, IOB2, BIO, IOBES, BIOES, BILOU"
    with pytest.raises(ValueError, match=choices):
        named_scheme(given, key="data.scheme")
