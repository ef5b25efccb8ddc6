from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqtag.evaluation.span_errors import (
    BOTH,
    FOUND,
    MISSED,
    PAIRED,
    SPURIOUS,
    WRONG_BOUNDARY,
    WRONG_TYPE,
    SpanErrors,
    classify,
)


@pytest.mark.parametrize(
    ("gold", "predicted", "kinds"),
    [
        ({("A", 0, 2)}, {("A", 0, 2)}, {FOUND: 1}),
        ({("A", 0, 2)}, {("B", 0, 2)}, {WRONG_TYPE: 1}),
        ({("A", 0, 2)}, {("A", 1, 3)}, {WRONG_BOUNDARY: 1}),
        ({("A", 0, 2)}, {("A", 0, 1)}, {WRONG_BOUNDARY: 1}),
        ({("A", 0, 2)}, {("B", 1, 3)}, {BOTH: 1}),
        ({("A", 0, 2)}, set(), {MISSED: 1}),
        (set(), {("A", 0, 2)}, {SPURIOUS: 1}),
        # Side by side is not overlapping.
        ({("A", 0, 2)}, {("A", 2, 4)}, {MISSED: 1, SPURIOUS: 1}),
        # One long prediction over two gold spans makes up for one of them alone.
        ({("A", 0, 2), ("A", 2, 4)}, {("A", 0, 4)}, {WRONG_BOUNDARY: 1, MISSED: 1}),
        # A gold span in two pieces.
        ({("A", 0, 4)}, {("A", 0, 2), ("A", 2, 4)}, {WRONG_BOUNDARY: 1, SPURIOUS: 1}),
        # The right type comes before the larger overlap.
        ({("A", 0, 5)}, {("B", 0, 4), ("A", 4, 5)}, {WRONG_BOUNDARY: 1, SPURIOUS: 1}),
        # The right extent comes before the right type elsewhere.
        ({("A", 0, 2)}, {("B", 0, 2), ("A", 1, 4)}, {WRONG_TYPE: 1, SPURIOUS: 1}),
        # What is found takes part in nothing else.
        ({("A", 0, 2)}, {("A", 0, 2), ("B", 0, 2)}, {FOUND: 1, SPURIOUS: 1}),
        (set(), set(), {}),
    ],
)
def test_the_kinds_of_error(gold, predicted, kinds) -> None:
    assert Counter(kind for kind, _, _ in classify(predicted, gold)) == kinds


def test_of_several_overlaps_the_largest_is_paired_and_then_the_leftmost() -> None:
    gold = {("A", 0, 3)}
    assert classify({("A", 0, 1), ("A", 1, 4)}, gold)[0] == (
        WRONG_BOUNDARY,
        ("A", 0, 3),
        ("A", 1, 4),
    )
    assert classify({("A", 0, 1), ("A", 2, 4)}, gold)[0][2] == ("A", 0, 1)


def test_by_type() -> None:
    errors = SpanErrors()
    errors.update([({("B", 0, 2), ("A", 5, 6)}, {("A", 0, 2), ("A", 5, 7), ("C", 8, 9)})])
    assert errors.types() == ["A", "B", "C"]
    assert errors.of_gold(WRONG_TYPE, "A") == 1
    assert errors.of_gold(WRONG_TYPE, "B") == 0
    assert errors.of_predicted(WRONG_TYPE, "B") == 1
    assert errors.of_gold(WRONG_BOUNDARY, "A") == errors.of_predicted(WRONG_BOUNDARY, "A") == 1
    assert errors.of_gold(MISSED, "C") == errors.of_gold(MISSED) == 1
    assert errors.of_predicted(SPURIOUS) == 0


spans = st.sets(
    st.builds(
        lambda kind, begin, size: (kind, begin, begin + size),
        st.sampled_from("AB"),
        st.integers(0, 8),
        st.integers(1, 4),
    ),
    max_size=7,
)


@settings(max_examples=60, deadline=None)
@given(spans, spans)
def test_every_span_counts_once_and_the_order_of_the_sides_does_not_matter(predicted, gold) -> None:
    found = classify(predicted, gold)
    wanted = [one for _, one, _ in found if one is not None]
    given_ = [other for _, _, other in found if other is not None]
    assert sorted(wanted) == sorted(gold)
    assert sorted(given_) == sorted(predicted)
    for kind, one, other in found:
        assert (one is None) == (kind == SPURIOUS)
        assert (other is None) == (kind == MISSED)
        if kind in PAIRED:
            same = one[0] == other[0], one[1:] == other[1:]
            expected = {FOUND: (True, True), WRONG_TYPE: (False, True)}
            expected |= {WRONG_BOUNDARY: (True, False), BOTH: (False, False)}
            assert same == expected[kind]
            assert min(one[2], other[2]) > max(one[1], other[1])
    left = [span for kind, span, _ in found if kind == MISSED]
    over = [span for kind, _, span in found if kind == SPURIOUS]
    assert not any(min(a[2], b[2]) > max(a[1], b[1]) for a in left for b in over)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(spans, spans), max_size=4))
def test_kinds_add_up_to_gold_and_predicted(rows) -> None:
    errors = SpanErrors()
    errors.update(rows)
    paired = sum(errors.of_gold(kind) for kind in PAIRED)
    assert paired == sum(errors.of_predicted(kind) for kind in PAIRED)
    assert paired + errors.of_gold(MISSED) == sum(len(gold) for _, gold in rows)
    assert paired + errors.of_predicted(SPURIOUS) == sum(len(predicted) for predicted, _ in rows)
    for name in errors.types():
        gold = sum(errors.of_gold(kind, name) for kind in (*PAIRED, MISSED))
        assert gold == sum(span[0] == name for _, row in rows for span in row)
        predicted = sum(errors.of_predicted(kind, name) for kind in (*PAIRED, SPURIOUS))
        assert predicted == sum(span[0] == name for row, _ in rows for span in row)
