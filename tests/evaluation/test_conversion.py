import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme as seqeval_schemes
from seqeval.metrics.sequence_labeling import get_entities

from seqtag.evaluation.conversion import (
    convert,
    count_repairs,
    respell,
    respell_probabilities,
)
from seqtag.evaluation.schemes import SCHEMES, invalid_transitions, position_and_type

# One row in every scheme: a long span, two that touch, one of another type behind them.
SPELLED = {
    "IOB2": "B-X I-X I-X O B-X B-X I-X B-Y O",
    "IOB1": "I-X I-X I-X O I-X B-X I-X I-Y O",
    "IOBES": "B-X I-X E-X O S-X B-X E-X S-Y O",
    "BILOU": "B-X I-X L-X O U-X B-X L-X U-Y O",
    "IOE2": "I-X I-X E-X O E-X I-X E-X E-Y O",
    "IOE1": "I-X I-X I-X O E-X I-X I-X I-Y O",
}
PAIRS = [(source, target) for source in SCHEMES for target in SCHEMES]


def labels(text):
    """Labels written with blanks; ``?`` is missing."""
    return [None if label == "?" else label for label in text.split()]


def strict_spans(row, scheme):
    """What seqeval reads, by type and place among the labels that are there."""
    present = [label for label in row if label is not None]
    if scheme == "IOE1":
        # seqeval loses valid spans of it, as its source says; it is IOB1 from right to left.
        mirrored = [label.replace("E", "B") for label in present[::-1]]
        size = len(present)
        read = strict_spans(mirrored, "IOB1")
        return [(kind, size - end, size - begin) for kind, begin, end in read[::-1]]
    kind = getattr(seqeval_schemes, scheme)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = seqeval_schemes.Entities([present], kind).entities[0]
    return [(entity.tag, entity.start, entity.end) for entity in found]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_scheme_becomes_every_other(source, target):
    assert convert(labels(SPELLED[source]), source, target) == labels(SPELLED[target])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_bare_letters_stay_bare(source, target):
    # The last span of the row has another type, which bare letters could not tell apart.
    source_row, target_row = (
        [label[0] for label in labels(SPELLED[name])[:7]] for name in (source, target)
    )
    assert convert(source_row, source, target) == target_row


spans = st.lists(
    st.tuples(
        st.integers(0, 2),  # elements before it that are in no span
        st.integers(1, 4),
        st.sampled_from(["-X", "-Y-Z", "-_", ""]),
    ),
    max_size=6,
)


