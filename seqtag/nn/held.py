"""What a head keeps of dev until all of it was there."""

from __future__ import annotations

from dataclasses import replace

from seqtag.batch import Batch, Prediction


class Held:
    """Predictions with probabilities, in host memory: four bytes for each label."""

    def __init__(self) -> None:
        self._kept: list[tuple[Prediction, Batch]] = []

    def add(self, prediction: Prediction, batch: Batch) -> None:
        """Keep a batch that has gold values."""
        assert prediction.probabilities is not None
        assert batch.target is not None
        rest = Prediction(prediction.value.cpu(), prediction.probabilities.detach().cpu())
        # The inputs are of no use to a score, and may be large.
        self._kept.append((rest, replace(batch, inputs={}, target=batch.target.to("cpu"))))

    def take(self) -> list[tuple[Prediction, Batch]]:
        """All that was kept, which is then forgotten."""
        kept, self._kept = self._kept, []
        return kept
