import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import metrics as seqeval_metrics
from seqeval import scheme as seqeval_schemes

from seqtag.batch import Prediction, TargetSpec
from seqtag.evaluation.schemes import SCHEMES
from seqtag.evaluation.spans import SpanF1Conlleval, SpanF1Strict

from .padded import padded_labels

# seqeval warns of labels that it takes for no span.
pytestmark = pytest.mark.filterwarnings("error")


def made(metric, scheme, predicted, gold, unseen=()):
    """The metric and a batch of rows of labels, each written with blanks; ``?`` is missing."""
    predicted, gold = [row.split() for row in predicted], [row.split() for row in gold]
    known = {label for row in (*predicted, *gold) for label in row} - {"?", *unseen}
    spec = TargetSpec(labels=tuple(sorted(known)), unseen=unseen, scheme=scheme)
    ids = {name: number for number, name in enumerate((*spec.labels, *unseen))}
    return metric(spec), *padded_labels(
        [[ids[label] for label in row] for row in predicted],
        [[ids.get(label) for label in row] for row in gold],
    )


def counts(metric, scheme, predicted, gold, unseen=()):
    """Correct, predicted and gold spans of one row."""
    metric, value, target = made(metric, scheme, [predicted], [gold], unseen)
    return metric.row_statistics(Prediction(value), target)[0].tolist()


