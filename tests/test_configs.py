"""Contracts over every yaml: a new option is tested by being there."""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from seqtag.configuration import compose, config_directory, options, sample_directory
from seqtag.datamodule import DataModule
from seqtag.device import choose_device
from seqtag.preparation.preparation import FILES
from seqtag.scoring import empty_scores, predict_batches
from seqtag.training.fit import make_loop
from seqtag.training.settings import check_settings

SMALL = {
    "encoder.dim": 16,
    "encoder.num_layers": 2,
    "encoder.num_heads": 4,
    "encoder.feedforward_dim": 8,
    "encoder.limit": 6,
    "embedding.dim": 6,
    "decoder.dim": 8,
    "decoder.num_layers": 1,
    "decoder.num_heads": 2,
    "decoder.feedforward_dim": 8,
}
PARTS = ("task=", "encoder=", "decoder=")
WORDS = [["a", "b"], ["b"], ["c", "a", "b"], ["a", "a", "c", "b"]]
VECTORS = [[[float(len(word)), float(ord(word[0]))] for word in row] for row in WORDS]


def label_each(row: list[str]) -> Any:
    return ["X" if word == "a" else "Y" for word in row]


def number_each(row: list[str]) -> Any:
    return [float(ord(word)) for word in row]


def label(row: list[str]) -> Any:
    return "odd" if len(row) % 2 else "even"


def labels(row: list[str]) -> Any:
    return sorted(set(row))


def number(row: list[str]) -> Any:
    return float(len(row))


def backwards(row: list[str]) -> Any:
    return " ".join(reversed(row))


TARGETS: dict[str, Callable[[list[str]], Any]] = {
    "tagging": label_each,
    "token_regression": number_each,
    "classification": label,
    "multi_label": labels,
    "regression": number,
    "seq2seq": backwards,
}
INPUTS: dict[str, tuple[list[Any], list[str]]] = {
    "words": (WORDS, []),
    "characters": (["".join(row) for row in WORDS], ["data/input_tokenizer=characters"]),
    "vectors": (VECTORS, []),
}
# What an attention encoder is made of; each value is what a user would type for it.
ATTENTION: dict[str, list[str]] = {
    "task": [f"task={name}" for name in options("task")],
    "position": [f"encoder/position={name}" for name in options("encoder/position")],
    "scorer": [f"encoder/scorer={name}" for name in options("encoder/scorer")],
    "sharing": [f"encoder.num_kv_heads={number}" for number in (4, 2, 1)],
    "inputs": list(INPUTS),
    "norm": [f"encoder/norm={name}" for name in options("encoder/norm")],
    "activation": [f"encoder/activation={name}" for name in options("encoder/activation")],
    "places": ["encoder.pre_norm=true", "encoder.pre_norm=false"],
    "depth": ["encoder.tied=false", "encoder.tied=true"],
    "reach": ["encoder.radius=null", "encoder.radius=1", "encoder.feedforward_dim=0"],
}
# And what any encoder stands between.
AROUND: dict[str, list[str]] = {
    "task": ATTENTION["task"],
    "encoder": [
        *(f"encoder={name}" for name in options("encoder")),
        "encoder=lstm encoder.bidirectional=false",
        "encoder=cnn encoder.global_pooling=true",
    ],
    "spelling": [f"embedding/spelling={name}" for name in options("embedding/spelling")],
    "inputs": list(INPUTS),
    "pooling": [f"head/pooling={name}" for name in options("head/pooling")],
    "decoder": [f"decoder={name}" for name in options("decoder")],
    "search": [f"search={name}" for name in options("search")],
}
# Of a new sequence, whose parts meet above only where the task happens to be that one.
DECODED: dict[str, list[str]] = {
    "task": ["task=seq2seq"],
    "decoder": AROUND["decoder"],
    "search": AROUND["search"],
}
ONLY_FOR = {
    # A head that keeps every element pools nothing, and only new sequences are decoded.
    "pooling": ("task=classification", "task=multi_label", "task=regression"),
    "decoder": ("task=seq2seq",),
    "search": ("task=seq2seq",),
}


