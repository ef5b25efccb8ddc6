"""Every input row yields exactly one output, in order, and nothing is cut in silence."""

from __future__ import annotations

import gzip
import io
import json
import logging
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from alignment_formats import ELEMENTS, FORMATS, NAMED, SEQUENCES, Format
from alignment_rows import ODD, VOCABULARY, Mixed, mix_words
from conftest import SMALL, SMALL_PARTS

import seqtag
from seqtag.checkpoint import BEST, own_part
from seqtag.commands.front import run_command
from seqtag.configuration import compose
from seqtag.data.readers.files import open_stream
from seqtag.data.source import build_reader
from seqtag.datamodule import DataModule
from seqtag.model import Model
from seqtag.tasks.task import Task

LIMIT = 4096
QUICK = 90
QUICK_GIANTS = (4_500,)
MANY = 10_000
LABELS = "ABCDE"

BATCHES = (
    {"max_rows": 1, "max_tokens": LIMIT},
    {"max_rows": 7, "max_tokens": 33},
    {"max_rows": 64, "max_tokens": LIMIT},
    {"max_rows": 64, "max_tokens": 700},
)
"""A window encoder of radius 1 needs windows of 9 elements and more, and rows have 31."""


@dataclass
class Oracle:
    """A run, and its answer to each body, read alone and in one piece."""

    folder: Path
    task: Task
    kind: str
    _predictor: Any
    _known: dict[Any, Any]

    def answer(self, body: list[Any], limit: int | None) -> Any:
        """What the row with this body is to get; None or an empty list for an empty row."""
        if not body:
            return [] if self.task.per_element else None
        read = body if limit is None or self.task.per_element else body[:limit]
        key = (id(body), len(read))
        if key not in self._known:
            (output,) = self._predictor.predict([read])
            self._known[key] = (output.value, body)  # the body, so that no other gets its id
        return self._known[key][0]

    def answers(self, mixed: Mixed, limit: int | None) -> list[Any]:
        bodies = [mixed.pool[number] if number >= 0 else [] for number in mixed.bodies]
        return [comparable(self.answer(body, limit)) for body in bodies]


