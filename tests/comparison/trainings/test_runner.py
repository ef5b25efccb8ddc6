"""Processes that train: their order, their failures, and that none is left behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seqtag.comparison.trainings.runner import FAILURE, OUTPUT, Job, run_jobs

ROOT = Path(__file__).resolve().parents[3]


class Heard:
    """Everything that a watcher is told."""

    def __init__(self) -> None:
        self.started_jobs: list[int] = []
        self.failures: dict[int, str | None] = {}

    def started(self, number: int) -> None:
        self.started_jobs.append(number)

    def ended(self, number: int, seconds: float, failure: str | None) -> None:
        assert seconds > 0
        self.failures[number] = failure

    def waiting(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    # The processes find what this one finds.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def make(folder: Path, name: str, *arguments: dict[str, Any]) -> list[Job]:
    return [
        Job(
            number=number,
            folder=folder / str(number),
            function=f"tests.comparison.trainings.jobs:{name}",
            arguments=given,
        )
        for number, given in enumerate(arguments)
    ]


def run(jobs: list[Job], processes: int = 2, threads: int = 1) -> Heard:
    heard = Heard()
    run_jobs(jobs, processes=processes, threads=threads, watcher=heard)
    return heard


def gone(process: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            stat = (Path("/proc") / str(process) / "stat").read_text()
            if stat.rpartition(")")[2].split()[0] in "ZX":  # ended, and nobody has asked how
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def wait_for(file: Path) -> str:
    deadline = time.monotonic() + 30
    while not file.exists() or not file.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return file.read_text()


def test_jobs_are_done_in_order_and_keep_what_they_said(tmp_path: Path) -> None:
    words = [{"folder": str(tmp_path), "word": word} for word in "abc"]
    heard = run(make(tmp_path, "say", *words), processes=1)
    assert (tmp_path / "notes.txt").read_text() == "a\nb\nc\n"
    assert heard.started_jobs == [0, 1, 2]
    assert heard.failures == {0: None, 1: None, 2: None}
    run(make(tmp_path, "say", words[2]))
    assert (tmp_path / "0" / OUTPUT).read_text() == "this is a\nthis is c\n", "of both attempts"


def test_several_are_at_work_at_once(tmp_path: Path) -> None:
    both = [{"folder": str(tmp_path), "me": a, "other": b} for a, b in (("a", "b"), ("b", "a"))]
    assert run(make(tmp_path, "meet", *both)).failures == {0: None, 1: None}


def test_each_has_its_threads_and_is_not_reached_by_control_c(tmp_path: Path) -> None:
    run(make(tmp_path, "circumstances", {"folder": str(tmp_path)}), threads=3)
    assert (tmp_path / "notes.txt").read_text() == "3 True\n"


def test_a_failure_is_told_in_a_line_and_does_not_end_the_rest(tmp_path: Path) -> None:
    kinds = [{"kind": kind} for kind in ("value", "key", "exit", "kill")]
    jobs = make(tmp_path, "fail", *kinds)
    jobs += [
        Job(
            number=4,
            folder=tmp_path / "4",
            function="tests.comparison.trainings.jobs:say",
            arguments={"folder": str(tmp_path), "word": "a"},
        )
    ]
    heard = run(jobs)
    assert heard.failures == {
        0: "the loss is no number",
        1: "unexpected KeyError: 'wings'",
        2: f"its process ended with status 5; what it said is in {tmp_path / '2' / OUTPUT}",
        3: "its process was killed, often for want of memory",
        4: None,
    }
    assert (tmp_path / "0" / FAILURE).read_text() == "the loss is no number\n"
    assert "Traceback" in (tmp_path / "1" / OUTPUT).read_text()
    again = make(tmp_path, "say", {"folder": str(tmp_path), "word": "b"})
    assert run(again).failures == {0: None}
    assert not (tmp_path / "0" / FAILURE).exists(), "of an attempt before"


def test_an_interruption_ends_the_processes(tmp_path: Path) -> None:
    class Interrupted(Heard):
        def waiting(self) -> None:
            if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
                raise KeyboardInterrupt

    jobs = make(tmp_path, "stay", {"folder": str(tmp_path)})
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, processes=1, threads=1, watcher=Interrupted())
    assert not (Path("/proc") / (tmp_path / "pid").read_text()).exists()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path, end: signal.Signals) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.comparison.trainings.test_runner import make, run\n"
        "folder = Path(sys.argv[1])\n"
        "run(make(folder, 'stay', {'folder': str(folder)}))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) as process:
        orphan = int(wait_for(tmp_path / "pid"))
        process.send_signal(end)
    assert gone(orphan)


def test_a_process_that_is_told_nothing_ends() -> None:
    command = [sys.executable, "-m", "seqtag.comparison.trainings.process"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, cwd=ROOT).returncode == 3


def test_what_is_asked_may_be_long(tmp_path: Path) -> None:
    word = "long" * 100_000
    run(make(tmp_path, "say", {"folder": str(tmp_path), "word": word}))
    assert (tmp_path / "notes.txt").read_text() == word + "\n"
