import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_matrix

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation import resampling
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.metrics import RankMetric
from seqtag.evaluation.resampling import (
    RankedRows,
    SummedRows,
    blocks,
    bootstrap,
    draw_rows,
    interval,
    score_each,
)
from seqtag.evaluation.spans import SpanF1Strict

ACCURACY = Accuracy(TargetSpec(labels=("a", "b")))


def accuracy(*rows: tuple[float, float]) -> SummedRows:
    """Rows with so many right of so many."""
    return SummedRows(metric=ACCURACY, statistics=np.array(rows, dtype=float).reshape(-1, 2))


class Median(RankMetric):
    """Of the first number of all cells; needs them all, and is NaN without any."""

    higher_is_better = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        return True

    @property
    def width(self) -> int:
        return 2

    def row_cells(self, prediction: Prediction, target: Target) -> list[torch.Tensor]:
        raise NotImplementedError

    def score(self, cells: torch.Tensor) -> float:
        return float(cells[:, 0].median()) if len(cells) else float("nan")


def test_a_resample_has_as_many_rows_as_there_are() -> None:
    drawn = draw_rows(np.random.default_rng(3), 500, 7)
    assert drawn.shape == (500, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert drawn.min() == 0
    assert drawn.mean(axis=0) == pytest.approx(np.ones(7), abs=0.15)


def test_of_two_rows_every_fourth_resample_has_the_first_twice() -> None:
    (drawn,) = bootstrap([[[accuracy((1, 1), (0, 1))]]], resamples=4000)
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0, 0.5, 1]
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_all_contenders_get_the_same_rows() -> None:
    rng = np.random.default_rng(5)
    right = rng.integers(2, size=(50, 1))
    one, wrong = (
        SummedRows(metric=ACCURACY, statistics=np.c_[r, r * 0 + 1.0]) for r in (right, 1 - right)
    )
    first, second, third = bootstrap([[[one]], [[wrong]], [[one]]], resamples=200)
    assert (first == third).all()
    assert first + second == pytest.approx(np.ones(200))
    assert np.ptp(first) > 0


def test_the_same_rows_give_the_same_numbers() -> None:
    sample = [[accuracy((1, 2), (2, 3), (0, 1), (4, 4))]]
    assert (bootstrap([sample], resamples=99) == bootstrap([sample], resamples=99)).all()


def test_seeds_are_averaged_and_unequal_numbers_of_them_are_no_matter() -> None:
    one, other = [accuracy((1, 1), (0, 1), (1, 1))], [accuracy((0, 1), (0, 1), (1, 1))]
    both, first, second = bootstrap([[one, other], [one], [other]], resamples=50)
    assert both == pytest.approx((first + second) / 2)


def test_folds_are_resampled_each_by_itself() -> None:
    right, wrong = accuracy((1, 1), (1, 1)), accuracy((0, 3), (0, 1), (0, 1))
    (drawn,) = bootstrap([[[right, wrong]]], resamples=50)
    assert (drawn == 0.5).all()  # rows of one fold never stand in for those of another


def test_the_interval_is_that_of_scipy_on_a_mean() -> None:
    values = np.random.default_rng(8).integers(0, 2, size=80)
    rows = SummedRows(metric=ACCURACY, statistics=np.c_[values, np.ones(80)])
    (drawn,) = bootstrap([[[rows]]], resamples=20000)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert interval(drawn) == pytest.approx((theirs.low, theirs.high), abs=0.0126)  # one row


def test_one_row_has_an_interval_of_no_width() -> None:
    (drawn,) = bootstrap([[[accuracy((3, 4))]]], resamples=20)
    assert interval(drawn) == (0.75, 0.75)


def test_resamples_without_a_score_are_left_out() -> None:
    spans = SpanF1Strict(TargetSpec(labels=("O", "B-X"), scheme="IOB2"))
    rows = SummedRows(metric=spans, statistics=np.array([[1.0, 1, 1], [0, 0, 0]]))
    (drawn,) = bootstrap([[[rows]]], resamples=400)
    assert np.isnan(drawn).mean() == pytest.approx(0.25, abs=0.08)
    assert interval(drawn) == (1.0, 1.0)
    assert np.isnan(interval(np.full(3, np.nan))).all()


def test_rows_without_targets_weigh_nothing() -> None:
    assert accuracy((1, 2), (0, 0)).score() == 0.5
    assert np.isnan(accuracy((0, 0)).score())


def test_each_row_has_its_own_score() -> None:
    rows = accuracy((1, 2), (0, 0), (3, 3))
    assert rows.row_scores() == pytest.approx([0.5, np.nan, 1.0], nan_ok=True)


def test_what_is_ranked_is_scored_on_the_cells_of_the_rows_that_are_in() -> None:
    cells = [np.array([[1.0, 0], [2, 0]]), np.empty((0, 2)), np.array([[9.0, 0]])]
    rows = RankedRows(metric=Median(TargetSpec()), cells=cells)
    weights = np.array([[1.0, 1, 1], [0, 0, 3], [2, 1, 0], [0, 3, 0]])
    assert rows.scores(weights) == pytest.approx([2, 9, 1, np.nan], nan_ok=True)
    assert rows.score() == 2
    assert len(rows) == 3
    assert np.isnan(rows.row_scores()).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 30), st.data())
def test_narrow_wide_and_sparse_statistics_score_alike(
    models: int, rows: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    narrow = MacroF1(TargetSpec(labels=("a", "b")))
    wide = MacroF1(TargetSpec(labels=tuple("abcdefgh")))
    several = []
    for _ in range(models):
        metric = wide if data.draw(st.booleans()) else narrow
        table = rng.integers(0, 3, size=(rows, metric.size)).astype(float)
        several.append(SummedRows(metric=metric, statistics=table))
    weights = draw_rows(rng, 4, rows)
    together = score_each(several, weights)
    alone = np.stack([model.scores(weights) for model in several])
    sparse = score_each(
        [SummedRows(metric=m.metric, statistics=csr_matrix(m.statistics)) for m in several], weights
    )
    np.testing.assert_allclose(together, alone)
    np.testing.assert_allclose(sparse, alone)
    np.testing.assert_allclose(
        alone[0],
        [several[0].metric.score(torch.from_numpy(w @ several[0].statistics)) for w in weights],
    )


def test_what_is_held_at_a_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 1000)
    assert list(blocks(100, 25)) == [10, 10, 5]
    assert list(blocks(5000, 2)) == [1, 1]


def test_how_much_is_held_at_a_time_changes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = [[accuracy((1, 2), (2, 3), (0, 1), (4, 4), (1, 5))]]
    expected = bootstrap([sample], resamples=99)
    monkeypatch.setattr(resampling, "_BLOCK_CELLS", 35)
    assert (bootstrap([sample], resamples=99) == expected).all()
