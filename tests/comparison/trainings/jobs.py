"""What processes do in tests."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def note(folder: str, line: str) -> None:
    """Add a line to a file that all jobs share."""
    with (Path(folder) / "notes.txt").open("a") as file:
        file.write(line + "\n")


def say(folder: str, word: str) -> None:
    note(folder, word)
    print(f"this is {word}")


def circumstances(folder: str) -> None:
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    note(folder, f"{os.environ['OMP_NUM_THREADS']} {blocked}")


def meet(folder: str, me: str, other: str) -> None:
    """Come back once the other job has begun, too."""
    (Path(folder) / me).touch()
    deadline = time.monotonic() + 20
    while not (Path(folder) / other).exists():
        if time.monotonic() > deadline:
            raise ValueError("nobody came")
        time.sleep(0.01)


def fail(kind: str) -> None:
    if kind == "value":
        raise ValueError("the loss is\nno number")
    if kind == "key":
        raise KeyError("wings")
    if kind == "exit":
        sys.exit(5)
    os.kill(os.getpid(), signal.SIGKILL)


def stay(folder: str) -> None:
    """Write the number of this process, and go on for a minute."""
    (Path(folder) / "pid").write_text(str(os.getpid()))
    time.sleep(60)


def pretend(
    folder: str,
    settings: dict[str, Any],
    config: dict[str, Any],
    overrides: list[str],
    threads: int,
) -> None:
    """Leave a run directory as a training would; an embedding of 6 numbers diverges."""
    if config["embedding"]["dim"] == 6 and not (Path(folder) / "mended").exists():
        raise ValueError("training diverged")
    run = Path(folder) / "tagging-window" / f"2026-01-01_00-00-00-{time.monotonic_ns():020}"
    run.mkdir(parents=True)
    (run / "config.yaml").write_text("")
    (run / "metrics.json").write_text(json.dumps({"test/accuracy": 0.5 + config["seed"] / 100}))
    (run / "record.json").write_text(json.dumps([overrides, threads]))
