import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from seqtag.commands.front import run_command

SMALL = [
    "experiment=hydrophilic",
    "encoder.dim=16",
    "encoder.num_layers=1",
    "embedding.dim=16",
    "trainer.max_epochs=5",
    "evaluate_test=true",
]


def train(*words: str) -> int:
    return run_command("train", list(words))


def only_run(parent: Path) -> Path:
    (folder,) = parent.glob("*/*")
    return folder


def scores(run: Path) -> dict[str, float]:
    metrics = json.loads((run / "metrics.json").read_text())
    return {name: value for name, value in metrics.items() if not name.startswith("train/")}


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("trainer.max_steps=140", marks=pytest.mark.slow),
        pytest.param("batching.num_workers=2", marks=pytest.mark.slow),
        pytest.param("trainer.accumulate_grad_batches=3", marks=pytest.mark.slow),
        pytest.param("data.streaming=true", marks=pytest.mark.slow),
    ],
)
def test_a_killed_run_goes_on_to_what_an_uninterrupted_one_gives(
    setting: str, tmp_path: Path
) -> None:
    words = [*SMALL, setting]
    assert train(*words, f"runs={tmp_path / 'whole'}") == 0
    whole = only_run(tmp_path / "whole")

    command = [sys.executable, "-m", "seqtag", "train", *words, f"runs={tmp_path / 'killed'}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("epoch 3"):
                process.send_signal(signal.SIGKILL)
                break
    killed = only_run(tmp_path / "killed")
    assert not (killed / "metrics.json").exists()
    assert train(f"resume={killed}") == 0

    assert scores(killed) == scores(whole)
    for name in ("best.ckpt", "last.ckpt"):
        ours = torch.load(killed / name, weights_only=True)["state_dict"]
        theirs = torch.load(whole / name, weights_only=True)["state_dict"]
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    column = [line.split(",")[:2] for line in (killed / "metrics.csv").read_text().splitlines()]
    assert column == [
        line.split(",")[:2] for line in (whole / "metrics.csv").read_text().splitlines()
    ]
    assert "going on after epoch" in (killed / "log.txt").read_text()


def test_the_last_epoch_is_kept_though_it_is_not_the_best(tmp_path: Path) -> None:
    # At a rate this low nothing that dev counts ever changes: the first epoch stays the best.
    words = [*SMALL, "trainer.max_epochs=2", "optimizer.lr=1e-12", f"runs={tmp_path}"]
    assert train(*words) == 0
    run = only_run(tmp_path)
    epochs = {
        name: torch.load(run / name, weights_only=True)["epoch"]
        for name in ("best.ckpt", "last.ckpt")
    }
    assert epochs == {"best.ckpt": 0, "last.ckpt": 1}
    assert "best epoch: 1 of the 2 that ran" in (run / "log.txt").read_text()


def test_a_refused_resumption_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*SMALL, "trainer.max_epochs=2", f"runs={tmp_path}") == 0
    run = only_run(tmp_path)
    (run / "metrics.json").unlink()
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    capsys.readouterr()
    assert train(f"resume={run}", "trainer.max_epochs=1") == 1
    assert "has come to epoch 2, and trainer.max_epochs is 1" in capsys.readouterr().err
    assert train(f"resume={run}", "encoder.dim=8") == 1
    assert "do not fit the config" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


@pytest.mark.parametrize("limit", ["trainer.max_epochs=2", "trainer.max_steps=40"])
def test_a_run_killed_while_it_was_scored_is_scored(limit: str, tmp_path: Path) -> None:
    assert train(*SMALL, limit, f"runs={tmp_path}") == 0
    run = only_run(tmp_path)
    expected = scores(run)
    record = (run / "overrides.yaml").read_text()
    (run / "metrics.json").unlink()
    assert train(f"resume={run}") == 0
    assert scores(run) == expected
    assert json.loads((run / "metrics.json").read_text())["train/seconds"] > 0
    (earlier,) = (run / "earlier").iterdir()
    assert (earlier / "overrides.yaml").read_text() == record


def test_what_cannot_be_resumed_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*SMALL, "trainer.max_steps=1", f"runs={tmp_path}") == 0
    run = only_run(tmp_path)
    capsys.readouterr()
    assert train(f"resume={run}") == 1
    assert "is finished" in capsys.readouterr().err
    (run / "metrics.json").unlink()
    (run / "last.ckpt").unlink()
    assert train(f"resume={run}") == 1
    assert "ended before its first look at dev" in capsys.readouterr().err
    assert train(f"resume={tmp_path / 'nowhere'}") == 1
    assert "is not a run directory" in capsys.readouterr().err
    assert train(f"resume={run}", f"from={run}") == 2
    assert "not both" in capsys.readouterr().err


def test_from_repeats_a_run_and_says_nothing_of_the_sample(tmp_path: Path) -> None:
    assert train(*SMALL, "trainer.max_steps=3", f"runs={tmp_path / 'first'}") == 0
    first = only_run(tmp_path / "first")
    assert train(f"from={first}", f"runs={tmp_path / 'again'}") == 0
    assert scores(only_run(tmp_path / "again")) == scores(first)
    assert train(f"from={first}", "seed=2", "encoder=lstm", f"runs={tmp_path / 'other'}") == 0
    assert only_run(tmp_path / "other").parent.name == "classification-lstm"
