import pytest

from seqtag.training.schedule import Constant, Cosine, Linear, Schedule, parse_time


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


def test_time_is_read_as_days_hours_minutes_seconds() -> None:
    assert parse_time("01:02:03:04").total_seconds() == 86400 + 7200 + 180 + 4
    for wrong in ("5", "00:05:00", "a:b:c:d", "00:00:-5:00"):
        with pytest.raises(ValueError, match="DD:HH:MM:SS"):
            parse_time(wrong)
