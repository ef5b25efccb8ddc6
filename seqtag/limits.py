"""Sequences that a model is not made for, refused before it meets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.model import Model
from seqtag.nn.heads import Seq2SeqHead
from seqtag.split import Split


def check_split(model: Model, config: Mapping[str, Any], split: Split) -> None:
    """Refuse a split with a sequence that the encoder cannot read, or the decoder cannot make.

    Args:
        model: that is to read it.
        config: of the model, to name the key that limits it.
        split: with its encoded rows.

    Raises:
        ValueError: naming the first such row and how many there are.
    """
    lengths = split.encoded.lengths()
    if model.encoder.longest is not None and (lengths > model.encoder.longest).any():
        first, others = _first_above(lengths, model.encoder.longest)
        raise ValueError(
            f"{split.place(first)}: {too_long(model, config, int(lengths[first]))}{others}"
        )
    head = model.head
    if isinstance(head, Seq2SeqHead) and head.decoder.longest is not None:
        made = split.target_lengths() + 1
        if (made > head.decoder.longest).any():
            first, others = _first_above(made, head.decoder.longest)
            keys = _keys(config["decoder"], "decoder", head.decoder.longest)
            raise ValueError(
                f"{split.place(first)}: a target of {made[first]} symbols with its end is longer "
                f"than the {head.decoder.longest} that the decoder can make ({keys}); train with "
                f"more, or shorten the target{others}"
            )


def too_long(model: Model, config: Mapping[str, Any], elements: int) -> str | None:
    """Why the encoder cannot read a sequence of so many elements; None where it can."""
    longest = model.encoder.longest
    if longest is None or elements <= longest:
        return None
    keys = _keys(config["encoder"], "encoder", longest)
    return (
        f"a sequence of {elements} elements is longer than the {longest} that the encoder can read "
        f"({keys}); train with more, or shorten the sequence"
    )


def _first_above(lengths: NDArray[np.int64], limit: int) -> tuple[int, str]:
    """The first row above a limit, and a remark on the others."""
    rows = np.flatnonzero(lengths > limit)
    others = f" ({len(rows) - 1} more are too long)" if len(rows) > 1 else ""
    return int(rows[0]), others


def _keys(node: Mapping[str, Any], name: str, longest: int) -> str:
    """The keys of a node that have a limit's value and may be what sets it."""
    found = [f"{key}={longest}" for key, value in _numbers(node, name) if value == longest]
    return " or ".join(found) or name


def _numbers(node: Mapping[str, Any], name: str) -> Iterator[tuple[str, int]]:
    """Whole numbers of a node by dotted name, but for widths and counts of parts."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{name}.{key}")
        elif type(value) is int and not key.endswith("dim") and not key.startswith("num_"):
            yield f"{name}.{key}", value
