"""Small models on drawn data: what most claims train."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from seqtag.batch import END, WORD, Batch, Layout, Target, TargetSpec
from seqtag.budget import resolve_budget
from seqtag.configuration import compose
from seqtag.model import Model

FIRST_SYMBOL = 2
"""Ids 0 and 1 are padding and the unknown symbol; drawn data use those from here on."""

Draw = Callable[[torch.Generator], Batch]
"""A batch drawn anew at each call."""


def make_model(
    overrides: Sequence[str],
    *,
    task: str,
    symbols: int,
    labels: int,
    seed: int,
    parameters: str | None = None,
) -> Model:
    """A model as ``train`` would make it of the same overrides, on drawn symbols, untrained.

    Args:
        overrides: as on the command line, such as ``encoder=cnn`` and ``encoder.dim=64``.
        task: ``tagging``, ``classification`` or ``seq2seq``.
        symbols: how many different symbols the input has, beside padding and unknown.
        labels: how many different labels, or symbols of a target sequence (their ids begin at 1).
        seed: of the weights.
        parameters: budget of the encoder, such as ``100k``.
    """
    names = tuple(str(number) for number in range(labels))
    target = TargetSpec(labels=names, counts=(1,) * labels, sequence=task == "seq2seq")
    vocabularies = {WORD: range(FIRST_SYMBOL + symbols)}
    config = _config(tuple(overrides), task, vocabularies[WORD], parameters)
    torch.manual_seed(seed)
    return Model.from_config(config, vocabularies, target)


@cache
def _config(
    overrides: tuple[str, ...], task: str, words: range, parameters: str | None
) -> dict[str, Any]:
    """The config of a training with its sizes worked out, which takes longer than the model."""
    own = [
        f"task={task}",
        "data.train=none",
        "embedding/spelling=none",
        "embedding.word_dropout=0",
    ]
    sized = [] if parameters is None else [f"encoder.parameters={parameters}"]
    config, _ = resolve_budget(compose("train", [*own, *overrides, *sized]), {WORD: words})
    return config


def make_batch(symbols: Tensor, target: Tensor, *, lengths: Tensor | None = None) -> Batch:
    """Drawn ids as a batch.

    Args:
        symbols: ``[batch, source]``, from ``FIRST_SYMBOL`` on, anything behind ``lengths``.
        target: label ids ``[batch, source]`` (-1: none here) or ``[batch]``; or ids of a target
            sequence ``[batch, target]`` with ``END`` behind it, where -1 is behind that.
        lengths: ``[batch]``; None where all rows are full.
    """
    if lengths is None:
        lengths = torch.full((len(symbols),), symbols.shape[1])
    present = target >= 0
    return Batch(
        inputs={WORD: symbols},
        layout=Layout.of(lengths),
        target=Target(value=target.where(present, END), present=present),
        rows=torch.arange(len(symbols)),
    )


def train(
    model: Model,
    draw: Draw,
    *,
    steps: int,
    lr: float,
    seed: int,
    warmup: float = 0.1,
    watch: Callable[[int, float], None] | None = None,
) -> None:
    """Train with AdamW; the rate rises over the first ``warmup`` of the steps, then falls to 0.

    Args:
        model: trained in place.
        draw: gives the batch of each step.
        steps: how many.
        lr: highest learning rate.
        seed: of the batches and of dropout.
        warmup: share of the steps.
        watch: is told the step and the loss.
    """
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    rising = max(1, int(warmup * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / rising, (steps - step) / max(1, steps - rising)),
    )
    device = next(model.parameters()).device
    for step in range(steps):
        loss = model(draw(generator).to(device))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if watch is not None:
            watch(step, loss.item())


@torch.inference_mode()
def accuracy(model: Model, batches: Sequence[Batch]) -> float:
    """Share of the gold labels that the model finds; of sequences, of those found whole."""
    model.eval()
    device = next(model.parameters()).device
    right = total = 0
    for batch in batches:
        assert batch.target is not None
        prediction = model.predict(batch.to(device))
        value = prediction.value.cpu()
        gold, present = batch.target.value, batch.target.present
        if prediction.complete is not None:  # sequences
            width = max(value.shape[1], gold.shape[1])
            pad = torch.nn.functional.pad
            value = pad(value, (0, width - value.shape[1]), value=END)
            gold = pad(gold, (0, width - gold.shape[1]), value=END)
            right += int((value == gold).all(dim=1).sum())
            total += len(gold)
        else:
            right += int(((value == gold) & present).sum())
            total += int(present.sum())
    return right / total


def count_parameters(model: Model) -> int:
    """Trained numbers of the encoder."""
    return model.parameters_by_part()["encoder"]
