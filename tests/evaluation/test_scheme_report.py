import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.evaluation.conversion import count_repairs
from seqtag.evaluation.scheme_report import (
    DISTINCT,
    FIRST,
    BrokenTransition,
    SchemeCensus,
    describe_scheme,
)
from seqtag.evaluation.schemes import SCHEMES, invalid_transitions
from seqtag.evaluation.spans import detect_scheme


def split(*rows):
    return [[None if label == "?" else label for label in row.split()] for row in rows]


def test_a_clean_split_breaks_nothing():
    report = describe_scheme(split("B-X I-X O", "O O", "B-X O"))
    assert report.scheme == report.nearest == "IOB2"
    assert report.obstacle is None
    assert report.fits["IOB2"].rows == report.rows == 2  # a row of O alone says nothing
    assert report.fits["IOB2"].broken.total() == 0
    assert report.fits["IOB2"].first == ()
    assert report.elsewhere == {}
    assert report.letters == {"B": 2, "I": 1, "O": 4}


def test_broken_transitions_are_counted_and_the_first_have_a_place():
    rows = split("B-X I-X O", "O I-X ? I-Y", "O I-X", "B-X")
    fit = describe_scheme(rows).fits["IOB2"]
    assert fit.broken == {("O", "I-X"): 2, ("I-X", "I-Y"): 1}
    assert fit.rows == 2
    assert fit.first == (
        BrokenTransition("O", "I-X", row=1, element=1),
        BrokenTransition("I-X", "I-Y", row=1, element=3),
        BrokenTransition("O", "I-X", row=2, element=1),
    )


def test_a_span_without_its_end_is_placed_at_the_last_label_of_the_row():
    fit = describe_scheme(split("S-X O", "B-X I-X ?")).fits["IOBES"]
    assert fit.first == (BrokenTransition("I-X", "O", row=1, element=1),)


def test_only_so_many_places_are_kept_of_each_scheme():
    rows = split(*["B-X I-X E-X"] * 9, *["I-X"] * 30)
    report = describe_scheme(rows)
    assert report.fits["IOBES"].broken.total() == 60
    assert [broken.row for broken in report.fits["IOBES"].first] == [
        row for row in range(9, 9 + FIRST // 2) for _ in range(2)
    ]
    assert len(report.fits["IOB2"].first) == FIRST


def test_a_mixture_shows_in_the_rows_that_only_one_scheme_allows():
    rows = split(*["B-X I-X O"] * 300, *["I-X B-X O"] * 40, *["O"] * 7)
    report = describe_scheme(rows)
    assert report.scheme == "IOB2"
    assert report.together == {("IOB2",): 300, ("IOB1",): 40}
    assert report.elsewhere == {"IOB1": 40}
    assert report.fits["IOB2"].rows == 300
    assert report.fits["IOB1"].rows == 40


def test_a_mixture_of_letters_shows_though_no_scheme_has_them_all():
    report = describe_scheme(split(*["B-X L-X O U-X"] * 5, *["B-X E-X O S-X"] * 3))
    assert report.scheme == "BILOU"
    assert report.together == {("BILOU",): 5, ("IOBES",): 3}
    assert report.fits["BILOU"].broken[("O", "S-X")] == 3


def test_rows_that_fit_several_schemes_are_counted_once_under_all_of_them():
    report = describe_scheme(split("I-X I-X O"))
    assert report.together == {("IOB1", "IOE1"): 1}
    assert report.elsewhere == {}


@pytest.mark.parametrize(
    ("rows", "obstacle"),
    [
        ([], "there is none at all"),
        (["?"], "there is none at all"),
        (["O O", "O"], "there is none but O"),
        (
            ["B-X I-X O", "NAME NAME M-x"],
            "3 of 6 are spelled in no scheme, the most frequent is 'NAME' (2)",
        ),
        (
            ["U L U L"],
            "bare letters L, U, which may mean anything (the nearest scheme is BILOU, broken 2 "
            "times)",
        ),
        (
            ["I I I"],
            "bare letters I, which may mean anything (the nearest scheme is IOB1, broken 0 times)",
        ),
    ],
)
def test_labels_that_are_no_spans_say_why(rows, obstacle):
    report = describe_scheme(split(*rows))
    assert report.scheme is None
    assert report.obstacle == obstacle


def test_what_is_nearest_is_told_though_some_labels_are_no_spans():
    report = describe_scheme(split("B-X I-X O", "NAME B-Y"))
    assert report.nearest == "IOB2"
    assert report.fits["IOB2"].broken.total() == 0
    assert report.others == {"NAME": 1}


def test_an_endless_set_of_labels_is_not_kept():
    report = describe_scheme([f"word{number}"] for number in range(DISTINCT + 100))
    assert len(report.others) == DISTINCT
    assert report.other_count == DISTINCT + 100


def test_memory_does_not_grow_with_the_rows():
    def peak(rows):
        tracemalloc.start()
        describe_scheme(["B-X", "I-X", "E-Y", "O", f"word{number}"] for number in range(rows))
        _, size = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return size

    peak(10)
    assert peak(8000) < 1.2 * peak(2000)


def test_rows_are_named_as_the_caller_wants():
    census: SchemeCensus[str] = SchemeCensus()
    census.add(["B-X", "O"], "a.conll:1")
    census.add(["I-X"], "a.conll:4")
    (broken,) = census.report().fits["IOB2"].first
    assert broken.row == "a.conll:4"
    assert broken.element == 0


LABELS = ["O", None, *(f"{letter}{kind}" for letter in "BIESLU" for kind in ("", "-X", "-Y"))]


@given(st.lists(st.lists(st.sampled_from([*LABELS, "NAME"]), max_size=6), max_size=6))
@settings(max_examples=200, deadline=None)
def test_it_agrees_with_what_reads_the_split_for_training(rows):
    report = describe_scheme(rows)
    assert report.scheme == detect_scheme(rows)
    if not report.others:
        for name in SCHEMES:
            assert report.fits[name].broken == invalid_transitions(rows, name)


@given(st.lists(st.lists(st.sampled_from(LABELS), max_size=6), max_size=6))
@settings(max_examples=200, deadline=None)
def test_the_rows_that_break_a_scheme_are_those_that_conversion_repairs(rows):
    report = describe_scheme(rows)
    for name in SCHEMES:
        repaired, _ = count_repairs(rows, name)
        assert report.rows - report.fits[name].rows == repaired
