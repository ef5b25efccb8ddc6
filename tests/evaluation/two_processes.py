"""One split of labels, scored by one of two processes when run as a script."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from seqtag.batch import Batch, Layout, Prediction, Target, TargetSpec
from seqtag.evaluation.calibration import CalibrationError
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.ranks import AveragePrecision, RocAuc
from seqtag.evaluation.scores import Scores

ROWS = 11
SPEC = TargetSpec(labels=("a", "b", "c"), unseen=("d",))


def labelled_split() -> tuple[Prediction, Target]:
    """Predictions and gold values of all rows, ``[ROWS, 6]``."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(0, 7, (ROWS, 1), generator=generator)
    present = torch.arange(6) < lengths
    probabilities = torch.randn(ROWS, 6, 3, generator=generator).softmax(dim=2)
    gold = torch.randint(0, 4, (ROWS, 6), generator=generator)
    prediction = Prediction(probabilities.argmax(dim=2), probabilities)
    return prediction, Target(torch.where(present, gold, 0), present)


def label_scores() -> Scores:
    """Fresh scores of labels."""
    return Scores(
        {
            "accuracy": Accuracy(SPEC),
            "roc_auc": RocAuc(SPEC),
            "macro_f1": MacroF1(SPEC),
            "average_precision": AveragePrecision(SPEC),
            "ece": CalibrationError(SPEC, bins=15),
        }
    )


def update(scores: Scores, rows: Iterable[int], size: int) -> None:
    """Add rows of the split in batches."""
    prediction, target = labelled_split()
    assert prediction.probabilities is not None
    chosen = list(rows)
    for start in range(0, len(chosen), size):
        part = torch.tensor(chosen[start : start + size])
        batch = Batch(
            inputs={},
            layout=Layout.of(target.present[part].sum(dim=1)),
            target=Target(target.value[part], target.present[part]),
            rows=part,
        )
        scores.update(Prediction(prediction.value[part], prediction.probabilities[part]), batch)


def result(scores: Scores) -> dict[str, Any]:
    """Scores and table as both processes have them together."""
    return {"scores": scores.compute(), "table": plain_table(scores)}


def plain_table(scores: Scores) -> dict[str, Any]:
    """What each row gives, as lists."""
    return {name: [part.tolist() for part in column] for name, column in scores.row_table().items()}


def main(rank: int, folder: Path) -> None:
    """Score a share of the split."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    shared, lopsided, added = label_scores(), label_scores(), label_scores()
    # A distributed sampler fills the shorter share up from the start of the split.
    shares = [range(0, ROWS, 2), [*range(1, ROWS, 2), 0]]
    update(shared, shares[rank], 2 + rank)
    update(lopsided, range(ROWS) if rank else [], 4)
    half = list(shares[rank])
    update(added, half[:3], 2)
    result(added)
    update(added, half[3:], 2)
    results = {
        name: result(scores)
        for name, scores in (("shared", shared), ("lopsided", lopsided), ("added", added))
    }
    (folder / f"{rank}.json").write_text(json.dumps(results))
    distributed.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), Path(sys.argv[2]))
