"""The table of results is made run by run, and what is finished is never lost or made twice."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

TRAINING = """
import json, os, pathlib, sys, tempfile
words = dict(word.split("=", 1) for word in sys.argv[1:])
with open(os.environ["CALLS"], "a") as calls:
    calls.write(" ".join(sys.argv[1:3]) + " threads=" + os.environ["OMP_NUM_THREADS"] + "\\n")
if words["seed"] == os.environ.get("FAILS"):
    sys.exit("no such luck")
os.makedirs(words["runs"], exist_ok=True)
folder = pathlib.Path(tempfile.mkdtemp(dir=words["runs"]))
score = int(words["seed"]) / 10
metrics = {"test/accuracy": score, "floor/test/accuracy": 0.05, "parameters": 1234,
           "train/seconds": 10 * score}
if "encoder" in words:
    metrics["floor_word/test/accuracy"] = 0.25
(folder / "metrics.json").write_text(json.dumps(metrics))
(folder / "environment.json").write_text(json.dumps({"device": "cpu"}))
print("scores")
print(folder)
"""


def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = ROOT / "scripts" / "results.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "results", module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with two rows, and with a training that only writes down what it was asked."""
    module = load(monkeypatch)
    training = tmp_path / "training.py"
    training.write_text(TRAINING)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(module, "TRAIN", (sys.executable, str(training)))
    score = module.Measure("test/accuracy", "accuracy", digits=2)
    mark = ("digits", "linear_accuracy_test", "logistic regression")
    window = ("experiment=pos", "encoder=window")
    rows = [
        module.Row("digits", ("experiment=pos",), (score,), (mark,), seeds=(1, 2)),
        module.Row("fc", window, (score,), seeds=(3,)),
    ]
    monkeypatch.setattr(module, "ROWS", rows)
    return module


def call(results: ModuleType, monkeypatch: pytest.MonkeyPatch, runs: Path, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["results", "--runs", str(runs), *words])
    results.main()


