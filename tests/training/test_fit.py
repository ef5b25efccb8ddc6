import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import torch
import yaml

from seqtag.batch import TargetSpec
from seqtag.checkpoint import load_checkpoint
from seqtag.configuration import compose
from seqtag.datamodule import DataModule
from seqtag.floors.fitted import fit_floors
from seqtag.training.dry_run import dry_run
from seqtag.training.fit import fit
from seqtag.training.results import ROWS_FORMAT, ROWS_KEY, digest_gold
from seqtag.training.settings import check_settings

TINY = ["encoder.dim=8", "encoder.num_layers=1", "embedding.dim=8"]


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """Sentences whose target is how many words they have."""
    lines = [f"{' '.join('ab'[i % 2] for i in range(size))}\t{size}" for size in range(1, 13)] * 4
    (tmp_path / "n.tsv").write_text("text\tsize\n" + "\n".join(lines) + "\n")
    return tmp_path / "n.tsv"


def config(file: Path, *overrides: str) -> dict[str, Any]:
    return compose(
        "train",
        [
            "task=regression",
            "data=tsv",
            f"data.train={file}",
            f"data.dev={file}",
            f"data.test={file}",
            f"runs={file.parent / 'runs'}",
            *TINY,
            *overrides,
        ],
    )


def test_one_seed_gives_one_result_and_another_seed_another(numbers: Path) -> None:
    first, second, other = (
        fit(config(numbers, "trainer.max_steps=6", f"seed={seed}")).metrics for seed in (1, 1, 2)
    )
    same = {name for name in first if not name.startswith("train/")}
    assert {"dev/rmse", "dev/mae", "dev/r2", "best_epoch", "parameters"} <= same
    assert {n: first[n] for n in same} == {n: second[n] for n in same}
    assert first["dev/rmse"] != other["dev/rmse"]


def test_a_step_limit_inside_an_epoch_still_leaves_a_scored_checkpoint(numbers: Path) -> None:
    run = fit(config(numbers, "trainer.max_steps=1", "batching.max_rows=4"))
    checkpoint = torch.load(run.folder / "best.ckpt", weights_only=True)
    assert checkpoint["global_step"] == 1
    assert "dev/rmse" in run.metrics


def test_a_time_limit_ends_the_run_with_a_scored_checkpoint(numbers: Path) -> None:
    run = fit(
        config(
            numbers,
            "trainer.max_time=00:00:00:02",
            "trainer.max_epochs=-1",
            "callbacks=no_early_stopping",
        )
    )
    assert "dev/rmse" in run.metrics
    assert 0.5 < run.metrics["train/seconds"] < 20


def test_the_best_epoch_is_kept_and_not_the_last(numbers: Path) -> None:
    # A rate this high makes later epochs worse than the first ones.
    run = fit(
        config(
            numbers,
            "trainer.max_epochs=8",
            "optimizer.lr=1.0",
            "scheduler=constant",
            "callbacks=no_early_stopping",
        )
    )
    rows = [line.split(",") for line in (run.folder / "metrics.csv").read_text().splitlines()]
    column = rows[0].index("dev/rmse")
    by_epoch = [float(row[column]) for row in rows[1:]]
    assert run.metrics["best_epoch"] == 1 + by_epoch.index(min(by_epoch))
    assert run.metrics["dev/rmse"] == pytest.approx(min(by_epoch), rel=1e-5)


def test_row_statistics_add_up_to_the_score(numbers: Path) -> None:
    settings = config(numbers, "trainer.max_epochs=2", "evaluate_test=true")
    run = fit(settings)
    table = pyarrow.parquet.read_table(run.folder / "test_rows.parquet").to_pydict()
    assert table["row"] == list(range(48))
    # Equal inputs have equal hashes, wherever they stand.
    assert table["source"][0] == table["source"][12]
    assert len(set(table["source"])) == 12
    data = DataModule(settings)
    data.read_all(test=True)
    metric = data.task.metrics(data.target)["rmse"]
    total = torch.tensor(table["rmse"], dtype=torch.float64).sum(0)
    assert metric.score(total) == pytest.approx(run.metrics["test/rmse"], rel=1e-12)
    of_floor = torch.tensor(table["floor/rmse"], dtype=torch.float64).sum(0)
    assert metric.score(of_floor) == pytest.approx(run.floors["floor/test/rmse"], rel=1e-12)


