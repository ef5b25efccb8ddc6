"""What an analysis of errors is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from seqtag.batch import Batch, Prediction
from seqtag.report.analyses.table import Table
from seqtag.report.plots.picture import Picture


class Analysis(ABC):
    """Counts what can be said of the errors, batch by batch."""

    worst_by: ClassVar[str | None] = None
    """The metric that ranks the worst rows, where the one that selects tells them only apart as
    right and wrong."""

    @abstractmethod
    def update(self, batch: Batch, prediction: Prediction) -> None:
        """Count a batch."""

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """What was counted."""

    def facts(self) -> dict[str, Any]:
        """What ``errors.json`` has beside the tables, by key."""
        return {}

    def remarks(self) -> Sequence[str]:
        """Lines for people, below the tables."""
        return []

    def pictures(self) -> Sequence[Picture]:
        """What can be drawn of it."""
        return []
