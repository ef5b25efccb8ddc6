"""Sweeps by Hydra's launchers and sweepers, typed as a user types them."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.errors import MissingConfigException

from seqtag.commands.front import run_command
from seqtag.commands.messages import explain
from seqtag.commands.outcome import Outcome

SENTENCES = [["the DET", "saw NOUN"], ["I PRON", "saw VERB"], ["yes INTJ"]]
EXTRA = "an extra: pip install 'seqtag[sweeps]'"
HEADS = "encoder.num_heads=2"
TINY = [
    "encoder.num_layers=1",
    "encoder.feedforward_dim=8",
    "embedding.dim=8",
    "trainer.max_epochs=1",
]


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], list[str]]]:
    """The trainings of a command that only notes them: RMSE is the seed, and seed 3 fails."""
    noted: list[tuple[dict[str, Any], list[str]]] = []

    def train(config: dict[str, Any], overrides: list[str]) -> Outcome:
        noted.append((config, overrides))
        if config["seed"] == 3:
            raise ValueError("seed 3 is refused")
        score = math.nan if config["seed"] == 4 else float(config["seed"])
        folder = Path("runs") / str(config["seed"])
        return Outcome(folder=folder, name="dev/rmse", score=score, higher_is_better=False)

    monkeypatch.setattr("seqtag.commands.train.train", train)
    return noted


def records(runs: Path) -> list[dict[str, Any]]:
    paths = sorted(runs.glob("sweeps/*/*/job.json"), key=lambda path: int(path.parent.name))
    return [json.loads(path.read_text()) for path in paths]


def test_a_job_that_fails_does_not_end_the_others(
    trainings: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command("train", ["-m", "seed=4,3,2,1", "encoder.dim=32"]) == 1
    assert [config["seed"] for config, _ in trainings] == [4, 3, 2, 1]
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == [
        "job 0: seed=4: dev/rmse nan  runs/4",
        "job 1: seed=3: failed: seed 3 is refused",
        "job 2: seed=2: dev/rmse 2.0000  runs/2",
        "job 3: seed=1: dev/rmse 1.0000  runs/1",
        "best dev/rmse: job 3",
        "runs/1",
    ]
    assert "error: seed 3 is refused" in err
    assert err.splitlines()[-1] == "error: 1 of 4 jobs failed"
    errors = [record["error"] for record in records(tmp_path / "runs")]
    assert errors == [None, "seed 3 is refused", None, None]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["sweeps"]


def test_the_record_of_a_job_is_the_line_that_would_run_it_alone(
    trainings: list[Any], tmp_path: Path
) -> None:
    words = ["seed=1", "encoder.dim=8,16", "optimizer.lr=0.1", f"runs={tmp_path / 'a, b'}"]
    assert run_command("train", ["-m", *words]) == 0
    runs = f"runs='{tmp_path / 'a, b'}'"
    common = ["experiment=pos", "seed=1", "optimizer.lr=0.1", runs]
    assert [said for _, said in trainings] == [
        [*common, "encoder.dim=8"],
        [*common, "encoder.dim=16"],
    ]


@pytest.mark.slow
def test_a_folder_that_is_used_again_holds_the_last_sweep(
    trainings: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"runs={tmp_path}", f"hydra.sweep.dir={tmp_path / 'sweeps' / 'mine'}"]
    assert run_command("train", ["-m", "seed=1,3", *words]) == 1
    capsys.readouterr()
    assert run_command("train", ["-m", "seed=2", *words]) == 0
    assert "failed" not in capsys.readouterr().out
    assert [record["score"] for record in records(tmp_path)] == [2]


@pytest.mark.parametrize(
    ("option", "package"),
    [
        ("hydra/launcher/joblib", "hydra-joblib-launcher"),
        ("hydra/launcher/submitit_slurm", "hydra-submitit-launcher"),
        ("hydra/sweeper/optuna", "hydra-optuna-sweeper"),
    ],
)
def test_a_package_that_is_not_installed_is_named(option: str, package: str) -> None:
    said = explain(MissingConfigException(f"In 'train': Could not find '{option}'\n\nAvailable"))
    assert package in said
    assert "pip install 'seqtag[sweeps]'" in said
    assert "\n" not in said


def test_only_train_searches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("compare", ["sweep=optuna"]) == 2
    assert "compare cannot do that" in capsys.readouterr().err


@pytest.mark.slow
def test_a_search_never_scores_the_test_split(
    trainings: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna", reason=EXTRA)
    words = ["sweep=optuna", "experiment=pos", "hydra.sweeper.n_trials=4", f"runs={tmp_path}"]
    # Without -m; seed 3 fails, and a fixed value is tried in every trial.
    assert run_command("train", [*words, "seed=choice(1,3,4)", "encoder.dim=64"]) == 1
    assert len(trainings) == 4
    assert not any(config["evaluate_test"] for config, _ in trainings)
    assert {config["encoder"]["dim"] for config, _ in trainings} == {64}
    assert all(1e-4 <= config["optimizer"]["lr"] <= 1e-2 for config, _ in trainings)
    assert len({config["optimizer"]["lr"] for config, _ in trainings}) == 4
    assert {1, 3} <= {config["seed"] for config, _ in trainings}
    (found,) = tmp_path.glob("sweeps/*/optimization_results.yaml")
    # The least RMSE, not the greatest.
    assert yaml.safe_load(found.read_text())["best_value"] == -1
    assert "Traceback" not in capsys.readouterr().err


@pytest.fixture
def typed(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Any]:
    """Sweep over tiny trainings: exit status, stdout and stderr."""
    for name, times in (("train", 4), ("dev", 1)):
        rows = "\n\n".join("\n".join(words) for words in SENTENCES * times)
        (tmp_path / f"{name}, it's.txt").write_text(rows + "\n", encoding="utf-8")

    def run_it(*words: str) -> tuple[int, str, str]:
        data = [f"data.{name}={tmp_path / name}, it's.txt" for name in ("train", "dev")]
        data += ["data=conll", "data.target=1"]
        status = run_command("train", [*data, *TINY, f"runs={tmp_path / 'runs'}", *words])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run_it


LAUNCHERS = [("joblib", "joblib"), ("submitit_local", "submitit")]


@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "package"), LAUNCHERS)
def test_launchers_train_in_other_processes(
    launcher: str, package: str, typed: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip(package, reason=EXTRA)
    words = ["-m", f"hydra/launcher={launcher}", "encoder.dim=8", "encoder.num_heads=2,3,4"]
    status, out, err = typed(*words)
    assert status == 1, err
    assert "Traceback" not in out + err
    assert "1 of 3 jobs failed" in err
    assert "job 1: encoder.num_heads=3: failed: encoder: dim (8) must be a multiple" in out
    runs = sorted(path.parent for path in tmp_path.glob("runs/tagging-attention/*/metrics.json"))
    assert len(runs) == 2
    assert out.splitlines()[-1] in map(str, runs)
    heads = [yaml.safe_load((run / "config.yaml").read_text())["encoder"] for run in runs]
    assert {encoder["num_heads"] for encoder in heads} == {2, 4}
    (sweep,) = (tmp_path / "runs" / "sweeps").iterdir()
    assert "best epoch: 1" in (sweep / "0" / "output.txt").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {
        "runs",
        "train, it's.txt",
        "dev, it's.txt",
    }


@pytest.mark.slow
def test_optuna_searches_by_the_dev_score(typed: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason=EXTRA)
    status, out, err = typed(
        "sweep=optuna",
        "hydra.sweeper.n_trials=3",
        "encoder.dim=choice(8,16)",
        "encoder.num_heads=2",
    )
    assert status == 0, err
    runs = sorted(path.parent for path in tmp_path.glob("runs/tagging-attention/*/metrics.json"))
    scores = {str(run): json.loads((run / "metrics.json").read_text()) for run in runs}
    assert len(runs) == 3
    assert not any(key.startswith("test/") for metrics in scores.values() for key in metrics)
    best = max(metrics["dev/accuracy"] for metrics in scores.values())
    assert scores[out.splitlines()[-1]]["dev/accuracy"] == best
    (found,) = tmp_path.glob("runs/sweeps/*/optimization_results.yaml")
    assert yaml.safe_load(found.read_text())["best_value"] == pytest.approx(best)
