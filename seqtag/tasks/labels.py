"""Labels as ids and back, for the tasks whose targets are labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqtag.batch import Prediction, Row, TargetSpec, place


def parse_label(cell: Any, row: Row, element: int | None = None) -> str | None:
    """A target cell as a label; None where there is none.

    Raises:
        ValueError: the cell is a list or a mapping.
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        return str(cell)
    raise ValueError(f"{place(row, element)}: a label is one string or number, not {cell!r:.60}")


def fit_labels(cells: Iterable[str | None], scheme: str | None) -> TargetSpec:
    """Labels and counts of the training split, in alphabetical order.

    Raises:
        ValueError: there is no label at all.
    """
    counts = Counter(cell for cell in cells if cell is not None)
    if not counts:
        raise ValueError("the training data has no label at all: every target is missing")
    labels = tuple(sorted(counts))
    return TargetSpec(labels=labels, counts=tuple(counts[name] for name in labels), scheme=scheme)


def unseen_labels(cells: Iterable[str | None], spec: TargetSpec) -> tuple[str, ...]:
    """Labels that the spec lacks, in alphabetical order."""
    return tuple(sorted({cell for cell in cells if cell is not None}.difference(spec.labels)))


def encode_labels(cells: Sequence[str | None], spec: TargetSpec) -> dict[str, NDArray[Any]]:
    """Ids ``[n]``, unseen labels behind the known ones, and which are present."""
    ids = spec.ids
    present = np.fromiter((cell is not None for cell in cells), np.uint8, len(cells))
    target = np.fromiter((ids[c] if c is not None else 0 for c in cells), np.int32, len(cells))
    return {"target": target, "present": present}


def majority(spec: TargetSpec) -> int:
    """Id of the most frequent label."""
    return max(range(len(spec.labels)), key=lambda label: spec.counts[label])


def always_majority(value: Tensor, spec: TargetSpec) -> Prediction:
    """The most frequent label everywhere, with the shares that labels have in training.

    Args:
        value: of the shape that is wanted.
        spec: of the training split.
    """
    counts = torch.tensor(spec.counts, dtype=torch.float64)
    shares = (counts / counts.sum()).float()
    return Prediction(
        torch.full_like(value, majority(spec)), shares.expand(*value.shape, len(shares))
    )
