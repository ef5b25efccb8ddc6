"""A comparison's trainings in their folder, with a training that only pretends."""

import json
import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from seqtag.comparison.trainings import checks, training
from seqtag.comparison.trainings.cells import locked
from seqtag.comparison.trainings.plan import Cell
from seqtag.comparison.trainings.training import Trained, choose_folder, share_cores, train_cells
from seqtag.configuration import plain

ROOT = Path(__file__).resolve().parents[3]
KEYS: dict[str, Any] = {
    "variants": {"small": [], "large": ["embedding.dim=4"]},
    "encoders": None,
    "seeds": 2,
    "folds": None,
    "processes": 2,
    "score": None,
    "split": None,
    "output": None,
    "dry_run": False,
}

Train = Callable[..., Trained | None]


@pytest.fixture
def train(
    small_config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Trained | None]:
    """Call it with words and the command's keys: trains as the command does, in pretence."""
    monkeypatch.setattr(training, "FUNCTION", "tests.comparison.trainings.jobs:pretend")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    base = small_config("tagging")

    def compose(words: Sequence[str]) -> DictConfig:
        config = OmegaConf.create(deepcopy(base))
        for word in words:
            key, _, value = word.partition("=")
            OmegaConf.update(config, key, json.loads(value))
        return config

    def call(*words: str, **keys: Any) -> Trained | None:
        config = {**KEYS, "runs": str(tmp_path / "runs"), **keys}
        return train_cells(config, words, compose=compose, finish=plain)

    return call


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("[")]


