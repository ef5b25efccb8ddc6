"""What a model or a machine is not made for, refused before it is tried."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sized
from typing import Any

import torch

from seqtag.batch import TargetSpec
from seqtag.model import Model
from seqtag.nn.decoders.decoder import Decoder
from seqtag.nn.encoders.encoder import Encoder
from seqtag.nn.heads import Seq2SeqHead
from seqtag.nn.readout import Readout
from seqtag.split import Split, first_above

BYTES = 16
"""Of a trained number: itself, its gradient, and the two averages of AdamW, in single precision."""


def check_memory(
    config: Mapping[str, Any],
    vocabularies: Mapping[str, Sized],
    target: TargetSpec,
    device: torch.device,
) -> None:
    """Refuse a model whose training does not fit into the memory that there is.

    Raises:
        ValueError: saying how many trained numbers each part has.
    """
    with torch.device("meta"):  # shapes without numbers: nothing is stored
        sizes = Model.from_config(config, vocabularies, target).parameters_by_part()
    memory = (
        torch.cuda.mem_get_info(device)[1]
        if device.type == "cuda"
        else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    )
    needed = BYTES * sum(sizes.values())
    if needed > memory:
        parts = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise ValueError(
            f"training this model takes {needed / 1e9:,.0f} GB and more, of {memory / 1e9:,.0f} GB "
            f"({device}); its trained numbers: {parts}"
        )


def check_head(model: Model, *, per_element: bool) -> None:
    """Refuse a head that answers for elements where the task wants one answer, or the reverse.

    Raises:
        ValueError: saying which head fits.
    """
    readout = getattr(model.head, "readout", None)
    if isinstance(readout, Readout) and (readout.pooling is None) != per_element:
        wanted = "every element" if per_element else "the sequence"
        raise ValueError(
            f"the task wants an answer for {wanted}, and the head does not give one "
            f"(head.pooling={'set' if per_element else 'null'}); leave head as the task has it"
        )


def check_split(model: Model, split: Split) -> None:
    """Refuse a split with a sequence that the encoder cannot read, or the decoder cannot make.

    Args:
        model: that is to read it.
        split: with its encoded rows.

    Raises:
        ValueError: naming the first such row and how many there are.
    """
    lengths = split.read_lengths()
    if model.encoder.longest is not None and (lengths > model.encoder.longest).any():
        first, others = first_above(lengths, model.encoder.longest)
        raise ValueError(f"{split.place(first)}: {too_long(model, int(lengths[first]))}{others}")
    head = model.head
    if isinstance(head, Seq2SeqHead) and head.decoder.longest is not None:
        made = split.target_lengths() + 1
        if (made > head.decoder.longest).any():
            first, others = first_above(made, head.decoder.longest)
            raise ValueError(
                f"{split.place(first)}: a target of {made[first]} symbols with its end is longer "
                f"than the {head.decoder.longest} that the decoder can make "
                f"({_key(head.decoder, 'decoder')}); train with more, or shorten the target{others}"
            )


def too_long(model: Model, elements: int) -> str | None:
    """Why the encoder cannot read a sequence of so many elements; None where it can."""
    longest = model.encoder.longest
    if longest is None or elements <= longest:
        return None
    return (
        f"a sequence of {elements} elements is longer than the {longest} that the encoder can read "
        f"({_key(model.encoder, 'encoder')}); train with more, or shorten the sequence"
    )


def _key(part: Encoder | Decoder, name: str) -> str:
    """The full key of what sets the limit of a part: the part itself, or a part of it."""
    for module in part.modules():
        key = getattr(module, "longest_key", None)
        if key is not None and module.longest == part.longest:
            return f"{name}.{key}={part.longest}"
    return name
