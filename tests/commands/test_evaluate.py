"""What `evaluate` writes, for every task, with models that have learnt nothing."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from seqtag.commands.front import run_command
from seqtag.training.fit import fit

FILES: dict[str, dict[str, str]] = {
    "tagging": {
        "train": "a\tB-X\nb\tI-X\nc\tO\n\na\tB-Y\nb\tO\n\nb\tB-X\n",
        "dev": "a\tB-X\nb\tO\n",
        "test": "a\tB-X\nz\tI-X\n\nb\tO\nc\tB-Y\na\t\nb\tI-Y\nc\tO\nd\tB-NEW\n\na\tO\n",
    },
    "token_regression": {
        "train": "a\t1\nb\t2\n\na\t3\n",
        "dev": "a\t1\n",
        "test": "a\t1\nz\t2\n\nb\t\nb\t4\n",
    },
    "classification": {
        "train": "text\tlabel\na b\tX\nb\tY\na a\tX\n",
        "dev": "text\tlabel\na\tX\nb\tY\n",
        "test": "text\tlabel\na\tX\n\nb b b b b b\tY\nz\tNEW\nc\t\n",
    },
    "multi_label": {
        "train": "text\tlabels\na b\tX Y\nb\tY\n",
        "dev": "text\tlabels\na\tX\n",
        "test": "text\tlabels\na b\tX\n\nb b b b b b\tY NEW\nc\t\n",
    },
    "regression": {
        "train": "text\tvalue\na\t1\nb\t2\na b\t4\n",
        "dev": "text\tvalue\na\t1\n",
        "test": "text\tvalue\na\t1\n\nb b b b b b\t3\nz\t\n",
    },
    "seq2seq": {
        "train": "text\tvalue\na b\tX Y\nb\tY\n",
        "dev": "text\tvalue\na\tX\n",
        "test": "text\tvalue\na b\tX\n\nb b b b b b\tY NEW\nz\t\n",
    },
}
PICTURES = {
    "tagging": {"by_length", "confusion"},
    "token_regression": {"by_length", "residuals"},
    "classification": {"by_length", "confusion", "reliability"},
    "multi_label": {"by_length"},
    "regression": {"by_length", "residuals"},
    "seq2seq": {"by_length"},
}
Evaluated = Callable[..., Path]


@pytest.fixture
def evaluated(small_config: Any, save_run: Any, capsys: pytest.CaptureFixture[str]) -> Evaluated:
    """Call it with a task and words of the command: gives the folder of the evaluation."""

    def make(task: str, *words: str, plots: bool = False, **changes: Any) -> Path:
        files = changes.pop("files", FILES[task])
        overrides = changes.pop("overrides", ())
        run = save_run(small_config(task, *overrides, files=files, **changes))
        capsys.readouterr()
        assert run_command("evaluate", [str(run), "device=cpu", f"plots={plots}", *words]) == 0
        return Path(capsys.readouterr().out.splitlines()[-1])

    return make


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


SELDOM = ("token_regression", "multi_label", "regression")
"""Tasks whose like is tested each time."""


@pytest.mark.parametrize(
    "task", [pytest.param(t, marks=pytest.mark.slow) if t in SELDOM else t for t in FILES]
)
def test_everything_is_written_and_adds_up(task: str, evaluated: Evaluated) -> None:
    folder = evaluated(task, plots=True)
    errors = json.loads((folder / "errors.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").open()]

    assert {path.stem for path in folder.glob("*.png")} == PICTURES[task]
    for path in folder.glob("*.png"):
        assert imread(path)[..., :3].std() > 0.02
    for path in folder.glob("*.csv"):
        assert path.stem in errors

    by_length = rows_of(folder, "by_length")
    assert sum(int(row["rows"]) for row in by_length) == len(lines)
    assert len(by_length) == len(errors["by_length"]) == (1 if task == "token_regression" else 2)
    if task in ("tagging", "token_regression"):
        assert sum(int(row["elements"]) for row in by_length) == sum(
            len(line["tokens"]) for line in lines
        )
    whole = {name.removeprefix("test/") for name in metrics if name.startswith("test/")}
    assert whole <= set(by_length[0])
    assert {f"floor/{name}" for name in whole} <= set(by_length[0])

    if task in ("tagging", "classification"):
        gold = [line["gold"] for line in lines]
        cells = [c for row in gold for c in (row if isinstance(row, list) else [row]) if c]
        confusion = rows_of(folder, "confusion")
        assert sum(int(row["count"]) for row in confusion) == len(cells)
        right = sum(int(row["count"]) for row in confusion if row["gold"] == row["predicted"])
        assert metrics["test/accuracy"] == pytest.approx(right / len(cells))
        averages = {r["label"]: r for r in rows_of(folder, "labels") if r["kind"] == "average"}
        assert int(averages["micro"]["support"]) == len(cells)
    (file,) = (folder / "predicted").iterdir()
    assert file.stem == "test"


def test_numbers_of_words_and_spans_add_up_and_elements_have_a_further_column(
    evaluated: Evaluated,
) -> None:
    folder = evaluated("tagging")
    words = {row["words"]: row for row in rows_of(folder, "words")}
    assert int(words["known"]["count"]) + int(words["unknown"]["count"]) == 8
    assert int(words["unknown"]["count"]) == 2
    assert sum(int(row["count"]) for row in rows_of(folder, "by_frequency")) == 8
    kinds = rows_of(folder, "span_errors")
    for reading in ("strict", "conlleval"):
        counts = {row["spans"]: int(row[reading]) for row in kinds}
        both = sum(counts[kind] for kind in ("found", "wrong_type", "wrong_boundary", "both"))
        assert counts["gold"] == both + counts["missed"]
        assert counts["predicted"] == both + counts["spurious"]
    strict = {row["spans"]: row["strict"] for row in kinds}
    by_type = rows_of(folder, "span_errors_by_type")
    for column in ("gold", "predicted", "found", "missed", "spurious"):
        assert sum(int(row[column]) for row in by_type) == int(strict[column])
    # B-X I-X, B-Y and B-NEW; I-Y behind B-Y and a missing label, which is passed over.
    assert int(strict["gold"]) == 3

    lines = [json.loads(line) for line in (folder / "predictions.jsonl").open()]
    predicted = iter([label for line in lines for label in line["predicted"]])
    expected = [
        f"{line}\t{next(predicted)}" if line else ""
        for line in FILES["tagging"]["test"].split("\n")
    ]
    assert (folder / "predicted" / "test.conll").read_text() == "\n".join(expected)


@pytest.mark.slow
def test_gold_and_prediction_stand_side_by_side(evaluated: Evaluated) -> None:
    folder = evaluated("classification")
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").open()]
    first, second, third, fourth = (line["predicted"] for line in lines)
    assert (folder / "predicted" / "test.tsv").read_text() == (
        "text\tlabel\tpredicted\n"
        f"a\tX\t{first}\n\nb b b b b b\tY\t{second}\nz\tNEW\t{third}\nc\t\t{fourth}\n"
    )


def test_probabilities_add_up_in_the_table_of_reliability(evaluated: Evaluated) -> None:
    folder = evaluated("classification")
    rows = rows_of(folder, "reliability")
    assert sum(int(row["count"]) for row in rows) == 3
    for row in rows:
        assert float(row["above"]) < float(row["mean_probability"]) <= float(row["up_to"])
    gaps = (
        int(row["count"]) * abs(float(row["accuracy"]) - float(row["mean_probability"]))
        for row in rows
    )
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["test/ece"] == pytest.approx(sum(gaps) / 3)


def test_a_dev_split_that_is_cut_has_predictions_as_json_lines_alone(
    evaluated: Evaluated,
) -> None:
    files = {"train": FILES["classification"]["train"] * 1 + "b a\tX\nb b\tY\n"}
    folder = evaluated("classification", "split=dev", files=files)
    assert not (folder / "predicted").exists()
    assert len((folder / "predictions.jsonl").read_text().splitlines()) == 1


def test_pictures_can_be_left_out(evaluated: Evaluated) -> None:
    assert not list(evaluated("regression").glob("*.png"))


@pytest.mark.slow
def test_beams_have_an_oracle(evaluated: Evaluated) -> None:
    folder = evaluated("seq2seq", "search=beam", "search.beam_size=3", "search.n_best=3")
    rows = rows_of(folder, "oracle")
    assert [row["n"] for row in rows] == ["1", "2", "3"]
    metrics = json.loads((folder / "metrics.json").read_text())
    assert float(rows[0]["exact_match"]) == metrics["test/exact_match"]
    assert float(rows[0]["symbol_error_rate"]) == pytest.approx(metrics["test/symbol_error_rate"])
    rates = [float(row["symbol_error_rate"]) for row in rows]
    assert rates == sorted(rates, reverse=True)


def test_inputs_that_training_has_are_told_from_others_as_long_as_its_file_is_there(
    evaluated: Evaluated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = evaluated("seq2seq")  # of the inputs "a b", "b b b b b b" and "z" training has one
    rows = {row["input"]: row for row in rows_of(folder, "by_source")}
    assert {name: row["rows"] for name, row in rows.items()} == {"seen": "1", "unseen": "2"}
    assert float(rows["seen"]["exact_match"]) in (0, 1)
    (tmp_path / "train.tsv").unlink()
    run = folder.parent.parent
    assert run_command("evaluate", [str(run), "device=cpu", "plots=false"]) == 0
    said = capsys.readouterr().out
    assert "its files are not there" in said
    assert not (Path(said.splitlines()[-1]) / "by_source.csv").exists()


@pytest.mark.slow
def test_floors_that_need_training_rows_are_those_of_the_training(
    small_config: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = small_config("tagging", "evaluate_test=true", files=FILES["tagging"])
    run = fit(config).folder
    trained = json.loads((run / "metrics.json").read_text())

    def found(*words: str) -> dict[str, float]:
        assert run_command("evaluate", [str(run), "device=cpu", "plots=false", *words]) == 0
        folder = Path(capsys.readouterr().out.splitlines()[-1])
        return json.loads((folder / "metrics.json").read_text())

    same = found()
    assert same["floor_word/test/accuracy"] == trained["floor_word/test/accuracy"]
    assert same["test/accuracy"] == trained["test/accuracy"]
    other = tmp_path / "other.conll"
    other.write_text(FILES["tagging"]["dev"])
    assert "floor_word/test/accuracy" not in found(f"data.test={other}")


def test_evaluations_are_compared_as_runs_are(
    evaluated: Evaluated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = evaluated("classification")
    words = [str(folder), f"runs={tmp_path / 'out'}", "resamples=100", "device=cpu"]
    assert run_command("compare", words) == 0
    page = Path(capsys.readouterr().out.splitlines()[-1])
    found = json.loads((page.parent / "results.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())
    (contender,) = [one for one in found["contenders"] if one["floor"] is None]
    assert contender["scores"]["accuracy"]["mean"] == metrics["test/accuracy"]
    assert contender["parameters"] is None


@pytest.mark.slow
def test_rows_of_vectors(evaluated: Evaluated) -> None:
    lines = [
        '{"x": [[1, 2], [3, 4]], "y": "A"}',
        '{"x": [[0, 1]], "y": "B"}',
        '{"x": [], "y": "A"}',
    ]
    text = "\n".join([*lines, ""])
    folder = evaluated(
        "classification",
        files=dict.fromkeys(("train", "dev", "test"), text),
        data="jsonl",
        overrides=("data.input=x", "data.target=y", "embedding/spelling=none"),
    )
    found = [json.loads(line) for line in (folder / "predicted" / "test.jsonl").open()]
    assert [row["y"] for row in found] == ["A", "B", "A"]
    assert found[-1]["predicted"] is None
    assert found[0]["predicted"] in ("A", "B")


@pytest.mark.slow
def test_long_rows_are_in_the_range_of_their_whole_length(evaluated: Evaluated) -> None:
    words = " ".join("ab" * 15)
    files = {**FILES["classification"], "test": f"text\tlabel\n{words}\tX\na\tY\n"}
    folder = evaluated(
        "classification",
        files=files,
        overrides=("data.max_length=4", "data.too_long=truncate"),
    )
    assert [row["length"] for row in rows_of(folder, "by_length")] == ["1-5", "21-40"]


@pytest.mark.slow
def test_scores_that_are_not_defined_are_written_as_such(evaluated: Evaluated) -> None:
    files = {**FILES["tagging"], "test": "a\tO\nb\tO\n"}
    folder = evaluated("tagging", files=files)
    strict = {row["spans"]: row["strict"] for row in rows_of(folder, "span_errors")}
    assert strict["gold"] == strict["missed"] == "0"
    (row,) = rows_of(folder, "by_length")
    assert row["span_f1_strict"] in ("nan", "0.0")
    assert not math.isnan(float(row["accuracy"]))