def calls(tmp_path: Path) -> list[str]:
    path = tmp_path / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_each_run_is_made_once(
    results: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = tmp_path / "runs"
    call(results, monkeypatch, runs, "digits", "--threads", "2")
    assert calls(tmp_path) == [
        "experiment=pos seed=1 threads=2",
        "experiment=pos seed=2 threads=2",
    ]
    kept = json.loads((runs / "digits" / "2.json").read_text())
    assert kept["metrics"]["test/accuracy"] == 0.2
    assert kept["command"][3:] == ["train", "experiment=pos", "seed=2", "evaluate_test=true"]
    assert kept["machine"] == {"cores": os.cpu_count(), "threads": 2, "device": "cpu"}
    call(results, monkeypatch, runs)
    assert calls(tmp_path)[2:] == ["experiment=pos encoder=window threads=1"]
    assert "[3/3] fc, seed 3: accuracy 0.30, 3 s" in capsys.readouterr().out
    call(results, monkeypatch, runs, "--list")
    assert [line.split()[:4] for line in capsys.readouterr().out.splitlines()] == [
        ["digits", "2", "of", "2"],
        ["fc", "1", "of", "1"],
    ]


@pytest.mark.slow
def test_a_run_is_made_again_where_its_config_has_changed(
    results: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = tmp_path / "runs"
    call(results, monkeypatch, runs, "fc")
    changed = replace(results.ROWS[1], overrides=("experiment=pos", "encoder.dim=64"))
    monkeypatch.setattr(results, "ROWS", [changed])
    with pytest.raises(SystemExit, match="no finished run"):
        call(results, monkeypatch, runs, "--table")
    assert "left out, its config has changed: fc, seed 3" in capsys.readouterr().err
    call(results, monkeypatch, runs)
    assert len(calls(tmp_path)) == 1 + 1
    # Where the data lie is no change.
    before = results.fingerprint(changed, 1)
    monkeypatch.setenv("SEQTAG_BENCHMARK_DATA", "/elsewhere")
    assert results.fingerprint(changed, 1) == before
    assert os.environ["SEQTAG_BENCHMARK_DATA"] == "/elsewhere"
    public = replace(changed, overrides=("experiment=esol",))
    before = results.fingerprint(public, 1)
    monkeypatch.delenv("SEQTAG_BENCHMARK_DATA")
    assert results.fingerprint(public, 1) == before
    assert "SEQTAG_BENCHMARK_DATA" not in os.environ
    assert results.fingerprint(public, 2) != before


@pytest.mark.slow
def test_a_failure_is_said_and_leaves_the_others(
    results: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    monkeypatch.setenv("FAILS", "1")
    nowhere = replace(results.ROWS[1], name="nowhere", overrides=("experiment=no_such",))
    wrong = replace(results.ROWS[1], name="wrong", measures=(results.MOLES,))
    monkeypatch.setattr(results, "ROWS", [*results.ROWS, nowhere, wrong])
    with pytest.raises(SystemExit) as stopped:
        call(results, monkeypatch, runs)
    message = str(stopped.value)
    assert "digits, seed 1: exit status 1: no such luck" in message
    assert "nowhere, seed 3: " in message
    assert "no_such" in message
    assert "wrong, seed 3: " in message
    assert "has no test/rmse" in message
    assert sorted(path.name for path in runs.glob("*/*.json")) == ["2.json", "3.json"]
    monkeypatch.delenv("FAILS")
    monkeypatch.setattr(results, "ROWS", results.ROWS[:2])
    call(results, monkeypatch, runs)
    assert sum("seed=1" in line for line in calls(tmp_path)) == 2
    assert sum("seed=2" in line for line in calls(tmp_path)) == 1


def test_an_interruption_keeps_what_is_finished(
    results: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, train = tmp_path / "runs", results.run

    def interrupted(runs: Path, row: object, seed: int, threads: int) -> dict[str, object]:
        if seed == 2:
            raise KeyboardInterrupt
        return train(runs, row, seed, threads)

    monkeypatch.setattr(results, "run", interrupted)
    with pytest.raises(SystemExit, match="interrupted"):
        call(results, monkeypatch, runs)
    assert [path.name for path in runs.glob("*/*.json")] == ["1.json"]


@pytest.mark.slow
def test_the_table_holds_means_deviations_and_marks(
    results: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = tmp_path / "runs"
    call(results, monkeypatch, runs)
    capsys.readouterr()
    call(results, monkeypatch, runs, "--table")
    lines = capsys.readouterr().out.splitlines()
    assert {line.count("|") for line in lines[:4]} == {7}
    # 0.1 and 0.2: mean 0.15, deviation sqrt(0.005) = 0.0707; 1 and 2 seconds.
    assert lines[2] == (
        "| `experiment=pos` | 1, 2 | accuracy 0.15 ± 0.07 "
        "| 0.05; 0.96 (logistic regression) | 1,234 | 2 |"
    )
    assert lines[3] == (
        "| `experiment=pos encoder=window` | 3 | accuracy 0.30 "
        "| 0.05; 0.25 (the word alone) | 1,234 | 3 |"
    )
    assert lines[-1].endswith(f"on: cpu, 1 thread of {os.cpu_count()} cores.")
    readme = tmp_path / "README.md"
    readme.write_text(f"# A\n\n{results.BEGIN}\nold\n{results.END}\n\nend\n")
    call(results, monkeypatch, runs, "--readme", str(readme))
    text = readme.read_text()
    assert text == f"# A\n\n{results.BEGIN}\n" + "\n".join(lines) + f"\n{results.END}\n\nend\n"
    call(results, monkeypatch, runs, "--readme", str(readme))
    assert readme.read_text() == text


@pytest.mark.parametrize("text", ["none", "<!-- results:end --> <!-- results:begin -->"])
def test_a_readme_without_the_markers_is_left_alone(
    results: ModuleType, tmp_path: Path, text: str
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)
    with pytest.raises(ValueError, match="results:begin"):
        results.fill_in(readme, "table")
    assert readme.read_text() == text


def test_an_unknown_row_is_refused(
    results: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=r"no row nothing.*digits, fc"):
        call(results, monkeypatch, tmp_path, "nothing")
    assert [row.name for row in results.choose(["d*"])] == ["digits"]


def test_a_line_is_fitted_through_the_lengths_of_words(results: ModuleType, tmp_path: Path) -> None:
    # 100 ms and 10 ms a letter, exactly; on test 3 ms too many and 4 ms too few.
    train = tmp_path / "train.tsv"
    train.write_text("# word time\na\t110\t1\nabc\t130\t1\n\nab\t120\t1\nabcd\t_\t0\n")
    assert results.read_reading_times(train) == [("a", 110.0), ("abc", 130.0), ("ab", 120.0)]
    error = results.length_fit(
        results.read_reading_times(train), [("abcd", 143.0), ("abcdef", 156.0)]
    )
    assert error == pytest.approx(((9 + 16) / 2) ** 0.5)


@pytest.mark.slow
def test_a_real_training_is_read(
    results: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ("experiment=pos", "encoder=window", "encoder.dim=8", "trainer.max_steps=3")
    monkeypatch.setattr(results, "TRAIN", (sys.executable, "-m", "seqtag", "train"))
    monkeypatch.setattr(results, "ROWS", [replace(results.ROWS[0], overrides=small, seeds=(1,))])
    call(results, monkeypatch, tmp_path)
    kept = json.loads((tmp_path / "digits" / "1.json").read_text())
    assert Path(kept["run"], "best.ckpt").is_file()
    assert 0 < kept["metrics"]["test/accuracy"] < 1
    assert 0.2 < kept["metrics"]["floor/test/accuracy"] < 0.25


@pytest.mark.slow
def test_the_rows_of_the_project_compose_and_their_marks_are_stated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = load(monkeypatch)
    assert len({row.name for row in script.ROWS}) == len(script.ROWS)
    for row in script.ROWS:
        assert script.fingerprint(row, row.seeds[0])
        assert len(script.marks_of(replace(row, length_fit=False))) == len(row.marks)
