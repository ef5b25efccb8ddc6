"""A process that does one thing and ends with the process that started it.

``python -m seqtag.comparison.trainings.process`` reads what to do from its first line of stdin: a
function, its arguments, and where the message goes if it fails. What follows on stdin is nothing,
for as long as the starting process lives.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

STDIN = 0
ORPHAN = 3
"""Exit status of a process whose starter has gone."""


def main() -> None:
    """Do what stdin says; exit status 1 where it fails."""
    line = _read_line()
    threading.Thread(target=_end_with_starter, daemon=True).start()
    task: dict[str, Any] = json.loads(line)
    logging.captureWarnings(True)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("seqtag").setLevel(logging.INFO)
    module, _, name = task["function"].partition(":")
    try:
        getattr(importlib.import_module(module), name)(**task["arguments"])
    except Exception as error:
        # Whatever it is, the other trainings go on, and somebody has to be told.
        traceback.print_exception(error)
        expected = isinstance(error, ValueError | OSError)
        kind = "" if expected else f"unexpected {type(error).__name__}: "
        message = " ".join(f"{kind}{error}".split()) or type(error).__name__
        Path(task["failure"]).write_text(message + "\n", encoding="utf-8")
        sys.exit(1)


def _read_line() -> bytes:
    """The first line of stdin, and no byte more."""
    found = bytearray()
    # Not through sys.stdin: its lock would be held for ever, also in a fork of this process.
    while not found.endswith(b"\n"):
        block = os.read(STDIN, 65536)
        if not block:
            os._exit(ORPHAN)
        found += block
    return bytes(found)


def _end_with_starter() -> None:
    """Wait for the end of stdin, and end everything at once: a restart may be near."""
    while os.read(STDIN, 1):
        pass
    os._exit(ORPHAN)


if __name__ == "__main__":
    main()
