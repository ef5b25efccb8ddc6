import pytest
import torch

from seqtag.batch import WORD
from seqtag.claims.parallel import ATTENTION, LSTM, PAIRS, Parallel, crossing


def small(**changes: object) -> Parallel:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "encoders": {
            LSTM: "encoder=lstm encoder.dim=8 embedding.dim=8",
            ATTENTION: "encoder=attention encoder.dim=8 embedding.dim=8",
        },
        "parameters": None,
        "longest": [32, 128],
        "tokens": 64,
        "repetitions": 1,
    }
    return Parallel(**(settings | changes))  # type: ignore[arg-type]


def made_rows(lstm: list[float], attention: list[float]) -> list[dict[str, object]]:
    """Microseconds at lengths 16, 32, 64, ..., the same with two seeds."""
    return [
        {
            "model": name,
            "length": 16 * 2**place,
            "microseconds": value,
            "parameters": None if name == PAIRS else 100,
            "threads": 1,
            "device": "cpu",
            "seed": seed,
        }
        for seed in (1, 2)
        for name, values in {LSTM: lstm, ATTENTION: attention, PAIRS: attention}.items()
        for place, value in enumerate(values)
    ]


def test_batches_have_as_many_tokens_at_every_length():
    claim = small()
    shapes = [tuple(claim.draw(torch.Generator(), n).inputs[WORD].shape) for n in (16, 32, 128)]
    assert shapes == [(4, 16), (2, 32), (1, 128)]
    assert small(full=True).lengths == [16, 32, 64, 128]


def test_the_median_counts_and_the_first_call_does_not(monkeypatch):
    claim = small(repetitions=3)
    clock = iter([0.0, 100.0, 0.0, 1.0, 0.0, 9.0, 0.0, 2.0])
    monkeypatch.setattr(claim, "_now", lambda: next(clock))
    assert claim.time_in_turns({"one": lambda: None}) == {"one": 2.0}


def test_models_take_turns():
    called: list[str] = []
    small(repetitions=1).time_in_turns({name: lambda n=name: called.append(n) for name in "ab"})
    assert called == ["a", "b", "a", "b"]


def test_the_crossing_lies_between_the_lengths_around_it():
    assert crossing({16: 0.5, 32: 2.0}) == pytest.approx(16 * 2**0.5)
    assert crossing({16: 2.0, 32: 0.5, 64: 1.0, 128: 4.0}) == pytest.approx(64)
    assert crossing({16: 2.0, 32: 0.5}) is None  # not overtaken yet
    assert crossing({16: 2.0, 32: 3.0}) is None  # slower at all


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 3 * 2
    assert all(set(row) >= {*claim.keys, *claim.measures} for row in rows)
    assert all(row["microseconds"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("lstm", "attention", "held", "says"),
    [
        ([4, 4, 4], [2, 4, 8], True, "faster from 16 up to length 32"),
        ([4, 4, 4], [2, 2, 2], True, "faster from 16 up to 64"),
        ([4, 4, 4], [5, 5, 9], False, "faster at no length"),
    ],
)
def test_the_verdict_follows_from_the_rows(
    lstm: list[float], attention: list[float], held: bool, says: str
) -> None:
    verdict = small().verdict(made_rows(lstm, attention))
    assert verdict.held is held
    assert says in verdict.line


def test_other_models_than_the_two_are_refused():
    with pytest.raises(ValueError, match=r"claim\.encoders is of cnn; it must be of LSTM"):
        small(encoders={"cnn": "encoder=cnn"})
