import pytest
import torch

from seqtag.configuration import build, compose, options
from seqtag.training.schedule import (
    Constant,
    Cosine,
    InverseSquareRoot,
    Linear,
    OneCycle,
    Schedule,
    parse_time,
)


def test_the_factor_rises_then_falls() -> None:
    schedule = Linear(warmup=0.1, floor=0.0)
    assert schedule.factor(0.0) == 0.01
    assert schedule.factor(0.05) == pytest.approx(0.5)
    assert schedule.factor(0.1) == pytest.approx(1.0)
    assert schedule.factor(0.55) == pytest.approx(0.5)
    assert schedule.factor(1.0) == pytest.approx(0.0)


def test_cosine_is_halfway_in_the_middle_and_ends_at_its_floor() -> None:
    schedule = Cosine(warmup=0.0, floor=0.2)
    assert schedule.factor(0.0) == pytest.approx(1.0)
    assert schedule.factor(0.5) == pytest.approx(0.6)
    assert schedule.factor(1.0) == pytest.approx(0.2)


def test_constant_stays() -> None:
    assert {Constant(warmup=0.0).factor(share) for share in (0.0, 0.3, 1.0)} == {1.0}


@pytest.mark.parametrize("kind", [Linear, Cosine])
@pytest.mark.parametrize("warmup", [-0.1, 1.0, 5.0])
def test_a_warmup_that_is_no_share_is_refused(kind: type[Schedule], warmup: float) -> None:
    with pytest.raises(ValueError, match=r"scheduler\.warmup"):
        kind(warmup=warmup, floor=0.0)  # type: ignore[call-arg]


def test_one_cycle_rises_from_its_start_and_falls_to_its_floor() -> None:
    schedule = OneCycle(warmup=0.4, start=0.2, floor=0.1)
    assert schedule.factor(0.0) == pytest.approx(0.2)
    assert schedule.factor(0.2) == pytest.approx(0.6)  # half way up from 0.2 to 1
    assert schedule.factor(0.4) == pytest.approx(1.0)
    assert schedule.factor(0.7) == pytest.approx(0.55)  # half way down from 1 to 0.1
    assert schedule.factor(1.0) == pytest.approx(0.1)


def test_one_cycle_is_that_of_torch() -> None:
    steps, share = 50, 0.3
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=2.0, total_steps=steps, pct_start=share, div_factor=10
    )
    # Theirs counts from step 0 to step 49, and is at its height one step before the share.
    ours = OneCycle(warmup=(share * steps - 1) / (steps - 1), start=0.1, floor=0.1 / 1e4)
    for step in range(steps):
        assert 2.0 * ours.factor(step / (steps - 1)) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        if step + 1 < steps:
            theirs.step()


def test_the_inverse_square_root_halves_at_four_times_the_warmup() -> None:
    schedule = InverseSquareRoot(warmup=0.04)
    assert schedule.factor(0.02) == pytest.approx(0.5)
    assert schedule.factor(0.04) == pytest.approx(1.0)
    assert schedule.factor(0.16) == pytest.approx(0.5)
    assert schedule.factor(0.36) == pytest.approx(1 / 3)
    assert schedule.factor(1.0) == pytest.approx(0.2)


def test_the_inverse_square_root_is_that_of_the_paper() -> None:
    warm, steps = 4000, 100_000
    schedule = InverseSquareRoot(warmup=warm / steps)
    for step in (100, 3999, 4000, 4001, 25_000, 100_000):
        paper = min(step**-0.5, step * warm**-1.5)  # but for the model's width
        assert schedule.factor(step / steps) == pytest.approx(paper / warm**-0.5)


@pytest.mark.parametrize("name", options("scheduler"))
def test_every_schedule_is_a_share_and_makes_no_leap(name: str) -> None:
    config = compose("train", [f"scheduler={name}", "data.train=x"])
    schedule = build(config["scheduler"], kinds=(Schedule,), name="scheduler")
    factors = [schedule.factor(step / 10_000) for step in range(10_001)]
    assert factors[0] > 0
    assert max(factors) == pytest.approx(1.0)
    assert all(0 <= factor <= 1 + 1e-12 for factor in factors)
    # The steepest, a rise over a twentieth of the training, climbs by 20 / 10,000 a step.
    first = 100 if schedule.warmup else 0  # the very first steps stay at 0.01
    assert all(abs(factors[step + 1] - factors[step]) < 0.0021 for step in range(first, 10_000))
    end = schedule.warmup
    assert schedule.factor(end) == pytest.approx(1.0)
    assert schedule.factor(max(end - 1e-9, 0.0)) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"warmup": 0.0}, r"scheduler\.warmup is 0;"),
        ({"warmup": 1.0}, r"scheduler\.warmup is 1\.0"),
        ({"start": 0.0}, r"scheduler\.start is 0\.0"),
        ({"start": 1.5}, r"scheduler\.start is 1\.5"),
        ({"floor": -0.1}, r"scheduler\.floor is -0\.1"),
        ({"floor": 2.0}, r"scheduler\.floor is 2\.0"),
    ],
)
def test_a_cycle_that_is_none_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OneCycle(**({"warmup": 0.3, "start": 0.1, "floor": 0.0} | settings))


@pytest.mark.parametrize("warmup", [-0.1, 0.0, 1.0])
def test_an_inverse_square_root_without_a_rise_is_refused(warmup: float) -> None:
    with pytest.raises(ValueError, match=r"scheduler\.warmup"):
        InverseSquareRoot(warmup=warmup)


def test_time_is_read_as_days_hours_minutes_seconds() -> None:
    assert parse_time("01:02:03:04").total_seconds() == 86400 + 7200 + 180 + 4
    for wrong in ("5", "00:05:00", "a:b:c:d", "00:00:-5:00"):
        with pytest.raises(ValueError, match="DD:HH:MM:SS"):
            parse_time(wrong)