# Scheme, prediction, gold, then correct, predicted and gold spans as conlleval and strictly.
CASES = {
    "equal": ("IOB2", "B-X I-X O B-Y", "B-X I-X O B-Y", (2, 2, 2), (2, 2, 2)),
    "wrong type": ("IOB2", "B-X I-X", "B-Y I-Y", (0, 1, 1), (0, 1, 1)),
    "wrong end": ("IOB2", "B-X O", "B-X I-X", (0, 1, 1), (0, 1, 1)),
    "one of two neighbours": ("IOB2", "B-X B-X", "B-X I-X", (0, 2, 1), (0, 2, 1)),
    "I after O": ("IOB2", "O I-X I-X", "O B-X I-X", (1, 1, 1), (0, 0, 1)),
    "I at the start": ("IOB2", "I-X O", "B-X O", (1, 1, 1), (0, 0, 1)),
    "type changes inside": ("IOB2", "B-X I-Y", "B-X B-Y", (2, 2, 2), (1, 1, 2)),
    "E without B": ("IOBES", "O E-X", "O S-X", (1, 1, 1), (0, 0, 1)),
    "B without E": ("IOBES", "B-X O", "S-X O", (1, 1, 1), (0, 0, 1)),
    "I E without B": ("IOBES", "O I-X E-X", "O B-X E-X", (1, 1, 1), (0, 0, 1)),
    "S inside": ("IOBES", "B-X S-X E-X", "B-X I-X E-X", (0, 3, 1), (0, 1, 1)),
    "single elements": ("IOBES", "S-X S-X S-Y", "S-X S-X S-X", (2, 3, 3), (2, 3, 3)),
    "U beside U": ("BILOU", "U-X U-X O", "U-X U-X O", (2, 2, 2), (2, 2, 2)),
    "L then B": ("BILOU", "B-X L-X B-X L-X", "B-X L-X B-X L-X", (2, 2, 2), (2, 2, 2)),
    "bare U": ("BILOU", "O U O", "O U O", (1, 1, 1), (1, 1, 1)),
    "B apart in IOB1": ("IOB1", "I-X B-X O I-X", "I-X B-X O I-X", (3, 3, 3), (3, 3, 3)),
    "E apart in IOE1": ("IOE1", "E-X I-X O I-X", "E-X I-X O I-X", (3, 3, 3), (3, 3, 3)),
    "E apart behind another type": ("IOE1", "I-Y E-X I-X", "I-Y E-X I-X", (3, 3, 3), (3, 3, 3)),
    "E without a neighbour in IOE1": ("IOE1", "I-X E-X O", "I-X I-X O", (1, 1, 1), (0, 1, 1)),
    "neighbours in IOE2": ("IOE2", "I-X E-X E-X", "I-X E-X E-X", (2, 2, 2), (2, 2, 2)),
    "bare letters": ("IOB2", "B I O I", "B I O B", (2, 2, 2), (1, 1, 2)),
    "type with a dash": ("IOB2", "B-X-1 I-X-1", "B-X-1 I-X-2", (0, 1, 2), (0, 1, 1)),
    "no gold span": ("IOB2", "B-X O", "O O", (0, 1, 0), (0, 1, 0)),
    "no predicted span": ("IOB2", "O O", "B-X O", (0, 0, 1), (0, 0, 1)),
    "nothing": ("IOB2", "O O", "O O", (0, 0, 0), (0, 0, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case):
    scheme, predicted, gold, conlleval, strict = CASES[case]
    assert counts(SpanF1Conlleval, scheme, predicted, gold) == list(conlleval)
    assert counts(SpanF1Strict, scheme, predicted, gold) == list(strict)


@pytest.mark.parametrize("metric", [SpanF1Strict, SpanF1Conlleval])
class TestBothReadings:
    def test_precision_recall_and_f1_come_from_the_same_sums(self, metric):
        metric, value, target = made(
            metric, "IOB2", ["B-X O B-Y O", "B-X O"], ["B-X O B-X O", "B-X O"]
        )
        total = metric.row_statistics(Prediction(value), target).sum(dim=0)
        assert metric.details(total) == {
            "precision": pytest.approx(2 / 3),
            "recall": pytest.approx(2 / 3),
            "correct": 2,
            "predicted": 3,
            "gold": 3,
        }
        assert metric.score(total) == pytest.approx(2 / 3)

    def test_no_span_at_all_is_undefined_and_a_spurious_one_is_not(self, metric):
        nothing, value, target = made(metric, "IOB2", ["O"], ["O"])
        total = nothing.row_statistics(Prediction(value), target).sum(dim=0)
        assert math.isnan(nothing.score(total))
        assert math.isnan(nothing.details(total)["recall"])
        spurious, value, target = made(metric, "IOB2", ["B-X"], ["O"])
        total = spurious.row_statistics(Prediction(value), target).sum(dim=0)
        assert spurious.score(total) == 0
        assert spurious.details(total)["precision"] == 0

    def test_elements_without_gold_are_taken_out_on_both_sides(self, metric):
        assert counts(metric, "IOB2", "B-X O I-X O", "B-X ? I-X ?") == [1, 1, 1]
        # The prediction's second span lies where nothing is known.
        assert counts(metric, "IOB2", "B-X O B-Y", "B-X O ?") == [1, 1, 1]

    def test_labels_unseen_in_training_make_gold_spans(self, metric):
        unseen = ("B-NEW", "I-NEW")
        assert counts(metric, "IOB2", "B-X I-X O", "B-NEW I-NEW O", unseen) == [0, 1, 1]
        # A known begin with an unseen type inside is not the known span.
        assert counts(metric, "IOB2", "B-X I-X O", "B-X I-NEW O", unseen)[0] == 0

    def test_unseen_labels_of_other_schemes_make_spans_and_other_names_none(self, metric):
        assert counts(metric, "IOB2", "O O O", "S-PRT O U", ("S-PRT", "U")) == [0, 0, 2]
        assert counts(metric, "IOBES", "O O O", "O U-X O", ("U-X",)) == [0, 0, 1]
        # NAME is no I-, B- or E-anything; with its first letter dropped it would be a type.
        assert counts(metric, "IOB2", "B-X I-X", "B-X NAME", ("NAME",)) == [0, 1, 1]

    def test_spans_do_not_run_from_row_to_row(self, metric):
        metric, value, target = made(metric, "IOB2", ["B-X", "I-X"], ["B-X", "O"])
        assert metric.row_statistics(Prediction(value), target)[0].tolist() == [1, 1, 1]

    def test_spans_are_given_by_type_and_place(self, metric):
        metric, value, target = made(metric, "IOB2", ["O B-X"], ["B-Y I-Y"])
        assert list(metric.reader.pairs(value, target)) == [({("X", 1, 2)}, {("Y", 0, 2)})]


def row_pairs(letters):
    labels = ["O", *(f"{letter}-{kind}" for letter in letters for kind in ("X", "Y-Z")), *letters]
    label = st.sampled_from(labels)
    return st.lists(
        st.lists(st.tuples(label, label), min_size=1, max_size=8), min_size=1, max_size=5
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_equal_to_seqeval_on_any_labels(scheme, data):
    rows = data.draw(row_pairs(SCHEMES[scheme].letters))
    predicted = [[pair[0] for pair in row] for row in rows]
    gold = [[pair[1] for pair in row] for row in rows]
    strict, strict_scheme = (gold, predicted), scheme
    if scheme == "IOE1":
        # What seqeval reads of it lacks valid spans; from right to left it is IOB1.
        strict_scheme = "IOB1"
        strict = [
            [[label.replace("E", "B") for label in row[::-1]] for row in side] for side in strict
        ]
    # seqeval's lenient reading has no L and U.
    as_iobes = str.maketrans("LU", "ES")
    lenient = [
        [[label.translate(as_iobes) for label in row] for row in side] for side in (gold, predicted)
    ]
    strictly = {"mode": "strict", "scheme": getattr(seqeval_schemes, strict_scheme)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {
            kind: [
                score(*sides, zero_division=0, **mode)
                for score in (
                    seqeval_metrics.f1_score,
                    seqeval_metrics.precision_score,
                    seqeval_metrics.recall_score,
                )
            ]
            for kind, sides, mode in (
                (SpanF1Strict, strict, strictly),
                (SpanF1Conlleval, lenient, {}),
            )
        }
    for kind, (f1, precision, recall) in expected.items():
        metric, value, target = made(
            kind, scheme, [" ".join(row) for row in predicted], [" ".join(row) for row in gold]
        )
        total = metric.row_statistics(Prediction(value), target).sum(dim=0)
        details = metric.details(total)
        if total[1:].any():
            assert metric.score(total) == pytest.approx(f1)
        if details["predicted"]:
            assert details["precision"] == pytest.approx(precision)
        if details["gold"]:
            assert details["recall"] == pytest.approx(recall)
