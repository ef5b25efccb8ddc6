"""A comparison that is killed half way and started again says what an uninterrupted one says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FILES, SMALL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[3]
VARIANTS = ("window", "pointwise", "far")
CLOCK = {"train/seconds", "train/tokens_per_second"}


def command(folder: Path, output: Path) -> list[str]:
    words = [word for word in SMALL if not word.startswith(("encoder", "trainer"))]
    data = [f"data.{split}={folder / split}" for split in FILES["tagging"]]
    own = ["seeds=1", "processes=1", "resamples=200", "examples=0", f"output={output}"]
    variants = (
        "variants={window: [encoder=window, encoder.radius=1], pointwise: encoder=pointwise, "
        "far: [encoder=window, encoder.radius=2]}"
    )
    sizes = ["encoder.dim=8", "encoder.num_layers=1", "trainer.max_epochs=40"]
    return [
        *(sys.executable, "-m", "seqtag", "compare", variants, "task=tagging", "data=conll"),
        *(*words, *data, *own, *sizes),
    ]


def runs(output: Path) -> list[Path]:
    """The finished run of each cell."""
    found = []
    for variant in VARIANTS:
        (file,) = (output / variant / "seed-1").glob("*/*/metrics.json")
        found.append(file.parent)
    return found


def scores(run: Path) -> dict[str, Any]:
    metrics = json.loads((run / "metrics.json").read_text())
    return {name: value for name, value in metrics.items() if name not in CLOCK}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("data")
    for split, text in FILES["tagging"].items():
        (made / split).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """The comparison that nothing interrupts."""
    output = folder / "whole"
    done = subprocess.run(command(folder, output), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(output / "report.html")
    assert (output / "report.html").is_file()
    return output


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_started_again_it_goes_on(
    folder: Path, whole: Path, tmp_path: Path, end: signal.Signals
) -> None:
    output = tmp_path / "out"
    with subprocess.Popen(
        command(folder, output),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "COMPARED_IN": str(tmp_path)},
    ) as process:
        deadline = time.monotonic() + 240
        # The first cell is finished, and the second has come past an epoch.
        while not list((output / "pointwise" / "seed-1").glob("*/*/last.ckpt")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(end)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    if end is signal.SIGINT:
        assert process.returncode == 130
        assert "1 of 3 trainings are finished; the same command goes on from there" in said
    else:
        assert process.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while _marked(f"COMPARED_IN={tmp_path}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _marked(f"COMPARED_IN={tmp_path}") == [], "no training goes on beside the next"
    (first,) = (output / "window" / "seed-1").glob("*/*/metrics.json")
    (second,) = (output / "pointwise" / "seed-1").glob("*/*/last.ckpt")
    assert not (second.parent / "metrics.json").exists()
    stamp = first.stat().st_mtime_ns

    done = subprocess.run(command(folder, output), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "[1/3] window, seed 1: test/accuracy" in done.stderr
    assert "kept from before" in done.stderr
    assert first.stat().st_mtime_ns == stamp
    found = runs(output)
    assert found[1] == second.parent, "it went on in its run directory"
    assert "going on after epoch" in (found[1] / "log.txt").read_text()
    assert [scores(run) for run in found] == [scores(run) for run in runs(whole)]
    assert _said_of_scores(output) == _said_of_scores(whole)


def _said_of_scores(output: Path) -> Any:
    """The scores and tests in the results of a comparison."""
    results = json.loads((output / "results.json").read_text())
    contenders = [(c["name"], c["scores"], c["seeds"]) for c in results["contenders"]]
    return contenders, results["pairs"]


def _marked(mark: str) -> list[str]:
    """The processes that inherited a mark."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:
            continue  # it is another user's, or has ended
    return found
