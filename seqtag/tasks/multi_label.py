"""Several labels for the whole sequence, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.batch import END, Output, Prediction, Row, Target, TargetSpec, place
from seqtag.data.inputs import stack
from seqtag.evaluation.sequences import until_end
from seqtag.tasks.labels import fit_labels, parse_label, unseen_labels
from seqtag.tasks.task import Encoded, Task

LabelSet = list[str]


class MultiLabel(Task):
    """Topics of a text, functions of a protein: any number of labels per sequence, in no order.

    A parsed target is a list of different labels, empty where none applies, or None.
    """

    per_element: ClassVar[bool] = False
    several: ClassVar[bool] = True
    numeric: ClassVar[bool] = False

    def parse(self, row: Row) -> LabelSet | None:
        """See the base class."""
        target = row.get("target")
        if "element_lines" in row:
            raise ValueError(
                f"{place(row)}: multi_label wants the labels of the sequence, and here each "
                "element has one; did you mean task=tagging?"
            )
        if target is None:
            return None
        if isinstance(target, str):
            target = self.target_tokenizer.split(target)
        labels = [
            parse_label(cell, row) for cell in (target if isinstance(target, list) else [target])
        ]
        if None in labels or "" in labels:
            raise ValueError(
                f"{place(row)}: one of the labels {target!r:.60} is empty; leave it out, or give "
                "no target at all where the labels are not known"
            )
        return [label for label in dict.fromkeys(labels) if label is not None]

    def fit(self, targets: Callable[[], Iterable[LabelSet | None]]) -> TargetSpec:
        """See the base class."""
        spec = fit_labels(_labels(targets()), scheme=None)
        rows = sum(labels is not None for labels in targets())
        return replace(spec, multi=True, typical=_typical(spec, rows))

    def extend(self, spec: TargetSpec, targets: Iterable[LabelSet | None]) -> TargetSpec:
        """See the base class."""
        return spec.with_unseen(unseen_labels(_labels(targets), spec))

    def encode(self, target: LabelSet | None, spec: TargetSpec) -> Encoded:
        """A parsed target as ``target`` and ``present``, ``[labels + 1]`` each; see ``Target``."""
        if target is None:
            return {"target": np.zeros(1, np.int32), "present": np.zeros(1, np.uint8)}
        ids = sorted(spec.ids[label] for label in target)
        return {
            "target": np.array([*ids, END], np.int32),
            "present": np.ones(len(ids) + 1, np.uint8),
        }

    def collate(self, encoded: Sequence[Encoded], lengths: NDArray[np.int64]) -> Target:
        """See the base class; every set has its own size."""
        own = np.array([len(row["target"]) for row in encoded], dtype=np.int64)
        value = stack([row["target"] for row in encoded], own).astype(np.int64)
        present = stack([row["present"] for row in encoded], own).astype(bool)
        return Target(value=torch.from_numpy(value), present=torch.from_numpy(present))

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class."""
        shares: list[dict[str, float] | None] = [None] * len(lengths)
        if probabilities and prediction.probabilities is not None:
            shares = [
                dict(zip(spec.labels, row, strict=True))
                for row in prediction.probabilities.tolist()
            ]
        sets = (
            [spec.labels[label - spec.first] for label in until_end(ids)]
            for ids in prediction.value.tolist()
        )
        return [Output(labels, share) for labels, share in zip(sets, shares, strict=True)]

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """The set that serves best as the answer to every row."""
        ids = sorted(spec.ids[label] for label in spec.typical)
        value = torch.tensor([*ids, END], dtype=torch.int64)
        return Prediction(value.expand(len(target.value), -1))


def _labels(targets: Iterable[LabelSet | None]) -> Iterable[str]:
    return chain.from_iterable(target for target in targets if target is not None)


def _typical(spec: TargetSpec, rows: int) -> tuple[str, ...]:
    """The labels that, given to each of so many training rows, have the best micro F1 there.

    Of sets of one size the most frequent labels are the best, so that only the size is sought.
    """
    order = sorted(range(len(spec.labels)), key=lambda label: (-spec.counts[label], label))
    wanted = sum(spec.counts)
    best, best_size, found = 0.0, 0, 0
    for size, label in enumerate(order, 1):
        found += spec.counts[label]
        score = 2 * found / (size * rows + wanted)
        if score > best:
            best, best_size = score, size
    return tuple(spec.labels[label] for label in order[:best_size])
