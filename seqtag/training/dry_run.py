"""Build everything and run one batch, to see sizes before time is spent."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pytorch_lightning import seed_everything

from seqtag.budget import resolve_budget
from seqtag.device import choose_device
from seqtag.doctor import examine
from seqtag.training.fit import make_loop, quiet_lightning, read_data
from seqtag.training.settings import check_settings

log = logging.getLogger(__name__)


def dry_run(config: Mapping[str, Any]) -> None:
    """Print the data, the shapes of one training batch through the model, and its parameters.

    Raises:
        ValueError: as for a training run; nothing is written.
    """
    quiet_lightning()
    check_settings(config)
    data = read_data(config)
    for line in examine(data):
        log.info(line)
    config, sized = resolve_budget(config, data.inputs.fields)
    if sized is not None:
        log.info(sized)
    seed_everything(config["seed"], verbose=False)
    loop = make_loop(config, data)
    loop.configure_optimizers()
    model = loop.model
    device = choose_device(config["device"])
    model.to(device)
    batch = next(iter(data.train_dataloader())).to(device)
    embedded = model.embedding(batch.inputs, batch.layout)
    states = model.encoder(embedded, batch.layout)
    loss = model.head.loss(states, batch)
    loss.backward()  # type: ignore[no-untyped-call]
    prediction = model.head.predict(states, batch)
    print(f"batch       {_shapes(batch.inputs)}, {int(batch.layout.lengths_cpu.sum())} elements")
    if batch.target is not None:
        print(f"target      {_shape(batch.target.value)}")
    print(f"embedding   {_shape(embedded)}")
    print(f"encoder     {_shape(states)}")
    print(f"prediction  {_shape(prediction.value)}")
    print(f"loss        {loss.item():.4f}")
    sizes = model.parameters_by_part()
    for name, size in (sizes | {"total": sum(sizes.values())}).items():
        print(f"{name:<11} {size:>11,} parameters")


def _shape(tensor: Any) -> str:
    return "[" + ", ".join(map(str, tensor.shape)) + "]"


def _shapes(inputs: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_shape(values)}" for name, values in inputs.items())
