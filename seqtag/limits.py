"""Sequences that a model is not made for, refused before it meets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.model import Model
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.encoders.encoder import Encoder
from seqtag.nn.heads import Seq2SeqHead
from seqtag.split import Split


def check_split(model: Model, config: Mapping[str, Any], split: Split) -> None:
    """Refuse a split with a sequence that the encoder cannot read, or the decoder cannot make.

    Args:
        model: that is to read it.
        config: of the model.
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
            raise ValueError(
                f"{split.place(first)}: a target of {made[first]} symbols with its end is longer "
                f"than the {head.decoder.longest} that the decoder can make "
                f"({_key(head.decoder, 'decoder')}); train with more, or shorten the target{others}"
            )


def too_long(model: Model, config: Mapping[str, Any], elements: int) -> str | None:
    """Why the encoder cannot read a sequence of so many elements; None where it can."""
    longest = model.encoder.longest
    if longest is None or elements <= longest:
        return None
    return (
        f"a sequence of {elements} elements is longer than the {longest} that the encoder can read "
        f"({_key(model.encoder, 'encoder')}); train with more, or shorten the sequence"
    )


def _first_above(lengths: NDArray[np.int64], limit: int) -> tuple[int, str]:
    """The first row above a limit, and a remark on the others."""
    rows = np.flatnonzero(lengths > limit)
    others = f" ({len(rows) - 1} more are too long)" if len(rows) > 1 else ""
    return int(rows[0]), others


def _key(part: Encoder | Decoder, name: str) -> str:
    """The full key of what sets the limit of a part: the part itself, or a part of it."""
    for module in part.modules():
        key = getattr(module, "longest_key", None)
        if key is not None and module.longest == part.longest:
            return f"{name}.{key}={part.longest}"
    return name
