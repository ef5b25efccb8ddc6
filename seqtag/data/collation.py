"""Encoded rows become one padded batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.batch import Batch, Layout, Target
from seqtag.data.inputs import stack

EncodedRow = dict[str, NDArray[Any]]
CollateTarget = Callable[[Sequence[EncodedRow], NDArray[np.int64]], Target]


def collate(
    encoded: Sequence[EncodedRow],
    rows: Sequence[int],
    *,
    fields: Sequence[str],
    collate_target: CollateTarget | None,
) -> Batch:
    """Pad rows to the longest.

    Args:
        encoded: arrays of each row by column; input fields are ``[source, ...]``.
        rows: index of each row in its corpus.
        fields: the columns that are inputs.
        collate_target: pads the targets; None where there are none.
    """
    lengths = np.array([len(row[fields[0]]) for row in encoded], dtype=np.int64)
    inputs = {}
    for name in fields:
        values = stack([row[name] for row in encoded], lengths)
        if np.issubdtype(values.dtype, np.integer):
            values = values.astype(np.int64)
        inputs[name] = torch.from_numpy(values)
    return Batch(
        inputs=inputs,
        layout=Layout.of(torch.from_numpy(lengths)),
        target=collate_target(encoded, lengths) if collate_target is not None else None,
        rows=torch.as_tensor(rows, dtype=torch.int64),
    )
