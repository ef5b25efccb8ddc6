from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seqtag.batch import TargetSpec
from seqtag.comparison.contenders import Entry
from seqtag.comparison.entrants import Entrant, find_floors, remark_schemes
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.numbers import R2, RootMeanSquaredError
from seqtag.evaluation.spans import SpanF1Conlleval, SpanF1Strict

IOB2 = TargetSpec(labels=("O", "B-X", "I-X"), scheme="IOB2")
IOBES = TargetSpec(labels=("O", "B-X", "I-X", "E-X", "S-X"), scheme="IOBES", file_scheme="IOB2")
KINDS: dict[str, Any] = {
    "accuracy": Accuracy,
    "macro_f1": MacroF1,
    "span_f1": SpanF1Strict,
    "span_f1_conlleval": SpanF1Conlleval,
    "rmse": RootMeanSquaredError,
    "r2": R2,
}


def entry(name: str, spec: TargetSpec, floor: float = 0.5) -> Entry:
    """A run of which nothing is known but what it learnt and the score of the floor beside it."""
    measures = {n: kind(spec) for n, kind in KINDS.items() if kind.applies(spec)}
    metrics = {"floor/test/accuracy": floor}
    made: Any = Entry(
        record=SimpleNamespace(folder=Path(name), metrics=metrics),  # type: ignore[arg-type]
        table=SimpleNamespace(spec=spec, measures=measures, floors={"floor": {}}),  # type: ignore[arg-type]
    )
    return made


def entrant(name: str, *specs: TargetSpec) -> Entrant:
    runs = [[entry(f"{name}{seed}", spec)] for seed, spec in enumerate(specs)]
    return Entrant(name=name, runs=runs, group=None)


def test_what_columns_mean() -> None:
    one, other = entrant("one", IOB2), entrant("other", IOBES)
    for measure in ("span_f1", "span_f1_conlleval"):
        assert one.columns(measure) == other.columns(measure)
    for measure in ("accuracy", "macro_f1"):
        assert one.columns(measure) != other.columns(measure)
    further = entrant("further", TargetSpec(labels=("O", "B-X", "I-X", "B-Y"), scheme="IOB2"))
    assert one.columns("accuracy") == further.columns("accuracy")
    assert one.columns("macro_f1") != further.columns("macro_f1")
    means = [entrant("mean", TargetSpec(mean=(m,), deviation=(1.0,))) for m in (0.0, 1.0)]
    assert means[0].columns("rmse") == means[1].columns("rmse")
    assert means[0].columns("r2") != means[1].columns("r2")


def test_columns_that_seeds_share() -> None:
    assert entrant("a", IOB2, IOB2).shared_columns("macro_f1") is not None
    assert entrant("a", IOB2, IOBES).shared_columns("macro_f1") is None


def test_two_schemes_are_said_once() -> None:
    measures = ["accuracy", "macro_f1", "span_f1", "span_f1_conlleval"]
    found = list(remark_schemes([entrant("a", IOB2), entrant("b", IOBES)], measures))
    assert found == [
        "not one span scheme: IOB2 a; IOBES b. Each is scored in its own by "
        "accuracy, macro_f1, span_f1"
    ]
    assert not list(remark_schemes([entrant("a", IOB2), entrant("b", IOB2)], measures))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (IOBES, "which learnt other span schemes"),
        (TargetSpec(labels=("O", "B-X", "I-X", "B-Y"), scheme="IOB2"), "which learnt other labels"),
        (IOB2, "which learnt from other rows"),
    ],
)
def test_why_floors_are_not_the_same(spec: TargetSpec, said: str) -> None:
    runs = [
        Entrant(name=name, runs=[[entry(name, own, floor)]], group=None)
        for name, own, floor in (("a", IOB2, 0.5), ("b", spec, 0.6))
    ]
    _, (note,) = find_floors(runs, "test", ["accuracy"])
    assert note == (
        f"the floor 'floor' is not the same beside all runs, {said}; it is the one beside a"
    )