def test_every_cell_is_trained_and_the_next_time_kept(
    train: Train, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first = train()
    assert first is not None
    assert [first.runs[run] for run in first.runs] == ["small", "large"] * 2
    assert first.folder.parent == tmp_path / "runs" / "compare"
    assert first.folder.name.startswith("tagging-")
    places = [run.relative_to(first.folder).parts[:3] for run in first.runs]
    assert places == [
        (variant, f"seed-{seed}", "tagging-window")
        for seed in (1, 2)
        for variant in ("small", "large")
    ]
    lines = said(capsys)
    assert [line.split("]")[0] for line in lines] == ["[1/4", "[2/4", "[3/4", "[4/4"]
    assert any(": test/accuracy 0.51, " in line and line.endswith(" s") for line in lines)
    run = next(iter(first.runs))
    overrides, threads = json.loads((run / "record.json").read_text())
    assert overrides == ["evaluate_test=true", "seed=1"]
    assert threads == max(1, len(os.sched_getaffinity(0)) // 2)

    again = train(seeds=3, processes=3, variants={**KEYS["variants"], "wide": ["encoder.dim=4"]})
    assert again is not None
    assert again.folder == first.folder, "further seeds and variants go on in it"
    assert set(first.runs) < set(again.runs)
    assert len(again.runs) == again.cells == 9
    kept = [line for line in said(capsys) if line.endswith("kept from before")]
    assert kept[0] == "[1/9] small, seed 1: test/accuracy 0.51, kept from before"
    assert len(kept) == 4


def test_a_change_of_the_data_trains_anew_and_keeps_what_was(
    train: Train, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="seqtag")
    first = train(seeds=1)
    file = tmp_path / "train.conll"
    file.write_text(file.read_text() + "\nruns\tV\n")
    assert "other settings or data" not in caplog.text
    second = train(seeds=1)
    assert "2 trainings that are there are of other settings or data" in caplog.text
    assert first is not None
    assert second is not None
    assert first.folder == second.folder
    assert not set(first.runs) & set(second.runs)
    assert all(run.is_dir() for run in first.runs)


def test_a_failed_cell_is_told_kept_out_and_tried_again(
    train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = {"small": [], "odd": ["embedding.dim=6"]}
    found = train(variants=variants, seeds=1)
    assert found is not None
    assert found.failures == {"odd, seed 1": "training diverged"}
    assert list(found.runs.values()) == ["small"]
    assert any(line.endswith("] odd, seed 1: failed: training diverged") for line in said(capsys))
    place = found.folder / "odd" / "seed-1"
    assert (place / "failure.txt").read_text() == "training diverged\n"
    (place / "mended").touch()
    again = train(variants=variants, seeds=1)
    assert again is not None
    assert again.failures == {}
    assert list(again.runs.values()) == ["small", "odd"]
    assert not (place / "failure.txt").exists()


def test_folds_have_folders_of_their_own(train: Train) -> None:
    found = train("data.test=null", folds=2, seeds=1, variants={"small": []})
    assert found is not None
    assert [run.relative_to(found.folder).parts[:2] for run in found.runs] == [
        ("small", f"seed-1-fold-{fold}-of-2") for fold in (1, 2)
    ]


def test_a_dry_run_lists_the_trainings(
    train: Train, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert train(dry_run=True, seeds=1) is None
    assert capsys.readouterr().out == "small, seed 1\nlarge, seed 1\n"
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_is_in_use_is_refused(train: Train, tmp_path: Path) -> None:
    with (
        locked(tmp_path / "out"),
        pytest.raises(ValueError, match="another comparison is at work in"),
    ):
        train(output=str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("words", "keys", "message"),
    [
        (
            [],
            {"variants": {"a": [], "b": ["encoder.radius=-1"]}},
            "variant b: encoder.radius is -1",
        ),
        ([], {"variants": {"a": [], "b": ["optimizer.lr=-1"]}}, "variant b: optimizer: "),
        ([], {"score": "f2"}, "score=f2: no such score here; there are: accuracy, "),
        ([], {"split": "train"}, "split=train; it is dev or test, or null"),
        (
            ["data.test=null"],
            {"split": "test"},
            "split=test, and no test split is scored: data.test=FILE or folds=5",
        ),
        ([], {"processes": 0}, "processes is 0; it must be null or a whole number of 1 or more"),
        (
            ["data.test=null"],
            {"variants": {"a": [], "b": ["data.dev_seed=2"]}, "folds": 2, "seeds": 1},
            "variants a and b are scored on other test rows, or on targets that are split "
            "otherwise: nothing could be compared",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_first_training(
    train: Train, tmp_path: Path, words: list[str], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 its beginning is compared
        train(*words, **keys)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_data_are_read_once_where_variants_share_them(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    monkeypatch.setattr(
        checks, "read_data", lambda config, own=checks.read_data: (read.append(1), own(config))[1]
    )
    train("data.test=null", folds=2, dry_run=True, variants={"a": [], "b": ["encoder.dim=4"]})
    assert len(read) == 2, "of each fold"


def test_the_folder_follows_the_settings_and_not_what_is_compared(tmp_path: Path) -> None:
    config = {"output": None, "runs": str(tmp_path)}
    base = {"task": {"_target_": "seqtag.tasks.tagging.Tagging"}, "encoder": {"dim": 8}, "seed": 1}
    folder = choose_folder(config, base)
    assert folder == choose_folder(config, {**base, "seed": 2, "runs": "x", "cache": "y"})
    assert folder != choose_folder(config, {**base, "encoder": {"dim": 9}})
    assert choose_folder({**config, "output": "out"}, base) == Path("out").absolute()


def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    cells = [
        Cell(variant="a", seed=s, fold=None, folds=None, config={"device": "cpu"}, overrides=[])
        for s in range(20)
    ]
    monkeypatch.setattr(training.torch, "get_num_threads", lambda: 8)
    assert share_cores(None, cells) == (8, 1)
    assert share_cores(3, cells) == (3, 2)
    assert share_cores(None, cells[:2]) == (2, 4)
    assert share_cores(16, cells) == (16, 1)
    monkeypatch.setattr(training.torch, "get_num_threads", lambda: 1)
    assert share_cores(None, cells[:2]) == (2, 1), "as OMP_NUM_THREADS says"
    monkeypatch.setattr(training.torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(training, "choose_device", lambda name: SimpleNamespace(type="cuda"))
    assert share_cores(None, cells) == (1, 8), "a GPU has one at a time"
