"""What is said of the time that is left, and of each training."""

import time

import pytest

from seqtag.comparison.trainings.plan import Cell
from seqtag.comparison.trainings.progress import Bar


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock, in seconds."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    return clock


def bar(processes: int) -> Bar:
    cells = [
        Cell(variant=variant, seed=seed, fold=None, folds=None, config={}, overrides=[])
        for seed in (1, 2)
        for variant in ("fast", "slow")
    ]
    return Bar(cells, processes=processes)


def test_time_left_is_the_mean_of_each_variant(now: list[float]) -> None:
    one = bar(1)
    assert one.seconds_left() is None
    one.trained(0, 10.0, {})
    assert one.seconds_left() == 30.0, "what was not seen yet takes the mean of the others"
    one.trained(1, 40.0, {})
    assert one.seconds_left() == 50.0
    one.started(2)
    now[0] += 4
    assert one.seconds_left() == 46.0
    now[0] += 60
    assert one.seconds_left() == 40.0, "a training that takes longer is nearly over"


def test_time_left_is_shared_by_processes(now: list[float]) -> None:
    two = bar(2)
    two.trained(0, 10.0, {})
    two.kept(1, {})
    assert two.seconds_left() == 10.0
    two.failed(2, "diverged")
    assert two.seconds_left() == 10.0, "the last one is not shared"


def test_each_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with bar(1) as one:
        one.kept(0, {"accuracy": 0.95812})
        one.started(1)
        one.waiting()
        one.trained(1, 12.4, {"rmse": 1234.5})
        one.failed(3, "the loss [nan] is no number " + "x" * 200)
    assert capsys.readouterr().err.splitlines() == [
        "[1/4] fast, seed 1: accuracy 0.9581, kept from before",
        "[2/4] slow, seed 1: rmse 1234, 12 s",
        "[3/4] slow, seed 2: failed: the loss [nan] is no number " + "x" * 200,
    ]
