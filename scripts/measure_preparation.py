"""What the preparation of a training file costs: seconds, memory, and the seconds of a second time.

usage: python scripts/measure_preparation.py FILE [key=value ...]

The cache is an empty folder of its own, deleted afterwards. Memory is that of the process itself
(RssAnon, which only Linux tells), without the pages of files that are mapped; it is looked at
twenty times a second.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from seqtag.configuration import compose
from seqtag.datamodule import DataModule

SECONDS_BETWEEN_LOOKS = 0.05


def main(words: list[str]) -> None:
    """Prepare the file twice, and print what was measured as one JSON object."""
    file, *overrides = words
    before = own_memory()
    with tempfile.TemporaryDirectory() as cache:
        config = compose("train", [f"data.train={file}", *overrides, f"cache={cache}"])
        with Peak() as peak:
            data, first = prepare(config)
        found = {
            "elements": sum(source["elements"] for source in data.sources().values()),
            "seconds": first,
            "again": prepare(config)[1],
            "megabytes": {"before": before, "at most": peak.megabytes},
            "cache": sum(part.stat().st_size for part in Path(cache).iterdir()) // 10**6,
        }
    print(json.dumps(found))


def prepare(config: dict[str, Any]) -> tuple[DataModule, dict[str, float]]:
    """Read, learn and encode; with the seconds of wall clock and of CPU, children included."""
    wall, processor = time.perf_counter(), processor_seconds()
    data = DataModule(config)
    data.read_all(test=False)
    return data, {
        "wall": round(time.perf_counter() - wall, 2),
        "cpu": round(processor_seconds() - processor, 2),
    }


def processor_seconds() -> float:
    """Of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def own_memory() -> int:
    """Megabytes that belong to this process alone."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) // 1024


class Peak:
    """Watches the memory while its context lasts."""

    def __enter__(self) -> Peak:
        self.megabytes = own_memory()
        self._end = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._end.wait(SECONDS_BETWEEN_LOOKS):
            self.megabytes = max(self.megabytes, own_memory())


if __name__ == "__main__":
    main(sys.argv[1:])