def comparable(value: Any) -> Any:
    """An answer as text and numbers, however a file spells it."""
    if isinstance(value, list):
        return [comparable(entry) for entry in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


Oracles = Callable[[str, str], Oracle]
"""Told a task and the kind of its elements."""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracles:
    made: dict[tuple[str, str], Oracle] = {}

    def get(task: str, kind: str) -> Oracle:
        if (task, kind) not in made:
            made[task, kind] = build(task, kind, tmp_path_factory.mktemp(f"{task}-{kind}"))
        return made[task, kind]

    return get


def build(task: str, kind: str, folder: Path) -> Oracle:
    """An untrained model whose answers depend on every element, as a run."""
    drawn = random.Random(task)
    with (folder / "train.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(60):
            row = training_row(kind, number, drawn)
            label = [LABELS[(number + n) % 5] for n in range(len(row))]
            target: Any = {
                "tagging": label,
                "token_regression": [number + n for n in range(len(row))],
                "classification": label[0],
                "multi_label": sorted(set(label[:2])),
                "regression": number,
                "seq2seq": " ".join(label[:3]),
            }[task]
            stream.write(json.dumps({"text": row, "label": target}) + "\n")
    tokenizer = "characters" if kind == "characters" else "whitespace"
    target_tokenizer = tokenizer if task == "tagging" else "whitespace"
    config = compose(
        "train",
        (
            f"task={task}",
            "data=jsonl",
            f"data/input_tokenizer={tokenizer}",
            f"data/target_tokenizer={target_tokenizer}",
            *(SMALL if kind == "vectors" else (*SMALL, "embedding/spelling=none")),
            *SMALL_PARTS.get(task, ()),
            *(("search.max_length=5",) if task == "seq2seq" else ()),
        ),
    )
    config["cache"] = str(folder / "cache")
    for split in ("train", "dev"):
        config["data"][split] = str(folder / "train.jsonl")
    data = DataModule(config)
    data.read_all(test=False)
    torch.manual_seed(5)
    model = Model.from_config(config, data.inputs.fields, data.target)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
    content = {
        "epoch": 1,
        "global_step": 1,
        "state_dict": {f"model.{key}": value for key, value in model.state_dict().items()},
        "seqtag": own_part(config, data.inputs, data.target),
    }
    torch.save(content, folder / BEST)
    predictor = seqtag.load(folder, device="cpu", max_tokens=100_000)
    return Oracle(folder, data.task, kind, predictor, {})


def training_row(kind: str, number: int, drawn: random.Random) -> list[Any]:
    if kind == "characters":
        return ["abcdefgh"[(number + n) % 8] for n in range(8)]
    if kind == "vectors":
        return [[drawn.gauss(0, 2), drawn.gauss(5, 1)] for _ in range(5)]
    # Half of the odd tokens are known to the model.
    known = VOCABULARY + ODD[::2]
    return [known[(3 * number + n) % len(known)] for n in range(5)]


def node_of(shape: Format, task: Task, folder: Path) -> dict[str, Any]:
    """The settings with which a file of predictions is read as data."""
    kind = "characters" if shape.reads == "characters" else "whitespace"
    named = NAMED if shape.option in ("tsv", "csv", "jsonl", "table") else ()
    target_kind = kind if shape.option == "label_strings" else "whitespace"
    overrides = (
        f"data={shape.option}",
        f"data/input_tokenizer={kind}",
        f"data/target_tokenizer={target_kind}",
        *named,
        *shape.settings,
    )
    data = composed(*overrides) | ({"mask": None} if shape.option == "label_strings" else {})
    # An array of numbers has no other cell for an empty row's answer.
    return data | ({"missing": "nan"} if shape.option == "npz" and task.numeric else {})


@lru_cache
def composed(*overrides: str) -> dict[str, Any]:
    data: dict[str, Any] = compose("train", overrides)["data"]
    return data


def read_back(shape: Format, task: Task, path: Path) -> Iterator[tuple[list[Any], Any]]:
    """Elements and target of each row of a file of predictions."""
    reader = build_reader(
        node_of(shape, task, path.parent),
        per_element=task.per_element,
        sequence=task.sequence,
        several=task.several,
        read_target=True,
    )
    with open_stream(str(path)) as stream:
        for row in reader.read(stream, str(path)):
            elements = row["vectors"] if "vectors" in row else row["tokens"]
            yield elements, row["target"]


def read_bare(task: Task, path: Path) -> Iterator[tuple[None, Any]]:
    """The answers of a file that holds nothing else."""
    with open_stream(str(path)) as stream:
        text = stream.read().decode()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        per_row = line.split(" ") if line else []
        several = task.per_element or task.several
        yield None, per_row if several else line or None


def normal(value: Any, task: Task) -> Any:
    """An answer such that those which a format cannot tell apart are the same."""
    value = comparable(value)
    if task.per_element:
        return value or []
    if task.several:
        return sorted(value or [])
    if task.sequence:
        return (" ".join(value) if isinstance(value, list) else value) or ""
    return value


def close(one: Any, two: Any) -> bool:
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(close, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= 1e-5 * max(1, abs(one))
    return bool(one == two)


def predict(*words: str) -> None:
    assert run_command("predict", list(words)) == 0


def compare(shape: Format, oracle: Oracle, path: Path, mixed: Mixed, expected: list[Any]) -> None:
    """A file of predictions holds the inputs as they were, each with its answer."""
    task = oracle.task
    found = list(read_bare(task, path) if shape.bare else read_back(shape, task, path))
    assert len(found) == len(mixed.rows)
    for number, ((elements, value), row, answer) in enumerate(
        zip(found, mixed.rows, expected, strict=True)
    ):
        assert elements is None or elements == row, number
        assert close(normal(answer, task), normal(value, task)), (number, row[:40], answer, value)


def run_case(
    name: str,
    task: str,
    oracle: Oracle,
    folder: Path,
    *,
    count: int,
    batches: dict[str, int],
    gold: bool,
    giants: tuple[int, ...] | None,
    packed: bool = False,
) -> None:
    shape = FORMATS[name]
    mixed = shape.mix(count) if giants is None else shape.mix(count, giants=giants)
    if shape.option == "labelled" and task not in ELEMENTS:
        gold = True
    source = folder / (f"in.{shape.ending}" + ".gz" * packed)
    target = folder / (f"out.{shape.ending}" + ".gz" * packed)
    content = shape.write(mixed.rows, gold)
    source.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
    if not shape.empty:
        mixed = mixed.filled()
    settings = [f"batching.{key}={value}" for key, value in batches.items()]
    limit = batches["max_tokens"]
    long = [row for row in mixed.rows if len(row) > limit]
    if not oracle.task.per_element:
        settings.append("data.too_long=truncate")
    named = NAMED if shape.option in ("tsv", "csv", "jsonl", "table") else ()
    log = Heard()
    words = [f"data={shape.option}", *named, *shape.settings, *settings]
    with log:
        predict(str(oracle.folder), f"input={source}", f"output={target}", *words)
    compare(shape, oracle, target, mixed, oracle.answers(mixed, limit))
    how = "read in windows" if oracle.task.per_element else "read up to it alone"
    counted = [line for line in log.lines if "over the limit" in line]
    assert counted == (
        [
            f"{len(long):,} sequences over the limit of data.max_length (else batching.max_tokens) "
            f"were {how}"
        ]
        if long
        else []
    )


class Heard(logging.Handler):
    """What is logged while the context lasts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> None:
        # The command sets handlers of its own on the package's logger, and of none below it.
        logging.getLogger("seqtag.commands.predict").addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("seqtag.commands.predict").removeHandler(self)


CASES = [(name, task) for name, shape in FORMATS.items() for task in shape.tasks]
ONE_TASK_EACH = [
    (name, shape.tasks[number % len(shape.tasks)])
    for number, (name, shape) in enumerate(FORMATS.items())
]


def quick(name: str, task: str, oracle: Oracles, folder: Path) -> None:
    number = CASES.index((name, task))
    run_case(
        name,
        task,
        oracle(task, FORMATS[name].reads),
        folder,
        count=QUICK,
        batches=BATCHES[number % len(BATCHES)],
        gold=number % 3 == 0,
        giants=QUICK_GIANTS,
        packed=number % 5 == 0,
    )


@pytest.mark.parametrize(("name", "task"), ONE_TASK_EACH)
def test_each_row_has_its_answer_in_every_format(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    quick(name, task, oracle, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), [case for case in CASES if case not in ONE_TASK_EACH])
def test_each_row_has_its_answer_for_every_task(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    quick(name, task, oracle, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), ONE_TASK_EACH)
def test_ten_thousand_rows_have_their_answers_in_every_format(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    run_case(
        name,
        task,
        oracle(task, FORMATS[name].reads),
        tmp_path,
        count=MANY,
        batches=BATCHES[(ONE_TASK_EACH.index((name, task)) + 1) % len(BATCHES)],
        gold=False,
        giants=None,
    )
