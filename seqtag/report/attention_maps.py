"""Who attends to whom in one sequence: recorded weights, and what their rows and columns are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seqtag.batch import END, Batch, Prediction, Target
from seqtag.model import Model
from seqtag.nn.attention import Attention, record_weights

BEGINNING, BEHIND = "⟨start⟩", "⟨end⟩"
"""What a decoder reads before the first symbol; what stands behind the last symbol or element."""

LEARNED = "⟨query⟩"
"""What pooling asks with: one learned vector, no element."""

Weights = NDArray[np.floating]


@dataclass(frozen=True)
class Layer:
    """The weights of one layer.

    Attributes:
        module: where it stands in the model.
        weights: ``[heads, query, key]``; each row sums to one, or is zero.
    """

    module: str
    weights: Weights


@dataclass(frozen=True)
class AttentionMap:
    """One of a model's parts that attend, over one sequence.

    Attributes:
        part: in words, ``encoder self-attention``.
        queries: what the rows of the weights stand for, each of which gathers ...
        keys: ... from what the columns stand for.
        layers: first to last.
    """

    part: str
    queries: list[str]
    keys: list[str]
    layers: list[Layer]

    @property
    def pools(self) -> bool:
        """Whether there is one query, which is no part of the sequence."""
        return self.queries == [LEARNED]


def attends(model: nn.Module) -> bool:
    """Whether there is any attention in a model."""
    return any(isinstance(module, Attention) for module in model.modules())


@torch.inference_mode()
def record(model: Model, batch: Batch) -> tuple[Prediction, dict[str, list[Tensor]]]:
    """What a model predicts for one row, and its weights once more over that prediction.

    The weights are of the pass that training makes, with the prediction as the gold values: so
    those of a decoder are of the whole output at once, each symbol after those found before it.

    Args:
        model: in evaluation mode.
        batch: one row, not empty.

    Returns:
        The prediction, and by module the weights of each call, ``[1, heads, query, key]``.
    """
    prediction = model.predict(batch)
    with record_weights(model) as weights:
        gold = Target(
            value=prediction.value,
            present=torch.ones_like(prediction.value, dtype=torch.bool),
        )
        model(replace(batch, target=gold))
    return prediction, weights


def read_symbols(value: Tensor, labels: Sequence[str]) -> list[str]:
    """Symbols of a found sequence ``value [target]``, and its end where the model chose one."""
    names = (BEHIND, *labels)
    assert names[END] == BEHIND, "the end has the first id"
    return [names[index] for index in value.tolist()]


def attention_maps(
    recorded: dict[str, list[Tensor]], *, elements: list[str], symbols: list[str]
) -> list[AttentionMap]:
    """Recorded weights by part of the model, their axes named.

    Args:
        recorded: by module name, of each call, ``[1, heads, query, key]``. Layers that are one
            module are several calls of it.
        elements: of the input.
        symbols: of the output, its end included; empty where the output is no sequence.

    Returns:
        A map for each part that was called, in the order of the model.
    """
    parts: dict[str, list[Layer]] = {}
    for module, calls in recorded.items():
        # All layers of a stack have one name but for their number.
        stack = re.sub(r"(?<=\.)\d+(?=\.|$)", "*", module)
        parts.setdefault(stack, []).extend(Layer(module, _plain(call[0])) for call in calls)
    return [
        _name_axes(stack, layers, elements, symbols) for stack, layers in parts.items() if layers
    ]


def _name_axes(
    stack: str, layers: list[Layer], elements: list[str], symbols: list[str]
) -> AttentionMap:
    """Where a module stands says what it looks from, and at."""
    names = stack.split(".")
    if "decoder" in names and "self_attention" in names:
        # The row of a symbol is the step that finds it, which has read those before it.
        part, queries, keys = "decoder self-attention", symbols, [BEGINNING, *symbols[:-1]]
    elif "decoder" in names:
        part, queries, keys = "decoder cross-attention", symbols, elements
    elif "pooling" in names:
        part, queries, keys = "pooling", [LEARNED], elements
    elif "encoder" in names:
        part, queries, keys = "encoder self-attention", elements, elements
    else:
        part, queries, keys = stack, elements, elements
    _, rows, width = layers[0].weights.shape
    return AttentionMap(part, _fit(queries, rows), _fit(keys, width), layers)


def _fit(names: list[str], count: int) -> list[str]:
    """The names of an axis; plain numbers where it is not the one that they are for."""
    if count == len(names) + 1:
        return [*names, BEHIND]  # the learned end behind a decoder's input
    return list(names) if count == len(names) else [str(n) for n in range(1, count + 1)]


def _plain(weights: Tensor) -> Weights:
    # numpy has no bfloat16; what is wider than that stays as it is.
    wide = weights if weights.dtype in (torch.float32, torch.float64) else weights.float()
    array: Weights = wide.cpu().numpy()
    return array
