import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import metrics as seqeval_metrics
from seqeval import scheme as seqeval_schemes
from sklearn.metrics import classification_report

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.errors import Confusion, GroupedAccuracy, SpanConfusion, worst_rows
from seqtag.evaluation.label_report import LabelReport
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.spans import SpanF1Conlleval, SpanF1Strict

from .padded import padded_labels

NAMES = ("b", "a", "c", "new")


def assert_same_numbers(report, expected):
    """Against the dictionary of scikit-learn's and seqeval's reports."""
    averages = {"macro avg": report.macro, "weighted avg": report.weighted}
    if "micro avg" in expected:
        averages["micro avg"] = report.micro
    assert set(report.labels) == expected.keys() - {
        "accuracy",
        "micro avg",
        "macro avg",
        "weighted avg",
    }
    for name, scores in {**report.labels, **averages}.items():
        assert vars(scores) == {
            "precision": pytest.approx(expected[name]["precision"]),
            "recall": pytest.approx(expected[name]["recall"]),
            "f1": pytest.approx(expected[name]["f1-score"]),
            "support": expected[name]["support"],
        }


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))),
        min_size=1,
        max_size=30,
    ).filter(lambda pairs: any(gold is not None for _, gold in pairs))
)
@settings(max_examples=60, deadline=None)
def test_report_has_the_numbers_of_scikit_learn(pairs):
    confusion = Confusion(NAMES)
    for start in range(0, len(pairs), 4):
        predicted, gold = zip(*pairs[start : start + 4], strict=True)
        confusion.update(*padded_labels([predicted], [gold], source=6))
    gold = [NAMES[gold] for _, gold in pairs if gold is not None]
    predicted = [NAMES[predicted] for predicted, gold in pairs if gold is not None]
    expected = classification_report(gold, predicted, output_dict=True, zero_division=0)
    report = confusion.report()
    assert_same_numbers(report, expected)
    assert list(report.labels) == sorted(report.labels)
    if "accuracy" in expected:
        assert report.micro.f1 == pytest.approx(expected["accuracy"])


def test_report_of_nothing():
    report = Confusion(NAMES).report()
    assert report.labels == {}
    assert report.macro.f1 == report.micro.f1 == report.weighted.f1 == 0


def test_report_by_hand():
    report = LabelReport.of({"a": (1, 2, 4), "b": (0, 0, 1), "nowhere": (0, 0, 0)})
    assert list(report.labels) == ["a", "b"]
    assert vars(report.labels["a"]) == {
        "precision": 1 / 2,
        "recall": 1 / 4,
        "f1": pytest.approx(1 / 3),
        "support": 4,
    }
    assert report.macro.f1 == pytest.approx(1 / 6)
    assert report.weighted.f1 == pytest.approx(4 / 15)
    assert report.micro.recall == pytest.approx(1 / 5)


def test_most_frequent_confusions_leave_out_what_is_right():
    confusion = Confusion(NAMES)
    confusion.update(*padded_labels([[0, 0, 1, 1, 1, 2]], [[0, 1, 0, 0, None, 3]]))
    confusion.update(*padded_labels([[1]], [[0]]))
    assert confusion.most_frequent(2) == [("b", "a", 3), ("a", "b", 1)]
    assert confusion.most_frequent(9)[-1] == ("new", "c", 1)


def span_batch(metric, predicted, gold):
    names = sorted({label for row in (*predicted, *gold) for label in row})
    ids = {name: number for number, name in enumerate(names)}
    made = metric(TargetSpec(labels=tuple(names), scheme="IOB2"))
    return made.reader.pairs(
        *padded_labels(
            [[ids[label] for label in row] for row in predicted],
            [[ids[label] for label in row] for row in gold],
        )
    )


PREDICTED = [["B-X", "I-X", "O", "B-Y"], ["I-Z", "O"], ["B-X", "B-X"]]
GOLD = [["B-X", "I-X", "O", "B-Z"], ["B-Z", "O"], ["O", "B-X"]]


def test_span_report_has_the_numbers_of_seqeval():
    for metric, options in (
        (SpanF1Strict, {"mode": "strict", "scheme": seqeval_schemes.IOB2}),
        (SpanF1Conlleval, {}),
    ):
        confusion = SpanConfusion()
        confusion.update(span_batch(metric, PREDICTED, GOLD))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = seqeval_metrics.classification_report(
                GOLD, PREDICTED, output_dict=True, **options
            )
        assert_same_numbers(confusion.report(), expected)


def test_span_confusions_tell_wrong_types_from_missed_and_made_up_spans():
    confusion = SpanConfusion()
    confusion.update(span_batch(SpanF1Strict, PREDICTED, GOLD))
    assert confusion.most_frequent(9) == [(None, "X", 1), ("Z", None, 1), ("Z", "Y", 1)]


def test_accuracy_of_known_and_unknown_words():
    accuracy = GroupedAccuracy(3)
    value, target = padded_labels([[0, 1, 2], [0]], [[0, 0, None], [0]])
    known = np.array([[0, 1, 0], [1, 0, 0]])
    accuracy.update(value, target, known)
    accuracy.update(value, target, np.ones_like(known))
    tallies = accuracy.tallies()
    assert [(tally.correct, tally.total) for tally in tallies] == [(1, 1), (3, 5), (0, 0)]
    assert tallies[1].accuracy == pytest.approx(3 / 5)
    assert math.isnan(tallies[2].accuracy)


def test_the_worst_row_is_the_one_that_costs_most():
    metric = Accuracy(TargetSpec(labels=("a",)))
    # One of one wrong, five of ten wrong, all right, nothing known.
    statistics = np.array([[0.0, 1], [5, 10], [20, 20], [0, 0]])
    worst = worst_rows(rows=np.array([7, 8, 9, 10]), statistics=statistics, metric=metric, limit=9)
    assert [row.row for row in worst] == [8, 7]
    assert worst[0].score == 0.5
    assert worst[0].cost == pytest.approx(20 / 21 - 25 / 31)


def test_the_worst_row_of_an_error_is_the_one_with_most_of_it():
    metric = RootMeanSquaredError(TargetSpec(mean=(0.0,), deviation=(1.0,)))
    target = Target(torch.zeros(3, 1), torch.ones(3, 1, dtype=torch.bool))
    statistics = metric.row_statistics(
        Prediction(torch.tensor([[1.0], [3.0], [0.0]])), target
    ).numpy()
    worst = worst_rows(rows=np.arange(3), statistics=statistics, metric=metric, limit=1)
    assert [row.row for row in worst] == [1]
