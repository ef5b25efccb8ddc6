"""A claim that takes no time, and does what its settings say."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqtag.claims.claim import Claim, Row, Verdict


class Counting(Claim):
    """Counts, and writes down in ``folder`` which seeds it was asked for."""

    title = "Numbers grow."
    keys = ("place",)
    measures = ("number",)

    def __init__(
        self,
        *,
        seeds: Sequence[int],
        full: bool,
        device: str,
        folder: str,
        count: int,
        fails: list[int],
        dies: list[int],
        seconds: float,
    ) -> None:
        super().__init__(seeds=seeds, full=full, device=device)
        self.folder, self.count, self.fails, self.dies = Path(folder), count, fails, dies
        self.seconds = seconds

    @property
    def size(self) -> int:
        return self.count

    def measure(self, seed: int) -> Iterator[Row]:
        with (self.folder / "asked.txt").open("a") as stream:
            stream.write(f"{seed} of {self.count}\n")
        for place in range(self.count):
            if seed in self.fails:
                raise ValueError("no number is left")
            if seed in self.dies:
                os._exit(9)
            time.sleep(self.seconds)
            yield {"place": f"<{place}>", "number": place + 0.1 * seed}

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        last = max(row["number"] for row in rows)
        return Verdict(last >= 1, f"up to {last:.1f}", "Counted & <compared>.")

    def plot(self, figure, rows: Sequence[Row]) -> None:
        figure.subplots().plot([row["number"] for row in rows])


class CountingAlone(Counting):
    """The same, by itself."""

    alone = True
