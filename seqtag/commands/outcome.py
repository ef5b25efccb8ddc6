"""What a training came to, for whoever started many of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished training.

    Attributes:
        folder: the run directory.
        name: of the dev score that chose the best epoch.
        score: that score; never one of the test split.
        higher_is_better: of that score.
    """

    folder: Path
    name: str
    score: float
    higher_is_better: bool

    @property
    def objective(self) -> float:
        """What a search makes as large as it can: the score, negated where lower is better."""
        return self.score if self.higher_is_better else -self.score
