"""Several labels for a row, as a user asks for them: the commands in this process."""

import csv
import json
from pathlib import Path

import pytest
import torch

import seqtag
from seqtag.commands.front import run_command

LABELS = {"sun": "bright", "moon": "night sky", "rain": "wet"}
WORDS = [*LABELS, "a", "b"]
TINY = [
    "task=multi_label",
    "encoder=pointwise",
    "encoder.dim=16",
    "encoder.dropout=0.0",
    "embedding.dim=16",
    "embedding.dropout=0.0",
    "embedding/spelling=none",
    "trainer.max_epochs=4",
    "callbacks=no_early_stopping",
    "optimizer.lr=0.01",
    "batching.max_rows=8",
    "evaluate_test=true",
]
SEPARATED = ["data/target_tokenizer=separated", "data.target_tokenizer.separator='|'"]


def labels_of(text: str) -> list[str]:
    """Not in the order of their names."""
    return sorted({LABELS[word] for word in text.split() if word in LABELS}, reverse=True)


TEXTS = [f"{one} {two} {three}" for one in WORDS for two in WORDS for three in WORDS]


def jsonl(path: Path, rows: list[tuple[str, object]]) -> Path:
    lines = (json.dumps({"n": 1, "text": text, "labels": labels}) for text, labels in rows)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of a run on JSON lines, where lists can be empty and targets missing."""
    folder = tmp_path_factory.mktemp("files")
    rows = [(text, labels_of(text)) for text in TEXTS]
    jsonl(folder / "train.jsonl", [*rows, ("sun", None)])
    jsonl(folder / "dev.jsonl", rows[::3])
    jsonl(folder / "test.jsonl", [*rows[::4], ("sun", ["bright", "warm"]), ("rain", None)])
    files = [f"data.{name}={folder / name}.jsonl" for name in ("train", "dev", "test")]
    return [*TINY, "data=jsonl", "data.target=labels", *files]


@pytest.fixture(scope="module")
def run(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    assert run_command("train", [*words, f"runs={runs}"]) == 0
    return next(runs.rglob("best.ckpt")).parent


def evaluated(run: Path, output: Path, split: str) -> Path:
    """The folder of an evaluation."""
    assert run_command("evaluate", [str(run), f"split={split}", f"output={output}"]) == 0
    return next(output.rglob("metrics.json")).parent


def test_the_threshold_of_a_checkpoint_is_the_one_of_its_score(run: Path, tmp_path: Path) -> None:
    kept = torch.load(run / "best.ckpt", weights_only=True)["state_dict"]["model.head.threshold"]
    assert 0 < kept.item() < 1
    assert kept.item() != 0.5
    again = json.loads((evaluated(run, tmp_path, "dev") / "metrics.json").read_text())
    with next(run.rglob("metrics.csv")).open() as stream:
        epochs = [float(row["dev/micro_f1"]) for row in csv.DictReader(stream) if row["dev/loss"]]
    assert again["dev/micro_f1"] == pytest.approx(max(epochs))
    assert again["dev/micro_f1"] > 0.9


def test_evaluation_tells_of_every_label(run: Path, tmp_path: Path, capsys) -> None:
    capsys.readouterr()
    folder = evaluated(run, tmp_path, "test")
    shown = capsys.readouterr()
    assert "labels that training lacks, which always count as wrong: warm" in shown.out + shown.err
    assert "labels in a row: " in shown.out
    errors = json.loads((folder / "errors.json").read_text())
    each = errors["labels"]["each"]
    assert set(each) == {"bright", "night sky", "wet", "warm"}
    assert each["warm"] == {"precision": 0, "recall": 0, "f1": 0, "support": 1}
    found = [json.loads(line) for line in (folder / "predictions.jsonl").open()]
    assert found[-1]["gold"] is None
    assert found[-2]["gold"] == ["bright", "warm"]
    scores = json.loads((folder / "metrics.json").read_text())
    rows = [(set(row["gold"]), set(row["predicted"])) for row in found[:-1]]
    assert scores["test/exact_match"] == pytest.approx(
        sum(gold == predicted for gold, predicted in rows) / len(rows)
    )
    right = sum(len(gold & predicted) for gold, predicted in rows)
    both = sum(len(gold) + len(predicted) for gold, predicted in rows)
    assert scores["test/micro_f1"] == pytest.approx(2 * right / both)


def test_predictions_are_written_as_lists(run: Path, tmp_path: Path) -> None:
    texts = ["sun moon sun", "a b a", "rain rain rain"]
    source = jsonl(tmp_path / "in.jsonl", [(text, labels_of(text)) for text in texts])
    result = tmp_path / "out.jsonl"
    assert run_command("predict", [str(run), f"input={source}", f"output={result}"]) == 0
    assert result.read_text() == source.read_text()  # right, and so kept in the order they had
    result = tmp_path / "with_chances.jsonl"
    arguments = [str(run), f"input={source}", f"output={result}", "probabilities=true"]
    assert run_command("predict", arguments) == 0
    lines = [json.loads(line) for line in result.read_text().splitlines()]
    assert [line["labels"] for line in lines] == [["night sky", "bright"], [], ["wet"]]
    assert set(lines[1]["probabilities"]) == {"bright", "night sky", "wet"}


def test_python_gives_lists_too(run: Path) -> None:
    outputs = list(
        seqtag.load(run, device="cpu").predict(["sun moon", "a", ""], probabilities=True)
    )
    assert [output.value for output in outputs] == [["bright", "night sky"], [], None]
    assert sum(chance > 0.1 for chance in outputs[0].probabilities.values()) >= 2


def test_in_a_table_labels_stand_in_one_cell(words: list[str], tmp_path: Path) -> None:
    table = tmp_path / "train.tsv"
    rows = [(text, "|".join(labels_of(text))) for text in TEXTS]
    table.write_text("text\tlabels\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
    settings = [word for word in words if not word.startswith("data")]
    data = ["data=tsv", "data.target=labels", f"data.train={table}", f"data.test={table}"]
    given = [*settings, *data, *SEPARATED, f"runs={tmp_path / 'runs'}", "head.threshold=0.5"]
    assert run_command("train", given) == 0
    run = next((tmp_path / "runs").rglob("best.ckpt")).parent
    source = tmp_path / "in.tsv"
    source.write_text("text\tlabels\nsun moon sun\tnight sky|bright\nrain rain rain\tbright\n")
    result = tmp_path / "out.tsv"
    arguments = [str(run), f"input={source}"]
    assert run_command("predict", [*arguments, f"output={result}"]) == 0
    assert result.read_text() == source.read_text().replace("rain\tbright", "rain\twet")
    result = tmp_path / "with_chances.tsv"
    assert run_command("predict", [*arguments, f"output={result}", "probabilities=true"]) == 0
    first = result.read_text().splitlines()[1].split("\t")
    assert len(first[-1].split(" ")) == 2
    assert all(float(chance) > 0.5 for chance in first[-1].split(" "))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("head.class_weights={cold: 2.0}", "head.class_weights names 'cold', which is no label"),
        ("head.class_weights={wet: 0}", "gives 'wet' the weight 0"),
        ("head.class_weights=even", "head.class_weights is 'even'"),
        ("head.threshold=2", "head.threshold is 2"),
        ("head=classification", "one label"),
    ],
)
def test_settings_that_cannot_be_end_in_one_line(
    words: list[str], tmp_path: Path, capsys, setting: str, message: str
) -> None:
    assert run_command("train", [*words, f"runs={tmp_path}", setting]) != 0
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("error")]
    assert message in line


def test_weights_by_name_are_taken(words: list[str], tmp_path: Path) -> None:
    given = ["head.class_weights={wet: 3.0, night sky: 0.5}", "trainer.max_epochs=1"]
    assert run_command("train", [*words, *given, f"runs={tmp_path}"]) == 0
    run = next(tmp_path.rglob("best.ckpt")).parent
    head = seqtag.load(run, device="cpu").model.head
    assert head.weights.tolist() == [1.0, 0.5, 3.0]
