"""What is measured, what is kept, and what happens to it when something ends the measurement."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqtag.claims.job import Job, Measured, make_claim
from seqtag.claims.runner import measure_all

ROOT = Path(__file__).resolve().parents[2]
MARK = "MEASURED_IN"


class Heard:
    """Everything that a watcher is told."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int]] = []
        self.kept_seeds: list[int] = []
        self.finished_seeds: list[int] = []

    def row(self, claim: str, seed: int) -> None:
        self.rows.append((claim, seed))

    def kept(self, claim: str, seed: int, rows: int) -> None:
        self.kept_seeds.append(seed)

    def finished(self, claim: str, seed: int, seconds: float) -> None:
        self.finished_seeds.append(seed)


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Call it with settings: the config of a claim that counts."""
    monkeypatch.setenv("SEQTAG_TRUSTED", "tests.claims")
    # The processes of a measurement find what this one finds.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def make(alone: bool = False, **settings: Any) -> dict[str, Any]:
        return {
            "_target_": f"tests.claims.counting.Counting{'Alone' if alone else ''}",
            "seeds": [1, 2],
            "full": False,
            "device": "cpu",
            "folder": str(tmp_path),
            "count": 2,
            "fails": [],
            "dies": [],
            "seconds": 0.0,
            **settings,
        }

    return make


def measure(
    nodes: dict[str, dict[str, Any]], folder: Path, watcher: Heard, processes: int = 1
) -> dict[str, Measured]:
    claims = {name: make_claim(node) for name, node in nodes.items()}
    return measure_all(nodes, claims, folder, processes=processes, watcher=watcher)


def asked(folder: Path) -> list[str]:
    """The seeds that were measured since the last look."""
    file = folder / "asked.txt"
    lines = sorted(file.read_text().split("\n")[:-1]) if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def test_rows_come_seed_by_seed_and_a_finished_seed_is_not_measured_again(
    node, tmp_path: Path
) -> None:
    heard = Heard()
    found = measure({"a": node()}, tmp_path / "out", heard, 2)
    assert [(row["seed"], row["place"], row["number"]) for row in found["a"].rows] == [
        (1, "<0>", 0.1),
        (1, "<1>", 1.1),
        (2, "<0>", 0.2),
        (2, "<1>", 1.2),
    ]
    assert sorted(heard.rows) == [("a", 1), ("a", 1), ("a", 2), ("a", 2)]
    assert sorted(heard.finished_seeds) == [1, 2]
    assert asked(tmp_path) == ["1 of 2", "2 of 2"]

    more, heard = node(seeds=[1, 2, 3]), Heard()
    again = measure({"a": more}, tmp_path / "out", heard, 2)
    assert again["a"].rows[:4] == found["a"].rows
    assert (heard.kept_seeds, heard.finished_seeds) == ([1, 2], [3])
    assert asked(tmp_path) == ["3 of 2"]


def test_only_whole_files_of_the_same_settings_are_kept(node, tmp_path: Path) -> None:
    made = make_claim(node())
    job = Job("a", node(), made, 2, threads=1, file=tmp_path / "a" / "seed-2.json")
    assert job.kept() is None
    kept = job.keep([{"place": "<0>", "number": 0.2}])
    assert kept.rows == [{"place": "<0>", "number": 0.2}]
    assert job.kept() == kept
    assert replace(job, node=node(seeds=[2, 5])).kept() == kept
    assert replace(job, threads=9).kept() == kept, "threads are no matter where no time is measured"
    assert replace(job, node=node(count=3)).kept() is None
    assert replace(job, seed=3).kept() is None
    assert replace(job, claim=make_claim(node(alone=True))).kept() is None
    whole = job.file.read_text()
    for text in ("", "[]", whole[:-9], '{"settings": 1}', whole.replace('"code": "', '"code": "x')):
        job.file.write_text(text)
        assert job.kept() is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fails": [2]}, "claim=a, seed 2: no number is left"),
        ({"dies": [2]}, r"claim=a, seed 2: its process ended \(status 9\)"),
    ],
)
def test_a_failure_says_where_and_keeps_what_was_finished(
    node, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        measure({"a": node(**settings)}, tmp_path, Heard())
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["seed-1.json"]


@pytest.mark.slow
def test_what_measures_time_runs_by_itself_and_last(node, tmp_path: Path) -> None:
    heard = Heard()
    nodes = {"time": node(alone=True, seconds=0.02), "other": node(count=1)}
    found = measure(nodes, tmp_path, heard, 2)
    assert list(found) == ["time", "other"]
    assert [name for name, _ in heard.rows] == ["other"] * 2 + ["time"] * 4
    assert [seed for name, seed in heard.rows if name == "time"] == [1, 1, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_killed_half_way_it_goes_on_from_the_finished_seeds(
    node, tmp_path: Path, end: signal.Signals
) -> None:
    code = (
        "import json, sys\n"
        "from tests.claims.test_runner import Heard, measure\n"
        "from pathlib import Path\n"
        "class Speaks(Heard):\n"
        "    def finished(self, claim, seed, seconds): print('finished', seed, flush=True)\n"
        "if __name__ == '__main__':\n"
        "    nodes = {'a': json.loads(sys.argv[1])}\n"
        "    measure(nodes, Path(sys.argv[2]), Speaks())\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    slow = node(count=5, seconds=0.2)
    command = [sys.executable, str(script), json.dumps(slow), str(tmp_path / "out")]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={**os.environ, MARK: str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "finished 1\n"
        assert _measuring(tmp_path)
        process.send_signal(end)
    assert process.returncode != 0
    assert os.listdir(tmp_path / "out" / "a") == ["seed-1.json"]
    deadline = time.monotonic() + 20
    while _measuring(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _measuring(tmp_path), "its processes end with it"

    asked(tmp_path)
    found = measure({"a": slow}, tmp_path / "out", Heard())
    assert asked(tmp_path) == ["2 of 5"]
    assert [row["seed"] for row in found["a"].rows] == [1] * 5 + [2] * 5


def _measuring(folder: Path) -> bool:
    """Whether a process that inherited the mark of this folder is still there."""
    mark = f"{MARK}={folder}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue  # it is another user's, or has ended
    return False
