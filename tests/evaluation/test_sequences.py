import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.text import word_error_rate

from seqtag.batch import END, Prediction, Target, TargetSpec
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.sequences import Edits, ExactMatch, SymbolErrorRate, WordErrorRate

SPEC = TargetSpec(labels=("a", "b", "c"), counts=(1, 1, 1), unseen=("new",), sequence=True)
A, B, C, NEW = 1, 2, 3, 4


def padded(rows, filler: int = END) -> torch.Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])


def gold(rows) -> Target:
    """Rows of ids, each to be followed by the end; None where the target is missing."""
    ended = [[0] if row is None else [*row, END] for row in rows]
    there = [[False] if row is None else [True] * (len(row) + 1) for row in rows]
    return Target(padded(ended), padded(there, False).bool())


def scores(predicted, target) -> tuple[float, float, float]:
    value = padded([[*row, END] for row in predicted])
    metrics = [ExactMatch(SPEC), WordErrorRate(SPEC), SymbolErrorRate(SPEC)]
    return tuple(
        m.score(m.row_statistics(Prediction(value), gold(target)).sum(dim=0)) for m in metrics
    )


def test_scores_that_can_be_counted_by_hand() -> None:
    # Right; one symbol too many; one replaced and one left out: 3 edits over 2 + 1 + 3 symbols.
    exact, words, symbols = scores([[A, B], [A, A], [C, B]], [[A, B], [A], [A, B, C]])
    assert (exact, words) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert symbols == pytest.approx(3 / 6)


def test_a_missing_target_counts_nowhere_and_an_empty_one_does() -> None:
    assert scores([[A], [A]], [None, [A]]) == (1.0, 0.0, 0.0)
    assert scores([[], [A]], [[], [A]]) == (1.0, 0.0, 0.0)
    assert scores([[B], [A]], [[], [A]]) == (0.5, 0.5, 1.0)


def test_a_symbol_that_training_lacks_is_always_wrong() -> None:
    assert scores([[A, B]], [[A, NEW]]) == (0.0, 1.0, 0.5)


def test_where_nothing_is_present_there_is_no_score() -> None:
    assert all(math.isnan(score) for score in scores([[A]], [None]))
    assert math.isnan(scores([[]], [[]])[2])


def test_more_edits_than_symbols_give_a_rate_above_one() -> None:
    assert scores([[A, A, A]], [[B]])[2] == pytest.approx(3.0)


def test_what_stands_behind_the_end_is_not_looked_at() -> None:
    value = torch.tensor([[A, END, C, C], [A, B, C, END]])
    metric = ExactMatch(SPEC)
    assert metric.row_statistics(Prediction(value), gold([[A], [A, B, C]])).tolist() == [
        [1, 1],
        [1, 1],
    ]


def test_a_prediction_cut_off_at_its_limit_has_no_end() -> None:
    assert ExactMatch(SPEC).row_statistics(
        Prediction(torch.tensor([[A, B]])), gold([[A, B]])
    ).tolist() == [[1, 1]]


rows = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6), min_size=1, max_size=6)


@given(rows, st.data())
@settings(max_examples=60, deadline=None)
def test_the_symbol_error_rate_is_that_of_torchmetrics_whatever_the_batches(target, data) -> None:
    predicted = data.draw(
        st.lists(
            st.lists(st.integers(1, 3), max_size=6), min_size=len(target), max_size=len(target)
        )
    )
    expected = word_error_rate(
        [" ".join(map(str, row)) for row in predicted], [" ".join(map(str, row)) for row in target]
    )
    assert scores(predicted, target)[2] == pytest.approx(float(expected))
    metric = SymbolErrorRate(SPEC)
    one_by_one = sum(
        metric.row_statistics(Prediction(padded([[*p, END]])), gold([g]))[0]
        for p, g in zip(predicted, target, strict=True)
    )
    assert metric.score(one_by_one) == pytest.approx(float(expected))


def test_metrics_of_labels_and_of_sequences_know_their_targets() -> None:
    labels = TargetSpec(labels=("a", "b"), counts=(1, 1))
    for metric in (ExactMatch, WordErrorRate, SymbolErrorRate):
        assert metric.applies(SPEC)
        assert not metric.applies(labels)
        assert not metric.applies(TargetSpec(mean=(0.0,), deviation=(1.0,)))
    for metric in (Accuracy, MacroF1):
        assert metric.applies(labels)
        assert not metric.applies(SPEC)


def test_edits_name_what_was_replaced_left_out_and_put_in() -> None:
    edits = Edits((*SPEC.labels, *SPEC.unseen))
    predicted = [[A, B], [A, C], [A], [A, B, C], [C]]
    target = [[A, B], [A, B], [A, B], [A, B], None]
    edits.update(padded([[*row, END] for row in predicted]), gold(target))
    edits.update(padded([[A, C, END]]), gold([[A, B]]))
    assert edits.most_frequent(9) == [("b", "c", 2), (None, "c", 1), ("b", None, 1)]
    assert edits.most_frequent(1) == [("b", "c", 2)]
