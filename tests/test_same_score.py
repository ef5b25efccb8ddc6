"""One checkpoint, one score: by every way of asking, from anywhere, in any batches."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seqtag.commands.front import run_command
from seqtag.configuration import config_directory, sample_directory

MODEL_GROUPS = (
    "task",
    "embedding",
    "encoder",
    "head",
    "decoder",
    "search",
    "metric",
    "optimizer",
    "scheduler",
)

ASK = """
import contextlib, io, json, sys
from pathlib import Path
import seqtag
from seqtag.commands.front import run_command

run, test, answers = sys.argv[1:4]
options = sys.argv[4:]
for rows in (1, 7, 64):
    size = f"batching.max_rows={rows}"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run_command("evaluate", [run, f"data.test={test}", size]) == 0
    folder = Path(printed.getvalue().splitlines()[-1])
    Path(answers, f"evaluate{rows}.json").write_text((folder / "metrics.json").read_text())
    predicted = Path(answers, f"predict{rows}{Path(test).suffix}")
    assert run_command("predict", [run, f"input={test}", f"output={predicted}", size]) == 0
    inputs = json.loads(Path(answers, "inputs.json").read_text())
    outputs = [o.value for o in seqtag.load(run, max_rows=rows).predict(inputs)]
    Path(answers, f"python{rows}.json").write_text(json.dumps(outputs))
"""


def conllu_cells(file: Path) -> list[list[str]]:
    sentences = file.read_text(encoding="utf-8").strip().split("\n\n")
    return [
        [line.split("\t")[3] for line in sentence.splitlines() if line[0].isdigit()]
        for sentence in sentences
    ]


def conllu_inputs(file: Path) -> list[list[str]]:
    sentences = file.read_text(encoding="utf-8").strip().split("\n\n")
    return [
        [line.split("\t")[1] for line in sentence.splitlines() if line[0].isdigit()]
        for sentence in sentences
    ]


def conll_column(column: int) -> Any:
    def cells(file: Path) -> list[list[Any]]:
        sessions = file.read_text(encoding="utf-8").strip().split("\n\n")
        return [[line.split("\t")[column] for line in s.splitlines()] for s in sessions]

    return cells


def csv_column(name: str) -> Any:
    def cells(file: Path) -> list[str]:
        import csv

        with file.open(encoding="utf-8", newline="") as stream:
            return [row[name] for row in csv.DictReader(stream)]

    return cells


def jsonl_key(name: str) -> Any:
    def cells(file: Path) -> list[Any]:
        return [json.loads(line)[name] for line in file.read_text().splitlines()]

    return cells


def tsv_column(column: int) -> Any:
    def cells(file: Path) -> list[str]:
        return [line.split("\t")[column] for line in file.read_text(encoding="utf-8").splitlines()]

    return cells


def flat(rows: list[Any]) -> list[Any]:
    return [cell for row in rows for cell in (row if isinstance(row, list) else [row])]


def accuracy(gold: list[Any], predicted: list[Any]) -> float:
    pairs = list(zip(flat(gold), flat(predicted), strict=True))
    return sum(a == b for a, b in pairs) / len(pairs)


def word_error_rate(gold: list[str], predicted: list[str]) -> float:
    return 1 - accuracy(gold, predicted)


def rmse(gold: list[Any], predicted: list[Any]) -> float:
    pairs = list(zip(flat(gold), flat(predicted), strict=True))
    return math.sqrt(sum((float(a) - float(b)) ** 2 for a, b in pairs) / len(pairs))


CASES = {
    "pos": ("pos/test.conllu", conllu_inputs, conllu_cells, "accuracy", accuracy),
    "purchase": ("purchase/test.conll", conll_column(0), conll_column(1), "rmse", rmse),
    "hydrophilic": (
        "hydrophilic/test.csv",
        csv_column("smiles"),
        csv_column("hydrophilic"),
        "accuracy",
        accuracy,
    ),
    "solubility": (
        "hydrophilic/test.csv",
        csv_column("smiles"),
        csv_column("solubility"),
        "rmse",
        rmse,
    ),
    "pronounce": (
        "pronounce/test.tsv",
        tsv_column(0),
        tsv_column(1),
        "word_error_rate",
        word_error_rate,
    ),
    "digits": ("digits/test.jsonl", jsonl_key("rows"), jsonl_key("digit"), "accuracy", accuracy),
}


@pytest.mark.slow
@pytest.mark.parametrize("experiment", CASES)
def test_every_way_of_asking_gives_one_score(experiment: str, tmp_path: Path) -> None:
    name, read_inputs, read_cells, metric, score = CASES[experiment]
    test = tmp_path / f"moved{Path(name).suffix}"
    shutil.copy(sample_directory() / name, test)
    # Trained on a copy of the data, which is gone afterwards.
    data = tmp_path / "data"
    shutil.copytree((sample_directory() / name).parent, data)
    words = [f"data.{s}={data / s}{test.suffix}" for s in ("train", "dev", "test")]
    runs = tmp_path / "runs"
    # A sequence is right as a whole or not at all, which takes longer to learn.
    limit = f"trainer.max_steps={500 if experiment == 'pronounce' else 60}"
    assert run_command("train", [f"experiment={experiment}", *words, limit, f"runs={runs}"]) == 0
    (run,) = runs.glob("*/*")
    trained = json.loads((run / "metrics.json").read_text())[f"test/{metric}"]
    shutil.rmtree(data)
    gold, inputs = read_cells(test), read_inputs(test)
    assert trained > 0, "a score of nothing would be the same whatever is predicted"
    assert metric == "rmse" or trained < 1

    installed = tmp_path / "installed"
    shutil.copytree(Path(config_directory()).parent / "seqtag", installed / "seqtag")
    shutil.copytree(config_directory(), installed / "seqtag" / "conf")
    for group in MODEL_GROUPS:
        shutil.rmtree(installed / "seqtag" / "conf" / group)
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "inputs.json").write_text(json.dumps(inputs))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = subprocess.run(
        [sys.executable, "-c", ASK, str(run), str(test), str(answers)],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert answer.returncode == 0, answer.stderr
    for rows in (1, 7, 64):
        evaluated = json.loads((answers / f"evaluate{rows}.json").read_text())[f"test/{metric}"]
        predicted = score(gold, read_cells(answers / f"predict{rows}{test.suffix}"))
        asked = score(gold, json.loads((answers / f"python{rows}.json").read_text()))
        # Accuracies are equal; numbers differ by rounding, and in files by their six digits.
        assert evaluated == pytest.approx(trained, rel=1e-6)
        assert asked == pytest.approx(trained, rel=1e-6)
        assert predicted == pytest.approx(trained, rel=1e-5)
    assert not any(elsewhere.iterdir())
