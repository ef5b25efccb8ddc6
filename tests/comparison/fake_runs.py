"""Run directories written by hand: small classifiers whose every answer the test decides."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import torch
import yaml

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.configuration import compose
from seqtag.evaluation.metrics import Metric
from seqtag.tasks.task import Task

LABELS = ("yes", "no")
FLOOR = {"floor": {"heading": "floor", "meaning": "the most frequent label"}}


@lru_cache
def composed(*overrides: str) -> dict[str, Any]:
    """A config of a training, composed once."""
    return compose("train", ["task=classification", "data=tsv", "device=cpu", *overrides])


def digest(content: Any) -> str:
    """The hash that the contract of the rows' file has."""
    return sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


def fake_run(
    folder: Path,
    answers: str,
    *,
    gold: str = "yynnyn",
    encoder: str = "lstm",
    seed: int = 1,
    split: str = "test",
    labels: Sequence[str] = LABELS,
    overrides: Sequence[str] = (),
    config: Mapping[str, Any] = {},
    metrics: Mapping[str, float] = {},
    environment: Mapping[str, Any] = {},
    fold: tuple[int, int] | None = None,
    floor: str | None = None,
    word: str = "word",
    drop: Sequence[str] = (),
) -> Path:
    """Write the directory of a finished run.

    Args:
        folder: to write.
        answers: a letter for each row, the first of the label that it gives.
        gold: the same of what is right; ``-`` for none.
        encoder: its option.
        seed: of the run.
        split: that was scored.
        labels: that training knew.
        overrides: further words of the command line.
        config: dotted keys to set.
        metrics: further entries of ``metrics.json``.
        environment: further entries of ``environment.json``.
        fold: number and count.
        floor: the answers of a floor.
        word: that all inputs begin with.
        drop: columns to leave out.
    """
    settings = deepcopy(composed(f"encoder={encoder}", *overrides))
    settings["seed"] = seed
    if fold is not None:
        settings["data"] |= {"fold": fold[0], "folds": fold[1]}
    for key, value in config.items():
        node = settings
        *parents, last = key.split(".")
        for parent in parents:
            node = node[parent]
        node[last] = value
    spec = TargetSpec(labels=tuple(labels), counts=(1,) * len(labels))
    measures = {
        name: measure
        for name, measure in Task.from_config(settings).metrics(spec).items()
        if isinstance(measure, Metric) and not measure.reads_probabilities
    }
    ids = {label[0]: number for number, label in enumerate(labels)}
    target = Target(
        value=torch.tensor([ids.get(letter, 0) for letter in gold], dtype=torch.long),
        present=torch.tensor([letter != "-" for letter in gold]),
    )

    def statistics(letters: str) -> dict[str, Any]:
        value = torch.tensor([ids[letter] for letter in letters], dtype=torch.long)
        return {
            name: measure.row_statistics(Prediction(value), target)
            for name, measure in measures.items()
        }

    tokens = [[word, f"w{place}"] for place in range(len(gold))]
    names = {letter: label for label in labels for letter in label[0]}
    targets = [names.get(letter) for letter in gold]
    found = statistics(answers)
    columns: dict[str, Any] = {
        "row": pyarrow.array(range(len(gold)), pyarrow.int64()),
        "source": [digest(row) for row in tokens],
        "gold": [digest([one, None]) for one in targets],
    }
    columns |= {name: table.tolist() for name, table in found.items()}
    scores = {
        f"{split}/{name}": measures[name].score(table.sum(dim=0)) for name, table in found.items()
    }
    if floor is not None:
        for name, table in statistics(floor).items():
            columns[f"floor/{name}"] = table.tolist()
            scores[f"floor/{split}/{name}"] = measures[name].score(table.sum(dim=0))
    meaning = {
        "format": 1,
        "split": split,
        "spec": spec.state(),
        "selection": "accuracy",
        "floors": FLOOR if floor is not None else {},
    }
    columns = {name: values for name, values in columns.items() if name not in drop}
    folder.mkdir(parents=True)
    table = pyarrow.table(columns).replace_schema_metadata({b"seqtag": json.dumps(meaning)})
    pyarrow.parquet.write_table(table, folder / f"{split}_rows.parquet")
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    words = [f"encoder={encoder}", *overrides]
    (folder / "overrides.yaml").write_text(yaml.safe_dump(words), encoding="utf-8")
    about = {"git_commit": "abc", "python": "3.11", "device": "cpu", "threads": 1, "seed": seed}
    write(folder / "environment.json", about | {"packages": {"torch": "2"}} | dict(environment))
    numbers = {"parameters": 10, "best_epoch": 2, "train/seconds": 5.0, "dev/accuracy": 0.5}
    numbers |= {"train/tokens_per_second": 100.0}
    write(
        folder / "metrics.json",
        {n: None if v != v else v for n, v in (numbers | scores | dict(metrics)).items()},
    )
    (folder / "metrics.csv").write_text(
        "epoch,dev/accuracy,train/loss\n1,0.25,2.5\n2,0.5,\n", encoding="utf-8"
    )
    lines = [
        json.dumps({"tokens": row, "gold": one, "predicted": names[answer]})
        for row, one, answer in zip(tokens, targets, answers, strict=True)
    ]
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")
