import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from seqtag.comparison.record import find_runs, read_record, read_rows
from seqtag.evaluation.resampling import SummedRows

from .fake_runs import fake_run


def test_a_run_is_read_back(tmp_path: Path) -> None:
    folder = fake_run(tmp_path / "run", "yynnyy", seed=4, metrics={"dev/x": float("nan")})
    record = read_record(folder)
    assert (record.seed, record.fold, record.folds) == (4, None, None)
    assert np.isnan(record.metrics["dev/x"])
    assert record.epochs == [
        {"epoch": 1, "dev/accuracy": 0.25, "train/loss": 2.5},
        {"epoch": 2, "dev/accuracy": 0.5},
    ]
    assert record.splits() == ["test"]
    table = read_rows(record, "test")
    rows = table.scored("accuracy")
    assert isinstance(rows, SummedRows)
    assert rows.statistics.tolist() == [[1, 1]] * 5 + [[0, 1]]
    assert table.selection == "accuracy"
    assert {"accuracy", "macro_f1"} <= set(table.measures)


def test_many_statistics_are_kept_sparse(tmp_path: Path) -> None:
    labels = [chr(code) for code in range(ord("A"), ord("A") + 30)]
    folder = fake_run(tmp_path / "run", "ABC", gold="ABB", labels=labels)
    rows = read_rows(read_record(folder), "test").scored("macro_f1")
    assert isinstance(rows, SummedRows)
    assert not isinstance(rows.statistics, np.ndarray)
    assert rows.statistics.shape == (3, 90)
    assert rows.score() == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_folders_are_searched(tmp_path: Path) -> None:
    deep = fake_run(tmp_path / "a" / "b" / "one", "yynnyn")
    (deep / "earlier" / "2").mkdir(parents=True)  # records of an interruption
    for name in ("config.yaml", "overrides.yaml"):
        (deep / "earlier" / "2" / name).write_text("{}")
    other = fake_run(tmp_path / "a" / "two", "yynnyn")
    unfinished = fake_run(tmp_path / "a" / "three", "yynnyn")
    (unfinished / "metrics.json").unlink()
    (tmp_path / "a" / ".hidden").mkdir()
    (tmp_path / "a" / "sweeps").mkdir()
    (tmp_path / "a" / "sweeps" / "multirun.yaml").write_text("hydra: {}")
    found, skipped = find_runs([tmp_path / "a", other, other / "best.ckpt"][:2])
    assert found == [deep, other]
    assert list(skipped) == [str(unfinished)]
    assert "not finished" in skipped[str(unfinished)]


def test_a_run_that_lost_its_config_is_found_and_cannot_be_read(tmp_path: Path) -> None:
    whole, broken = (fake_run(tmp_path / name, "yynnyn") for name in ("one", "two"))
    (broken / "config.yaml").unlink()
    found, _ = find_runs([tmp_path])
    assert sorted(found) == [whole, broken]
    with pytest.raises(ValueError, match=r"cannot read \S*/two/config.yaml"):
        read_record(broken)


def test_a_checkpoint_means_its_run(tmp_path: Path) -> None:
    run = fake_run(tmp_path / "one", "yynnyn")
    (run / "best.ckpt").touch()
    assert find_runs([run / "best.ckpt", run])[0] == [run]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such run"):
        find_runs([tmp_path / "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty is no run, nor are there runs in it"):
        find_runs([tmp_path / "empty"])
    run = fake_run(tmp_path / "run", "yynnyn")
    (run / "metrics.json").unlink()
    with pytest.raises(ValueError, match="no finished run"):
        find_runs([run])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.yaml", "{a: ["),
        ("config.yaml", "3"),
        ("config.yaml", ""),
        ("config.yaml", "seed: x\ndata: {}"),
        ("metrics.json", '{"test/accuracy": '),
        ("metrics.json", "[]"),
        ("metrics.json", '{"a": {}}'),
        ("environment.json", "{"),
        ("overrides.yaml", "["),
        ("metrics.csv", "epoch,dev/accuracy\n1,many\n"),
        ("metrics.json", "\xff"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: str) -> None:
    folder = fake_run(tmp_path / "run", "yynnyn")
    (folder / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=rf"cannot read \S*/run/{name}") as caught:
        read_record(folder)
    assert "\n" not in str(caught.value)


def rewrite(folder: Path, change) -> None:
    file = folder / "test_rows.parquet"
    table = pyarrow.parquet.read_table(file)
    metadata = table.schema.metadata
    pyarrow.parquet.write_table(change(table).replace_schema_metadata(metadata), file)


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    folder = fake_run(tmp_path / "run", "yynnyn")
    record = read_record(folder)
    file = folder / "test_rows.parquet"
    rewrite(folder, lambda t: t.set_column(3, "accuracy", pyarrow.array([[1.0]] * 6)))
    with pytest.raises(ValueError, match=r"test_rows.parquet \(accuracy\): a row has not the 2"):
        read_rows(record, "test").scored("accuracy")
    with pytest.raises(ValueError, match=r"test_rows.parquet \(nothing\)"):
        read_rows(record, "test").scored("nothing")
    rewrite(folder, lambda t: t.take([1, 0, 2, 3, 4, 5]))
    with pytest.raises(ValueError, match="its rows are not in order"):
        read_rows(record, "test")
    table = pyarrow.parquet.read_table(file)
    old = json.loads(table.schema.metadata[b"seqtag"]) | {"format": 7}
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"seqtag": json.dumps(old)}), file)
    with pytest.raises(ValueError, match="it is of format 7, not 1"):
        read_rows(record, "test")
    pyarrow.parquet.write_table(table.replace_schema_metadata({}), file)
    with pytest.raises(ValueError, match="does not say what its columns mean"):
        read_rows(record, "test")
    file.write_bytes(b"no parquet")
    with pytest.raises(ValueError, match=r"cannot read .*test_rows.parquet"):
        read_rows(record, "test")
    file.unlink()
    with pytest.raises(ValueError, match="it has no scores of test"):
        read_rows(record, "test")