def spell(drawn, scheme):
    """Spans in a scheme, by its definition rather than by what is tested."""
    row, made = [], []
    for gap, size, suffix in drawn:
        row += [None] * gap + [len(made)] * size
        made.append(suffix or "-_")
    row.append(None)
    suffixes = [suffix for _, _, suffix in drawn]
    spelled = []
    for place, span in enumerate(row):
        if span is None:
            spelled.append("O")
            continue
        behind = row[place - 1] if place else None
        ahead = row[place + 1]
        begins, ends = behind != span, ahead != span
        touches_behind = behind is not None and begins and made[behind] == made[span]
        touches_ahead = ahead is not None and ends and made[ahead] == made[span]
        letter = {
            "IOB2": "B" if begins else "I",
            "IOB1": "B" if touches_behind else "I",
            "IOBES": "S" if begins and ends else "B" if begins else "E" if ends else "I",
            "BILOU": "U" if begins and ends else "B" if begins else "L" if ends else "I",
            "IOE2": "E" if ends else "I",
            "IOE1": "E" if touches_ahead else "I",
        }[scheme]
        spelled.append(letter + suffixes[span])
    return spelled


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(drawn=spans, data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_spans_survive_there_and_back(source, target, drawn, data):
    row = spell(drawn, source)
    for place in sorted(data.draw(st.sets(st.integers(0, len(row)), max_size=3)), reverse=True):
        row.insert(place, None)
    there = convert(row, source, target)
    assert strict_spans(there, target) == strict_spans(row, source)
    assert len(strict_spans(row, source)) == len(drawn)
    assert [label for label in there if label is not None] == spell(drawn, target)
    assert convert(there, target, source) == row


any_label = st.sampled_from(
    ["O", "NAME", None, *(f"{letter}{kind}" for letter in "BIESLU" for kind in ("", "-X", "-Y"))]
)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(row=st.lists(any_label, max_size=8))
@settings(max_examples=100, deadline=None)
def test_of_any_labels_the_spans_are_those_of_conlleval(scheme, row):
    present = [SCHEMES["IOBES"].respell(label) for label in row if label is not None]
    expected = [(kind, first, last + 1) for kind, first, last in get_entities(present)]
    respelled = respell(row, scheme)
    # A label of no scheme is left, and seqeval would take it for a span.
    read = [None if label is None else SCHEMES[scheme].respell(label) for label in respelled]
    assert strict_spans(read, scheme) == expected
    assert invalid_transitions([read], scheme).total() == 0
    assert respell(respelled, scheme) == respelled


@given(row=st.lists(any_label, max_size=8), pair=st.sampled_from(PAIRS))
@settings(max_examples=200, deadline=None)
def test_no_element_leaves_its_span_or_type(row, pair):
    def kind(label):
        parts = None if label is None else position_and_type(label)
        return label if parts is None else parts[1]

    assert [kind(label) for label in convert(row, *pair)] == [kind(label) for label in row]


BROKEN = {
    "I after O": ("IOB2", "O I-X I-X O", "O B-X E-X O"),
    "I at the start": ("IOB2", "I-X O", "S-X O"),
    "type changes": ("IOB2", "B-X I-Y I-Y", "S-X B-Y E-Y"),
    "B in IOB1 where I would do": ("IOB1", "O B-X I-X", "O B-X E-X"),
    "letters of another scheme": ("IOB2", "B-X I-X S-X U-X O", "B-X E-X S-X S-X O"),
    "I after L": ("BILOU", "B-X L-X I-X", "B-X E-X S-X"),
    "E in IOE1 where I would do": ("IOE1", "I-X E-X O", "B-X E-X O"),
    "I without E": ("IOE2", "I-X I-X O", "B-X E-X O"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_labels_are_repaired(case):
    source, before, after = BROKEN[case]
    assert convert(labels(before), source, "IOBES") == labels(after)


def test_a_broken_row_does_not_come_back_as_it_was():
    broken = labels("B-X O I-X E-X")  # no end, and no beginning
    there = convert(broken, "IOBES", "IOB2")
    assert there == labels("B-X O B-X I-X")
    assert convert(there, "IOB2", "IOBES") == labels("S-X O B-X E-X")
    assert count_repairs([broken, labels("O S-X")], "IOBES") == (1, 2)


def test_conversion_to_the_same_scheme_repairs_nothing():
    broken = labels("O I-X NAME ?")
    assert convert(broken, "IOB2", "IOB2") == broken
    assert convert(broken, "IOB2", "IOB2") is not broken


def test_missing_labels_are_passed_over():
    assert convert(labels("B-X ? I-X ? O"), "IOB2", "IOBES") == labels("B-X ? E-X ? O")
    assert convert(labels("? B-X ?"), "IOB2", "BILOU") == labels("? U-X ?")
    assert convert(labels("I-X ? B-X"), "IOB1", "IOE1") == labels("E-X ? I-X")
    assert convert([None, None], "IOB2", "IOBES") == [None, None]
    assert convert([], "IOB2", "IOBES") == []


def test_labels_of_no_scheme_are_left_and_are_outside():
    row = ["NAME", "I-X", "M-x", "I-X", "", "B-", "b-X", "B_X"]
    expected = ["NAME", "B-X", "M-x", "B-X", "", "B-", "b-X", "B_X"]
    assert convert(row, "IOB1", "IOB2") == expected
    # Of B_X, NAME or EVENT no letter is taken for the end or beginning of a span.
    assert convert(["EVENT", "I-X", "I-X", "BANK"], "IOB1", "IOBES") == [
        "EVENT",
        "B-X",
        "E-X",
        "BANK",
    ]


def test_a_bare_letter_has_the_type_that_seqeval_gives_it():
    assert convert(["B", "I-_", "I-X"], "IOB2", "IOBES") == ["B", "E-_", "S-X"]


def test_an_unknown_scheme_is_our_own_mistake():
    with pytest.raises(KeyError, match="BIO"):
        convert(["O"], "BIO", "IOB2")
    with pytest.raises(KeyError, match="BIO"):
        convert(["O"], "IOB2", "BIO")


def test_repairs_are_counted_by_row_and_by_element():
    rows = [labels(row) for row in ("O I-X I-X", "B-X I-Y", "B-X I-X O ?", "NAME")]
    assert count_repairs(rows, "IOB2") == (2, 2)
    assert count_repairs([], "IOB2") == (0, 0)


@pytest.mark.benchmark
@pytest.mark.skipif(
    "SEQTAG_BENCHMARK_DATA" not in os.environ,
    reason="the data sets are not in the project; SEQTAG_BENCHMARK_DATA names their folder",
)
@pytest.mark.parametrize("path", ["ner_wnut17/wnut17train.conll", "ner_ncbi_disease/train.tsv"])
def test_real_entities_come_back_from_every_scheme(path):
    text = (Path(os.environ["SEQTAG_BENCHMARK_DATA"]) / path).read_text(encoding="utf-8")
    rows, row = [], []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            row.append(line.split("\t")[1])
        elif row:
            rows.append(row)
            row = []
    assert len(rows) > 3000
    for scheme in SCHEMES:
        there = [convert(row, "IOB2", scheme) for row in rows]
        assert invalid_transitions(there, scheme).total() == 0
        assert [convert(row, scheme, "IOB2") for row in there] == rows


class TestProbabilities:
    NAMES = ("B-X", "E-X", "I-X", "O", "S-X")

    def test_labels_that_are_spelled_alike_add_up(self):
        (first, second) = respell_probabilities(
            ["B-X", "E-X"],
            [[0.5, 0.0625, 0.0625, 0.25, 0.125], [0.0, 0.75, 0.125, 0.125, 0.0]],
            self.NAMES,
            "IOB2",
        )
        # At the beginning of a row an I or E would begin a span too.
        assert first == {"B-X": 0.75, "O": 0.25}
        assert second == {"I-X": 0.875, "O": 0.125, "B-X": 0.0}

    def test_neighbours_decide_where_the_new_labels_say_more(self):
        first, second, third = respell_probabilities(
            ["B-X", "I-X", "O"],
            [[0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]],
            ("B-X", "I-X", "O"),
            "IOBES",
        )
        assert first == {"B-X": 0.875, "O": 0.125}
        assert second == {"S-X": 0.25, "E-X": 0.5, "O": 0.25}
        # Between I-X and O: B-X would be a span of its own, I-X the end of one.
        assert third == {"S-X": 0.0, "E-X": 0.25, "O": 0.75}

    @given(data=st.data(), scheme=st.sampled_from(sorted(SCHEMES)))
    @settings(max_examples=100, deadline=None)
    def test_the_label_written_has_at_least_the_probability_of_the_one_chosen(self, data, scheme):
        row = data.draw(st.lists(st.sampled_from(self.NAMES), max_size=6))
        share = st.lists(st.integers(0, 8), min_size=5, max_size=5)
        shares = [[part / 8 for part in data.draw(share)] for _ in row]
        written = respell(row, scheme)
        for label, chosen, before, after in zip(
            written,
            row,
            shares,
            respell_probabilities(row, shares, self.NAMES, scheme),
            strict=True,
        ):
            assert after[label] >= before[self.NAMES.index(chosen)]
            assert sum(after.values()) == sum(before)
