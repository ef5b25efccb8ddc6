"""Which trainings are kept, which go on, and which are done anew."""

import json
from pathlib import Path
from typing import Any

import pytest

import seqtag
from seqtag.comparison.trainings.cells import (
    RECORD,
    CellFolder,
    locked,
    read_metrics,
    settings_of,
    train_cell,
)
from seqtag.comparison.trainings.plan import Cell

SETTINGS = {"config": {"seed": 1}, "data": {}}


def run(folder: Path, name: str, *files: str) -> Path:
    made = folder / "tagging-window" / name
    made.mkdir(parents=True)
    for file in ("config.yaml", *files):
        (made / file).write_text('{"test/accuracy": 0.5}')
    return made


def test_nothing_is_kept_of_a_folder_that_never_began(tmp_path: Path) -> None:
    run(tmp_path, "a", "metrics.json")
    assert CellFolder(tmp_path, SETTINGS).finished() is None
    assert CellFolder(tmp_path / "none", SETTINGS).finished() is None


def test_what_is_finished_is_kept_and_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path, SETTINGS)
    folder.begin()
    assert folder.interrupted() is None
    run(tmp_path, "a")
    assert folder.interrupted() is None, "it ended before its first checkpoint"
    first = run(tmp_path, "b", "last.ckpt")
    assert (folder.interrupted(), folder.finished()) == (first, None)
    second = run(tmp_path, "c", "last.ckpt")
    assert folder.interrupted() == second, "the newest"
    (first / "metrics.json").write_text("{}")
    assert folder.finished() == first
    again = CellFolder(tmp_path, dict(SETTINGS))
    again.begin()
    assert again.finished() == first


def test_the_records_of_a_resumed_run_are_no_run(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path, SETTINGS)
    folder.begin()
    first = run(tmp_path, "a", "last.ckpt")
    run(first / "earlier", "b", "last.ckpt")
    assert folder.interrupted() == first


def test_runs_of_other_settings_are_left_alone(tmp_path: Path) -> None:
    CellFolder(tmp_path, SETTINGS).begin()
    run(tmp_path, "a", "metrics.json")
    run(tmp_path, "b", "last.ckpt")
    other = CellFolder(tmp_path, {**SETTINGS, "data": {"train": ["f00", 3]}})
    assert other.finished() is None
    assert other.interrupted() is None
    other.begin()
    assert other.finished() is None
    assert other.interrupted() is None
    own = run(tmp_path, "c", "metrics.json")
    assert other.finished() == own
    assert CellFolder(tmp_path, SETTINGS).finished() is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"settings": 1}', '{"settings": {}}'])
def test_a_damaged_record_keeps_nothing(tmp_path: Path, text: str) -> None:
    folder = CellFolder(tmp_path, SETTINGS)
    folder.begin()
    run(tmp_path, "a", "metrics.json")
    (tmp_path / RECORD).write_text(text)
    assert folder.finished() is None
    folder.begin()
    assert folder.finished() is None


def test_scores_that_were_cut_off_are_no_end(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path, SETTINGS)
    folder.begin()
    made = run(tmp_path, "a", "metrics.json", "last.ckpt")
    assert read_metrics(made) == {"test/accuracy": 0.5}
    (made / "metrics.json").write_text('{"test/acc')
    assert folder.finished() is None
    assert folder.interrupted() is None, "a run with scores is no longer gone on with"


def cell(**config: Any) -> Cell:
    return Cell(variant="a", seed=1, fold=None, folds=None, config=config, overrides=[])


def test_settings_are_all_but_folders() -> None:
    data = {"train": ["f00", 3]}
    first = settings_of(cell(seed=1, runs="a", cache="b", resume=None, encoder={"dim": 8}), data)
    assert first == settings_of(cell(seed=1, runs="c", cache="d", encoder={"dim": 8}), data)
    assert first["version"] == seqtag.__version__
    for other in (
        settings_of(cell(seed=1, encoder={"dim": 9}), data),
        settings_of(cell(seed=2, encoder={"dim": 8}), data),
        settings_of(cell(seed=1, encoder={"dim": 8}), {"train": ["f01", 3]}),
    ):
        assert other != first


def test_a_folder_has_one_comparison_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path / "new"):
        with pytest.raises(ValueError) as caught, locked(tmp_path / "new"):  # noqa: PT011 below
            pass
        assert str(caught.value) == (
            f"another comparison is at work in {tmp_path / 'new'}; wait for it, or name another "
            "folder, output=FOLDER"
        )
        with locked(tmp_path):
            pass
    with locked(tmp_path / "new"):
        pass


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The configs that ``fit`` is called with, in place of a training."""
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "seqtag.training.fit.fit", lambda config, *, overrides: seen.append(dict(config))
    )
    return seen


def test_a_cell_begins_in_its_own_folder(tmp_path: Path, fitted: list[dict[str, Any]]) -> None:
    CellFolder(tmp_path, SETTINGS).begin()
    train_cell(str(tmp_path), SETTINGS, {"runs": "x", "resume": None}, ["seed=1"], 1)
    assert fitted == [{"runs": str(tmp_path), "resume": None}]


def test_a_cell_goes_on_where_it_can(
    tmp_path: Path, fitted: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    monkeypatch.setattr(
        "seqtag.training.resumption.open_interrupted", lambda config: opened.append(config)
    )
    CellFolder(tmp_path, SETTINGS).begin()
    made = run(tmp_path, "a", "last.ckpt")
    train_cell(str(tmp_path), SETTINGS, {"resume": None}, [], 1)
    assert fitted == opened == [{"runs": str(tmp_path), "resume": str(made)}]


def test_a_damaged_checkpoint_is_left_and_the_cell_begins_anew(
    tmp_path: Path, fitted: list[dict[str, Any]], small_config: Any
) -> None:
    config = json.loads(json.dumps(small_config("tagging")))
    CellFolder(tmp_path / "cell", SETTINGS).begin()
    run(tmp_path / "cell", "a", "last.ckpt")  # text, and no checkpoint
    train_cell(str(tmp_path / "cell"), SETTINGS, config, [], 1)
    assert fitted[0]["resume"] is None
