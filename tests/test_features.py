"""What stands beside the input reaches the output, whatever the encoder."""

import random
from typing import Any

import pytest
import torch

from seqtag.batch import Batch, Row
from seqtag.budget import resolve_budget
from seqtag.configuration import compose, options
from seqtag.data.collation import collate
from seqtag.data.inputs import Inputs
from seqtag.model import Model
from seqtag.tasks.task import Task

SMALL = ["embedding.dim=16", "encoder.dim=16", "encoder.num_layers=1"]
QUICK = "pointwise"
COLUMNS = {"features": ["kind, a.b"], "numeric_features": [4]}


def rows(count: int, *, seed: int, vectors: bool) -> list[Row]:
    """Labels that two columns decide together, beside elements that say nothing of them."""
    drawn = random.Random(seed)
    made = []
    for _ in range(count):
        size = drawn.randint(1, 6)
        kinds = [drawn.choice("xyz") for _ in range(size)]
        numbers = [drawn.choice([None, 7.0, 9.0]) for _ in range(size)]
        row: Row = {
            "target": [f"{kind}{number}" for kind, number in zip(kinds, numbers, strict=True)],
            "features": {"kind, a.b": kinds, "4": numbers},
        }
        if vectors:
            row["vectors"] = [[drawn.gauss(0, 1)] * 2 for _ in range(size)]
        else:
            row["tokens"] = [drawn.choice("abcdef") for _ in range(size)]
        made.append(row)
    return made


def encode(made: list[Row], inputs: Inputs, task: Task, spec: Any) -> Batch:
    encoded = [inputs.encode(row) | task.encode(row["target"], spec) for row in made]
    fields = list(inputs.fields)
    return collate(encoded, range(len(made)), fields=fields, collate_target=task.collate)


def accuracy(encoder: str, *, vectors: bool) -> float:
    config = compose("train", [f"encoder={encoder}", *SMALL])
    heads = {"num_heads", "num_kv_heads"} & config["encoder"].keys()
    config["encoder"] |= dict.fromkeys(heads, 2)
    train, test = (rows(n, seed=n, vectors=vectors) for n in (200, 60))
    task = Task.from_config(config)
    spec = task.fit(lambda: (row["target"] for row in train))
    inputs = Inputs.fit(
        iter(train), vectors=vectors, words=True, spelling=(), data={**config["data"], **COLUMNS}
    )
    torch.manual_seed(0)
    model = Model.from_config(config, inputs.fields, spec)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    batch = encode(train, inputs, task, spec)
    for _ in range(60):
        optimizer.zero_grad()
        model(batch).backward()
        optimizer.step()
    unseen = encode(test, inputs, task, spec)
    with torch.inference_mode():
        found = model.eval().predict(unseen).value
    right = (found == unseen.target.value)[unseen.layout.valid]
    return float(right.float().mean())


@pytest.mark.parametrize(
    "encoder",
    [
        name if name == QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in options("encoder")
    ],
)
@pytest.mark.parametrize("vectors", [False, True], ids=["tokens", "vectors"])
def test_columns_that_alone_determine_the_label_are_learnt(encoder: str, vectors: bool) -> None:
    assert accuracy(encoder, vectors=vectors) > 0.97


def test_an_encoder_is_sized_beside_features() -> None:
    made = rows(20, seed=1, vectors=False)
    config = compose("train", ["encoder.parameters=20k", "embedding.dim=16"])
    inputs = Inputs.fit(
        iter(made), vectors=False, words=True, spelling=(), data={**config["data"], **COLUMNS}
    )
    sized, line = resolve_budget(config, inputs.fields)
    assert line is not None
    assert sized["encoder"]["parameters"] is None