def all_pairs(factors: dict[str, list[str]]) -> list[dict[str, str]]:
    """Few combinations in which every two values of different factors meet at least once."""
    missing = {
        frozenset({(one, first), (other, second)})
        for one, other in combinations(factors, 2)
        for first, second in product(factors[one], factors[other])
    }
    cases = []
    while missing:
        # Begin with a pair that is missing, then let each factor take what meets most anew.
        case = dict(min(map(sorted, missing)))
        for name in sorted(factors, key=lambda name: (-len(factors[name]), name)):
            if name not in case:
                case[name] = max(
                    factors[name],
                    key=lambda value: sum(
                        frozenset({(name, value), known}) in missing for known in case.items()
                    ),
                )
        missing -= {frozenset(pair) for pair in combinations(case.items(), 2)}
        cases.append(case)
    return cases


def as_typed(case: dict[str, str]) -> tuple[str, str]:
    """The overrides of a case, and its inputs; without what its task has no use for."""
    words = [
        word
        for name, word in case.items()
        if name != "inputs" and case["task"] in ONLY_FOR.get(name, ATTENTION["task"])
    ]
    if case["task"] == "task=seq2seq" and "position" in case:
        # The decoder's own attention takes the same kind.
        words.append(case["position"].replace("position=", "position@decoder.position="))
    return " ".join(words), case.get("inputs", "words")


COVER = sorted(
    {as_typed(case) for factors in (ATTENTION, AROUND, DECODED) for case in all_pairs(factors)}
)
FOUR = ("task", "position", "scorer", "sharing")
PRODUCT = sorted(
    as_typed(dict(zip(FOUR, values, strict=True)))
    for values in product(*(ATTENTION[name] for name in FOUR))
)


@lru_cache
def keys(options: str) -> frozenset[str]:
    """The keys of the encoder and the decoder that the chosen options have."""
    config = compose("train", ["data.train=x", *options.split()])
    return frozenset(
        f"{part}.{key}" for part in ("encoder", "decoder") for key in config.get(part, {})
    )


def small(chosen: str) -> list[str]:
    """The overrides that make the parts small, of those keys that they have."""
    there = keys(" ".join(word for word in chosen.split() if word.startswith(PARTS)))
    sizes = [
        f"{key}={value}"
        for key, value in SMALL.items()
        if key.startswith("embedding.") or key in there
    ]
    # What is chosen comes last: it may be one of the sizes.
    return [*sizes, *chosen.split()]


def test_two_values_of_any_two_factors_meet_in_the_cover() -> None:
    cases = all_pairs(ATTENTION)
    met = {frozenset(pair) for case in cases for pair in combinations(case.items(), 2)}
    for one, other in combinations(ATTENTION, 2):
        for first, second in product(ATTENTION[one], ATTENTION[other]):
            assert frozenset({(one, first), (other, second)}) in met
    assert len(cases) < 1.5 * len(ATTENTION["position"]) * len(ATTENTION["task"])


@pytest.mark.parametrize(("chosen", "inputs"), COVER)
def test_whatever_can_be_combined_learns_and_predicts(
    chosen: str, inputs: str, tmp_path: Path
) -> None:
    learn_and_predict(chosen, inputs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "inputs"), PRODUCT)
def test_every_position_scorer_and_sharing_learns_and_predicts_every_target(
    chosen: str, inputs: str, tmp_path: Path
) -> None:
    learn_and_predict(chosen, inputs, tmp_path)


def learn_and_predict(chosen: str, inputs: str, tmp_path: Path) -> None:
    """Three steps of training without a trainer, then the scores of dev."""
    torch.manual_seed(0)
    task = re.search(r"\btask=(\w+)", chosen)[1]
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
            "data=jsonl",
            f"data.train={file}",
            f"data.dev={file}",
            *extra,
            *small(chosen),
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
    for path in (Path(config["data"][split]) for split in FILES if config["data"][split]):
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
