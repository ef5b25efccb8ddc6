"""Sizes an encoder to a budget of trained numbers, so that a comparison is one of equals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sized
from typing import Any, NamedTuple

import torch

from seqtag.configuration import build, check
from seqtag.model import BUDGET, KINDS, encoder_node

DIM, HIDDEN, HEADS, HEAD_DIM = "dim", "feedforward_dim", "num_heads", "head_dim"
"""Keys of an encoder's node that a budget sets or heeds; all but the first may be absent."""

WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?([kKmM]?)")
TIMES = {"": 1, "k": 1_000, "m": 1_000_000}

TRIES = 100
"""Of how many widths, from the smallest on, one must be such that the encoder can be built."""

NEAR = 0.95
"""Of a budget, the share below which a size is said to miss it."""


class Sizing(NamedTuple):
    """What an encoder is made of.

    Attributes:
        sizes: ``dim``, and ``feedforward_dim`` where the encoder has a hidden layer.
        parameters: how many trained numbers it then has.
        larger: how many it would have one step larger, more than the budget.
    """

    sizes: dict[str, int]
    parameters: int
    larger: int


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
        config: with the nodes ``embedding``, ``encoder`` and ``head``.
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
    # A pooling of the head may share the encoder's width out among heads of its own.
    pooling = config["head"].get("pooling") or {}
    shared_by = pooling.get(HEADS, 1) if isinstance(pooling, Mapping) else 1
    sizing = size_encoder(bare, embedding.output_dim, budget, multiple_of=shared_by)
    named = ", ".join(f"{key} {size}" for key, size in sizing.sizes.items())
    line = (
        f"encoder.{BUDGET}={config['encoder'][BUDGET]}: {named}, {sizing.parameters:,} parameters"
    )
    if sizing.parameters < NEAR * budget:
        missed = 1 - sizing.parameters / budget
        line += f", {missed:.0%} below the budget: the next larger has {sizing.larger:,}"
    return {**config, "encoder": node | sizing.sizes}, line


def size_encoder(
    node: Mapping[str, Any], input_dim: int, budget: int, *, multiple_of: int = 1
) -> Sizing:
    """The sizes of the largest encoder that keeps a budget.

    That is the largest ``dim``, with ``feedforward_dim`` in the proportion to it that the node has.
    A ``dim`` is a multiple of 2, or of 2 for each head where it makes their width; as this leaves a
    part of the budget over, ``feedforward_dim`` is then made as large as fits: with this ``dim`` or
    with the next one, if that has room for as wide a hidden layer and is the fuller of the two
    while the layer is no wider than in proportion to the next.

    Args:
        node: of the encoder, without the budget.
        input_dim: width of the elements that come in.
        budget: how many trained numbers there may be.
        multiple_of: what ``dim`` must also be a multiple of.

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
    step = math.lcm(step, max(1, multiple_of))
    hidden = node.get(HIDDEN, 0)

    def sizes(dim: int) -> dict[str, int]:
        return {DIM: dim} | ({HIDDEN: max(1, dim * hidden // node[DIM])} if hidden > 0 else {})

    def count(chosen: Mapping[str, int]) -> int:
        # Shapes without numbers: nothing is drawn or stored, whatever the size.
        with torch.device("meta"):
            encoder = build({**node, **chosen}, input_dim, kinds=KINDS, name="encoder")
        return sum(p.numel() for p in encoder.parameters() if p.requires_grad)

    def projected(dim: int) -> int:
        """With a projection even where the widths are equal, so that the count always grows."""
        missing = input_dim * dim + dim if dim == input_dim else 0
        return count(sizes(dim)) + missing

    first = _first_that_builds(lambda number: count(sizes(step * number)))
    smallest = count(sizes(step * first))
    if smallest > budget:
        raise ValueError(
            f"encoder.{BUDGET} is {budget:,}, and the smallest such encoder ({DIM} {step * first}) "
            f"has {smallest:,} trained numbers; allow more, or lower another of its sizes"
        )
    steps = _largest(lambda steps: projected(step * steps) <= budget, first - 1)
    dim = step * steps
    # Of the input's own width it needs no projection, and may fit though smaller ones do not.
    if input_dim > dim and input_dim % step == 0:
        before = count(sizes(dim)) if steps >= first else 0
        dim = input_dim if before <= count(sizes(input_dim)) <= budget else dim
    parameters = count(sizes(dim))
    least, most = (sizes(wide).get(HIDDEN, 0) for wide in (dim, dim + step))
    if hidden <= 0 or count({DIM: dim, HIDDEN: least + 1}) == parameters:  # none, or in no layer
        above = (count(sizes(dim + more)) for more in (step, 2 * step))
        return Sizing(sizes(dim), parameters, next(other for other in above if other > budget))

    chosen = []
    for wide in (dim, dim + step):
        # Each unit of a hidden layer has as many numbers as every other.
        narrow, wider = (count({DIM: wide, HIDDEN: least + more}) for more in (0, 1))
        units, each = (budget - narrow) // (wider - narrow), wider - narrow
        if units >= 0:
            total = narrow + units * each
            found = Sizing({DIM: wide, HIDDEN: least + units}, total, total + each)
            chosen.append((narrow + min(units, most - least) * each, found))
    return max(chosen, key=lambda pair: pair[0])[1]


def _first_that_builds(make: Callable[[int], Any]) -> int:
    """The first of 1, 2, 3, ... that an encoder can be made with.

    Raises:
        ValueError: it cannot with any up to ``TRIES``; what it said to the first.
    """
    refused: list[ValueError] = []
    for number in range(1, TRIES + 1):
        try:
            make(number)
        except ValueError as error:
            refused.append(error)
        else:
            return number
    raise refused[0]


def _largest(fits: Callable[[int], bool], low: int) -> int:
    """The largest number that fits, where ``low`` is known to, and so do all that are less."""
    reach = 1
    while fits(low + reach):
        low, reach = low + reach, 2 * reach
    high = low + reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
