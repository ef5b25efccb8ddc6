"""Sizes an encoder to a budget of trained numbers, so that a comparison is one of equals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from typing import Any

import torch

from seqtag.configuration import build, check
from seqtag.model import BUDGET, KINDS, encoder_node

DIM, HIDDEN, HEADS, HEAD_DIM = "dim", "feedforward_dim", "num_heads", "head_dim"
"""Keys of an encoder's node that a budget sets or heeds; all but the first may be absent."""

WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?([kKmM]?)")
TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def read_budget(written: Any) -> int:
    """How many trained numbers ``200k``, ``1.5M`` or ``200000`` allow.

    Raises:
        ValueError: it cannot be read, or allows none.
    """
    found = WRITTEN.fullmatch(str(written))
    budget = 0 if found is None else round(float(found[1]) * TIMES[found[2].lower()])
    if budget < 1:
        raise ValueError(
            f"encoder.{BUDGET} is {written!r}; it must be a number such as 200k, 1.5M or 200000, "
            "or null for no budget"
        )
    return budget


def given_budget(config: Mapping[str, Any]) -> int | None:
    """The budget that a config's encoder has, if any.

    Raises:
        ValueError: it cannot be read.
    """
    node = config["encoder"]
    written = node.get(BUDGET) if isinstance(node, Mapping) else None
    return None if written is None else read_budget(written)


def resolve_budget(
    config: Mapping[str, Any], vocabularies: Mapping[str, Sized]
) -> tuple[dict[str, Any], str | None]:
    """Work out the sizes of an encoder whose node has a budget.

    Args:
        config: with the nodes ``embedding`` and ``encoder``.
        vocabularies: input fields, for the embedding.

    Returns:
        The config with the sizes in it and ``parameters: null``, and a line that says them; the
        config as it is and None where there is no budget.

    Raises:
        ValueError: as for ``read_budget`` and ``size_encoder``.
    """
    budget = given_budget(config)
    if budget is None:
        return dict(config), None
    node = {**config["encoder"], BUDGET: None}
    with torch.device("meta"):
        embedding = build(config["embedding"], vocabularies, kinds=KINDS, name="embedding")
    bare = encoder_node({"encoder": node})
    sizes, parameters = size_encoder(bare, embedding.output_dim, budget)
    named = ", ".join(f"{key} {size}" for key, size in sizes.items())
    return (
        {**config, "encoder": node | sizes},
        f"encoder.{BUDGET}={config['encoder'][BUDGET]}: {named}, {parameters:,} parameters",
    )


def size_encoder(
    node: Mapping[str, Any], input_dim: int, budget: int
) -> tuple[dict[str, int], int]:
    """The sizes of the largest encoder that keeps a budget.

    That is the largest ``dim``, with ``feedforward_dim`` in the proportion to it that the node has.
    A ``dim`` is a multiple of 2, or of 2 for each head where it makes their width; as this leaves a
    part of the budget over, ``feedforward_dim`` is then made as large as fits, within the
    proportion that it has to this ``dim`` and to the next one, with one or the other.

    Args:
        node: of the encoder, without the budget.
        input_dim: width of the elements that come in.
        budget: how many trained numbers there may be.

    Returns:
        ``dim``, and ``feedforward_dim`` where the node has a hidden layer; and how many trained
        numbers the encoder then has.

    Raises:
        ValueError: the node has no ``dim``, the smallest encoder is above the budget, or one of
            its other sizes is none that an encoder can have.
    """
    check(node, kinds=KINDS, name="encoder")
    if not isinstance(node.get(DIM), int) or node[DIM] < 1:
        raise ValueError(
            f"encoder.{BUDGET} sizes encoder.{DIM}, which is {node.get(DIM)!r} here; it must be a "
            "whole number of 1 or more"
        )
    # At least 2, so that it is the encoder that refuses to have no heads.
    step = max(2, 2 * node[HEADS]) if HEADS in node and node.get(HEAD_DIM) is None else 2
    hidden = node.get(HIDDEN, 0)

    def sizes(dim: int) -> dict[str, int]:
        return {DIM: dim} | ({HIDDEN: max(1, dim * hidden // node[DIM])} if hidden > 0 else {})

    def count(chosen: Mapping[str, int], width: int = input_dim) -> int:
        # Shapes without numbers: nothing is drawn or stored, whatever the size.
        with torch.device("meta"):
            encoder = build({**node, **chosen}, width, kinds=KINDS, name="encoder")
        return sum(p.numel() for p in encoder.parameters() if p.requires_grad)

    def projected(dim: int) -> int:
        """With a projection even where the widths are equal, so that the count always grows."""
        missing = input_dim * dim + dim if dim == input_dim else 0
        return count(sizes(dim)) + missing

    smallest = count(sizes(step))
    if smallest > budget:
        raise ValueError(
            f"encoder.{BUDGET} is {budget:,}, and the smallest such encoder ({DIM} {step}) has "
            f"{smallest:,} trained numbers; allow more, or lower another of its sizes"
        )
    reach = 1
    while projected(step * reach) <= budget:
        reach *= 2
    dim = step * _largest(lambda steps: projected(step * steps) <= budget, reach // 2, reach)
    # Of the input's own width it needs no projection, and may fit though smaller ones do not.
    if input_dim > dim and input_dim % step == 0:
        before = count(sizes(dim)) if dim else 0
        dim = input_dim if before <= count(sizes(input_dim)) <= budget else dim
    if hidden <= 0:
        return sizes(dim), count(sizes(dim))
    least, most = sizes(dim)[HIDDEN], sizes(dim + step)[HIDDEN]

    def filled(wide: int) -> dict[str, int]:
        """With the widest hidden layer that fits between those of the two nearest ``dim``."""

        def fits(width: int) -> bool:
            return count({DIM: wide, HIDDEN: width}) <= budget

        return {DIM: wide, HIDDEN: _largest(fits, least, most + 1)}

    chosen = [filled(dim)]
    if count({DIM: dim + step, HIDDEN: least}) <= budget:
        chosen.append(filled(dim + step))
    fullest = max(chosen, key=count)
    return fullest, count(fullest)


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The largest number below ``high`` that fits, where ``low`` is known to."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
