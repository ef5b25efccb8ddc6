"""Contracts over every yaml: a new option is tested by being there."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from seqtag.configuration import compose, config_directory, options, sample_directory
from seqtag.datamodule import DataModule
from seqtag.predictor import choose_device
from seqtag.scoring import empty_scores, predict_batches
from seqtag.training.fit import make_loop
from seqtag.training.settings import check_settings

SMALL = {
    "encoder.dim": 8,
    "encoder.num_layers": 2,
    "encoder.num_heads": 2,
    "encoder.feedforward_dim": 8,
    "embedding.dim": 6,
}
SMALL_DECODER = ["decoder.dim=8", "decoder.num_heads=2", "decoder.feedforward_dim=8"]
WORDS = [["a", "b"], ["b"], ["c", "a", "b"], ["a", "a", "c", "b"]]
VECTORS = [[[float(len(word)), float(ord(word[0]))] for word in row] for row in WORDS]


def label_each(row: list[str]) -> Any:
    return ["X" if word == "a" else "Y" for word in row]


def number_each(row: list[str]) -> Any:
    return [float(ord(word)) for word in row]


def label(row: list[str]) -> Any:
    return "odd" if len(row) % 2 else "even"


def number(row: list[str]) -> Any:
    return float(len(row))


def backwards(row: list[str]) -> Any:
    return " ".join(reversed(row))


TARGETS: dict[str, Callable[[list[str]], Any]] = {
    "tagging": label_each,
    "token_regression": number_each,
    "classification": label,
    "regression": number,
    "seq2seq": backwards,
}
INPUTS: dict[str, tuple[list[Any], list[str]]] = {
    "words": (WORDS, []),
    "characters": (["".join(row) for row in WORDS], ["data/input_tokenizer=characters"]),
    "vectors": (VECTORS, []),
}
ENCODERS = [
    *(f"encoder={name}" for name in options("encoder")),
    "encoder=window encoder.radius=0",
    "encoder=lstm encoder.bidirectional=false",
    "encoder=attention encoder.num_kv_heads=1",
    "encoder=attention encoder.feedforward_dim=0",
    *(f"encoder/position={name}" for name in options("encoder/position")),
    *(f"encoder/scorer={name}" for name in options("encoder/scorer")),
    # No encoders, but what feeds any of them must do for every task and every kind of input.
    *(f"embedding/spelling={name}" for name in options("embedding/spelling")),
]
SEQ2SEQ = [
    *(f"decoder={name}" for name in options("decoder")),
    *(f"search={name}" for name in options("search")),
]
POOLINGS = [f"head/pooling={name}" for name in options("head/pooling")]


PAIRS = sorted(
    # Every two of encoder, task and input meet, which three loops over all would do less quickly.
    {(encoder, task, "words") for encoder in ENCODERS for task in options("task")}
    | {(encoder, "tagging", inputs) for encoder in ENCODERS for inputs in INPUTS}
    | {("encoder=attention", task, inputs) for task in options("task") for inputs in INPUTS}
    | {(option, "seq2seq", "characters") for option in SEQ2SEQ}
    | {(option, task, "words") for option in POOLINGS for task in ("classification", "regression")}
)


@lru_cache
def keys(task: str, chosen: str) -> frozenset[str]:
    return frozenset(compose("train", [f"task={task}", *chosen.split()])["encoder"])


def small(task: str, chosen: str) -> list[str]:
    """The overrides that make an encoder small, of those keys that it has."""
    sizes = [
        f"{key}={value}"
        for key, value in SMALL.items()
        if not key.startswith("encoder.") or key.partition(".")[2] in keys(task, chosen)
    ]
    # What is chosen comes last: it may be one of the sizes.
    return [*sizes, *chosen.split()]


@pytest.mark.parametrize(("encoder", "task", "inputs"), PAIRS)
def test_every_encoder_learns_and_predicts_every_target_from_every_input(
    encoder: str, task: str, inputs: str, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    rows, extra = INPUTS[inputs]
    file = tmp_path / "data.jsonl"
    file.write_text(
        "".join(
            json.dumps({"text": row, "label": TARGETS[task](words)}) + "\n"
            for row, words in zip(rows, WORDS, strict=True)
        )
    )
    config = compose(
        "train",
        [
            f"task={task}",
            "data=jsonl",
            f"data.train={file}",
            f"data.dev={file}",
            *extra,
            *small(task, encoder),
            *(SMALL_DECODER if task == "seq2seq" else []),
        ],
    )
    check_settings(config)
    data = DataModule(config)
    data.read_all(test=True)
    loop = make_loop(config, data)
    model, optimizer = loop.model, loop.configure_optimizers()
    batch = next(iter(data.batches("train", shuffle=True)))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    losses = []
    for _ in range(3):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(torch.isfinite(torch.tensor(losses)))
    moved = [not torch.equal(p, old) for p, old in zip(model.parameters(), before, strict=True)]
    assert sum(moved) > len(moved) / 2
    scores = empty_scores(data, "dev")
    for each, prediction in predict_batches(model, data, "dev", choose_device("cpu")):
        scores.update(prediction, each)
    assert all(value == value for value in scores.compute().values())


@pytest.mark.parametrize(
    "group",
    ["optimizer", "scheduler", "batching", "trainer", "callbacks", "embedding", "logger"],
)
def test_every_option_composes_and_names_what_may_be_built(group: str) -> None:
    assert options(group)
    for option in options(group):
        config = compose("train", [f"{group}={option}", "data.train=x"])
        check_settings(config)


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_experiment_composes_and_names_its_files(
    experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQTAG_BENCHMARK_DATA", "/benchmark")
    config = compose("train", [f"experiment={experiment}"])
    check_settings(config)
    for split in ("train", "dev", "test"):
        path = Path(config["data"][split])
        assert path.is_file() or str(path).startswith("/benchmark/")


def test_every_yaml_begins_with_a_line_that_says_how_it_is_used() -> None:
    for file in config_directory().rglob("*.yaml"):
        first, *others = file.read_text(encoding="utf-8").splitlines()
        usage = others[0] if first == "# @package _global_" else first
        assert usage.startswith("# "), file
        yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_samples_are_there() -> None:
    for name in ("pos", "purchase", "hydrophilic", "digits", "pronounce"):
        assert (sample_directory() / name / "README.md").is_file()


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_experiment_takes_another_encoder_and_no_spelling(
    experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQTAG_BENCHMARK_DATA", "/benchmark")
    # One without positions is the hard case: Hydra refuses to override what is not there.
    chosen = ["encoder=lstm", "embedding/spelling=none"]
    config = compose("train", [f"experiment={experiment}", *chosen])
    assert config["embedding"]["spelling"] == {}
    assert config["encoder"]["_target_"] == "seqtag.nn.encoders.lstm.LSTMEncoder"
    assert "position" not in config["encoder"]