def test_the_rows_of_a_split_say_what_they_were_scored_against(numbers: Path) -> None:
    settings = config(numbers, "trainer.max_epochs=1", "evaluate_test=true")
    file = fit(settings).folder / "test_rows.parquet"
    table = pyarrow.parquet.read_table(file)
    meaning = json.loads(table.schema.metadata[ROWS_KEY])
    assert meaning["format"] == ROWS_FORMAT
    assert (meaning["split"], meaning["selection"]) == ("test", "rmse")
    data = DataModule(settings)
    data.read_all(test=True)
    assert TargetSpec.from_state(meaning["spec"]) == data.splits["test"].spec
    assert list(meaning["floors"]) == [floor.name for floor in fit_floors(data)]
    assert all(set(floor) == {"heading", "meaning"} for floor in meaning["floors"].values())
    # Gold tells rows of one input apart, and equal targets have equal hashes.
    gold, rows = table["gold"].to_pylist(), data.splits["test"].rows
    assert gold == [digest_gold(row) for row in rows]
    targets = [tuple(row["target"]) for row in rows]
    assert [gold[targets.index(target)] for target in targets] == gold


def test_targets_come_back_in_their_own_units(numbers: Path) -> None:
    # The target, which counts, is nothing that a mean over attended elements could hold.
    longer = ["trainer.max_epochs=60", "optimizer.lr=0.02", "callbacks=no_early_stopping"]
    plain = ["encoder=lstm", "encoder.dim=8", "embedding/spelling=none"]
    run = fit(config(numbers, *longer, *plain))
    assert run.floors["floor/dev/rmse"] == pytest.approx((143 / 12) ** 0.5)
    assert run.metrics["dev/rmse"] < run.floors["floor/dev/rmse"] / 2
    spec = load_checkpoint(run.folder).target
    assert spec.mean == (6.5,)


def test_a_run_that_fails_early_leaves_no_folder(numbers: Path) -> None:
    with pytest.raises(ValueError, match="must be a multiple of num_heads"):
        fit(config(numbers, "encoder.num_heads=3"))
    assert not (numbers.parent / "runs").exists()


def test_test_scores_come_only_when_asked_for(numbers: Path) -> None:
    run = fit(config(numbers, "trainer.max_steps=1"))
    assert not any(name.startswith("test/") for name in run.metrics)
    assert not (run.folder / "test_rows.parquet").exists()
    assert not any("test" in name for name in json.loads((run.folder / "metrics.json").read_text()))


def test_a_budget_is_worked_out_once_and_kept_with_the_run(numbers: Path, caplog) -> None:
    with caplog.at_level("INFO", logger="seqtag"):
        run = fit(config(numbers, "trainer.max_epochs=1", "encoder=gru", "encoder.parameters=3k"))
    kept = yaml.safe_load((run.folder / "config.yaml").read_text())
    dim = kept["encoder"]["dim"]
    # A map from 8 and, each way, 3 gates.
    half = dim // 2
    count = 8 * dim + dim + 2 * 3 * (half * dim + half * half + 2 * half)
    assert 2_700 < count <= 3_000
    line = f"encoder.parameters=3k: dim {dim}, {count:,} parameters"
    assert line in (run.folder / "log.txt").read_text()
    assert kept["encoder"]["parameters"] is None
    assert load_checkpoint(run.folder).config["encoder"] == kept["encoder"]

    again = fit(kept | {"from": str(run.folder)})  # as ``from=RUN`` takes it
    assert again.metrics["dev/rmse"] == run.metrics["dev/rmse"]
    (again.folder / "metrics.json").unlink()
    more = {"trainer": kept["trainer"] | {"max_epochs": 2}, "resume": str(again.folder)}
    assert fit(kept | more).folder == again.folder


def test_a_dry_run_says_what_a_budget_makes(numbers: Path, capsys, caplog) -> None:
    with caplog.at_level("INFO", logger="seqtag"):
        dry_run(config(numbers, "encoder=rnn", "encoder.parameters=3k"))
    (line,) = (text for text in caplog.messages if text.startswith("encoder.parameters=3k: dim "))
    count = line.split(", ")[1]
    assert f" {count}" in capsys.readouterr().out.replace("  ", " ")


def test_a_budget_that_cannot_be_leaves_no_folder(numbers: Path) -> None:
    with pytest.raises(ValueError, match=r"encoder\.parameters is 'many'; it must"):
        check_settings(config(numbers, "encoder.parameters=many"))
    with pytest.raises(ValueError, match="the smallest such encoder"):
        fit(config(numbers, "encoder.parameters=10"))
    assert not (numbers.parent / "runs").exists()
