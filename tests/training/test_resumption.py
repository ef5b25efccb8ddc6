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


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_to_what_an_uninterrupted_one_gives(
    workers: int, tmp_path: Path
) -> None:
    words = [*SMALL, f"batching.num_workers={workers}"]
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
    assert train(f"resume={run}", f"from={run}") == 1
    assert "not both" in capsys.readouterr().err


def test_from_repeats_a_run_and_says_nothing_of_the_sample(tmp_path: Path) -> None:
    assert train(*SMALL, "trainer.max_steps=3", f"runs={tmp_path / 'first'}") == 0
    first = only_run(tmp_path / "first")
    assert train(f"from={first}", f"runs={tmp_path / 'again'}") == 0
    assert scores(only_run(tmp_path / "again")) == scores(first)
    assert train(f"from={first}", "seed=2", "encoder=lstm", f"runs={tmp_path / 'other'}") == 0
    assert only_run(tmp_path / "other").parent.name == "classification-lstm"
