"""Rows too long to be read in one piece: read in windows, and put together again."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from seqtag.batch import Batch, Layout, Prediction, Target
from seqtag.data.windows import LongRows, Window, cut
from seqtag.model import Model


class Stretch(NamedTuple):
    """A window of a row of a batch."""

    row: int
    window: Window


def predict(model: Model, batch: Batch, long_rows: LongRows) -> Prediction:
    """What the model says of a batch, whatever the length of its rows."""
    if not _is_long(batch, long_rows):
        return model.predict(batch)
    return _read(model, batch, long_rows)[0]


def predict_with_loss(model: Model, batch: Batch, long_rows: LongRows) -> tuple[Prediction, Tensor]:
    """The same with the mean loss over the targets that are present."""
    if _is_long(batch, long_rows):
        prediction, loss = _read(model, batch, long_rows)
        assert loss is not None
        return prediction, loss
    states = model.encode(batch)
    return model.head.predict(states, batch), model.head.loss(states, batch)


def _is_long(batch: Batch, long_rows: LongRows) -> bool:
    # What is cut off or refused has been by the time there is a batch.
    return long_rows.per_element and batch.layout.valid.shape[1] > long_rows.limit


def _read(model: Model, batch: Batch, long_rows: LongRows) -> tuple[Prediction, Tensor | None]:
    """Prediction, and loss where there are targets, from windows of the rows.

    Every element is predicted in the one window where it counts.
    """
    stretches = [
        Stretch(row, window)
        for row, length in enumerate(batch.layout.lengths_cpu.tolist())
        for window in cut(length, long_rows.limit)
    ]
    at_once = max(1, long_rows.budget // long_rows.limit)
    value: Tensor | None = None
    probabilities: Tensor | None = None
    losses = weights = batch.layout.lengths.new_zeros((), dtype=torch.float32)
    for begin in range(0, len(stretches), at_once):
        chosen = stretches[begin : begin + at_once]
        piece = _piece(batch, chosen)
        states = model.encode(piece)
        read = model.head.predict(states, piece)
        value = _put(value, read.value, chosen, batch)
        if read.probabilities is not None:
            probabilities = _put(probabilities, read.probabilities, chosen, batch)
        if piece.target is not None:
            weight = model.head.loss_weight(piece)
            losses = losses + model.head.loss(states, piece) * weight
            weights = weights + weight
    assert value is not None
    loss = losses / weights.where(weights > 0, 1) if batch.target is not None else None
    return Prediction(value, probabilities), loss


def _piece(batch: Batch, stretches: list[Stretch]) -> Batch:
    """The windows as a batch of their own; targets are present where they count."""
    lengths = torch.tensor([window.stop - window.start for _, window in stretches])
    target = None
    if batch.target is not None:
        present = _cut(batch.target.present, stretches)
        for number, (_, window) in enumerate(stretches):
            present[number, : window.first - window.start] = False
            present[number, window.last - window.start :] = False
        target = Target(value=_cut(batch.target.value, stretches), present=present)
    return Batch(
        inputs={name: _cut(values, stretches) for name, values in batch.inputs.items()},
        layout=Layout.of(lengths).to(batch.layout.valid.device),
        target=target,
        rows=batch.rows[[row for row, _ in stretches]],
    )


def _cut(values: Tensor, stretches: list[Stretch]) -> Tensor:
    """``[batch, source, ...]`` to ``[windows, longest window, ...]``, zeros behind."""
    longest = max(window.stop - window.start for _, window in stretches)
    cut_out = values.new_zeros((len(stretches), longest, *values.shape[2:]))
    for number, (row, window) in enumerate(stretches):
        cut_out[number, : window.stop - window.start] = values[row, window.start : window.stop]
    return cut_out


def _put(whole: Tensor | None, read: Tensor, stretches: list[Stretch], batch: Batch) -> Tensor:
    """What counts of each window in its place in ``[batch, source, ...]``."""
    if whole is None:
        whole = read.new_zeros((*batch.layout.valid.shape, *read.shape[2:]))
    for number, (row, window) in enumerate(stretches):
        kept = slice(window.first - window.start, window.last - window.start)
        whole[row, window.first : window.last] = read[number, kept]
    return whole
