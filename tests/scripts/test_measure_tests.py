import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "measure_tests.py"
PAIRS = 300


@pytest.fixture
def measure_tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with fewer draws."""
    spec = importlib.util.spec_from_file_location("measure_tests", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "measure_tests", script)  # its dataclass looks there
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "RESAMPLES", 600)
    monkeypatch.setattr(script, "SHUFFLES", 1000)
    monkeypatch.setattr(script, "TRUTH_ROWS", 400_000)
    return script


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rows", "seeds", "folds", "least"),
    [
        ("token accuracy", 200, 1, 1, 0.02),
        ("span F1", 200, 3, 1, 0.02),
        ("macro F1", 300, 1, 1, 0.02),
        # Of a hundred rows two models differ on some thirty: p takes few values, and the next one
        # below 0.05 may lie well below.
        ("exact match", 100, 1, 1, 0.01),
        ("exact match", 200, 3, 2, 0.015),
    ],
)
def test_false_alarms_and_intervals(
    measure_tests: ModuleType, kind: str, rows: int, seeds: int, folds: int, least: float
) -> None:
    found = measure_tests.measure(kind, rows, seeds, folds, PAIRS)
    # Three standard errors of a share of 5 per cent are 3.8 per cent of 300 pairs.
    assert least <= found.false_alarms <= 0.088
    assert least <= found.bootstrap_alarms <= 0.095
    assert 0.905 <= found.coverage <= 0.985
    assert 0.905 <= found.difference_coverage <= 0.985
    assert found.power > found.false_alarms
