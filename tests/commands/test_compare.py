"""The command that compares: what it calls, prints, refuses and ends with."""

from pathlib import Path
from typing import Any

import pytest

from seqtag.commands.compare import compare
from seqtag.commands.front import run_command
from seqtag.comparison.comparison import Comparison
from seqtag.comparison.trainings.training import Trained
from seqtag.configuration import compose_open, config_directory
from tests.conftest import SMALL

CONFIG: dict[str, Any] = {
    "examples": 2,
    "resamples": 100,
    "score": "accuracy",
    "split": None,
    "output": None,
    "device": "cpu",
}


def made() -> Comparison:
    return Comparison(
        split="test",
        metric="accuracy",
        higher_is_better=True,
        rows=3,
        resamples=100,
        contenders=[],
        pairs=[],
        disagreements=[],
        skipped={"first": "it is of another task"},
    )


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    return {**CONFIG, "runs": str(tmp_path / "runs")}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the parts of the command were called with; none of them does anything."""
    seen: dict[str, Any] = {}

    def compare_runs(runs: Any, **keys: Any) -> Comparison:
        seen.update(runs=runs, **keys)
        return made()

    def write_report(found: Comparison, folder: Path, attention: Any) -> None:
        assert folder.is_dir()
        assert attention == "drawn on cpu"
        seen.update(folder=folder, skipped=found.skipped)

    monkeypatch.setattr("seqtag.comparison.compare.compare_runs", compare_runs)
    parts = {
        "attention.draw_attention": lambda found, *, device: f"drawn on {device}",
        "page.write_report": write_report,
        "terminal.print_comparison": lambda found: None,
    }
    for name, part in parts.items():
        monkeypatch.setattr(f"seqtag.report.comparison.{name}", part)
    return seen


def test_runs_are_compared_in_a_new_folder(
    called: dict[str, Any],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [tmp_path / "a", tmp_path / "b"]
    monkeypatch.setattr(
        "seqtag.comparison.compare.find_runs", lambda paths: (found, {"c": "not finished"})
    )
    compare(config, [], ["a", "b"])
    assert called["runs"] == found
    assert called["names"] is None
    assert (called["score"], called["examples"], called["resamples"]) == ("accuracy", 2, 100)
    assert called["skipped"] == {"first": "it is of another task", "c": "not finished"}
    assert called["folder"].parent == tmp_path / "runs" / "compare"
    assert capsys.readouterr().out == f"{called['folder'] / 'report.html'}\n"
    compare({**config, "output": str(tmp_path / "mine")}, [], ["a", "b"])
    assert called["folder"] == tmp_path / "mine"


def trained(folder: Path, failures: dict[str, str]) -> Trained:
    runs = {folder / "a": "small", folder / "b": "large"}
    return Trained(folder=folder, runs=runs, failures=failures, cells=4)


def test_runs_that_cannot_be_compared_leave_no_folder(
    called: dict[str, Any],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def refuse(runs: Any, **keys: Any) -> Comparison:
        raise ValueError("scored on different data")

    monkeypatch.setattr("seqtag.comparison.compare.find_runs", lambda paths: (paths, {}))
    monkeypatch.setattr("seqtag.comparison.compare.compare_runs", refuse)
    with pytest.raises(ValueError, match="scored on different data"):
        compare(config, [], ["a", "b"])
    assert not (tmp_path / "runs").exists()


def test_variants_are_reported_in_their_folder(
    called: dict[str, Any],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "seqtag.comparison.trainings.training.train_cells",
        lambda config, words, **parts: trained(tmp_path, {}),
    )
    compare(config, [], [])
    assert called["runs"] == [tmp_path / "a", tmp_path / "b"]
    assert called["names"] == {tmp_path / "a": "small", tmp_path / "b": "large"}
    assert called["folder"] == tmp_path
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"


def test_failures_are_an_error_once_the_others_are_reported(
    called: dict[str, Any],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    failures = {"large, seed 2": "the loss is no number"}
    monkeypatch.setattr(
        "seqtag.comparison.trainings.training.train_cells",
        lambda config, words, **parts: trained(tmp_path, failures),
    )
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is compared whole
        compare(config, [], [])
    assert str(caught.value) == (
        "1 of 4 trainings failed, and the same command tries them again\n"
        "large, seed 2: the loss is no number"
    )
    assert called["folder"] == tmp_path
    left_out = {"large, seed 2": "its training failed: the loss is no number"}
    assert called["skipped"].items() >= left_out.items()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("examples", -1, "examples is -1; it must be 0 or more"),
        ("resamples", 99, "resamples is 99; it must be 100 or more"),
        ("split", "train", "split=train; it is dev or test, or null"),
        ("output", "/dev/null", "output=/dev/null cannot be written to: File exists"),
    ],
)
def test_wrong_numbers_are_refused_before_an_hour_is_spent(
    config: dict[str, Any], key: str, value: int, message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is compared whole
        compare({**config, key: value}, [], [])
    assert str(caught.value) == message


@pytest.fixture
def own_options(tmp_path: Path) -> Path:
    folder = tmp_path / "my conf"
    (folder / "encoder").mkdir(parents=True)
    text = (config_directory() / "encoder" / "cnn.yaml").read_text(encoding="utf-8")
    (folder / "encoder" / "mine.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_config_may_use_options_of_further_folders(own_options: Path) -> None:
    config = compose_open("train", ["encoder=mine"], folders=[f"file://{own_options}"])
    assert config.encoder["_target_"] == "seqtag.nn.encoders.cnn.CNNEncoder"


@pytest.mark.slow
def test_variants_may_use_the_user_s_own_options(
    own_options: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for word in SMALL if not word.startswith("encoder.")]
    status = run_command(
        "compare",
        [
            *("--config-dir", str(own_options), "encoders=[mine,pointwise]", "seeds=[7]"),
            *(*words, "encoder.dim=8", f"runs={tmp_path / 'runs'}", "dry_run=true"),
        ],
    )
    out, err = capsys.readouterr()
    assert (status, out) == (0, "mine, seed 7\npointwise, seed 7\n"), err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["encoders=[wings,lstm]"],
            "error: variant wings: no option 'wings' in encoder; there are: attention, ",
        ),
        (
            ["variants={a: [encoder=cnn], b: [encoder=cnn, encoder.wings=2]}"],
            "error: variant b: no config key 'encoder.wings' here",
        ),
        (
            ["variants={a: [], b: [evaluate_test=no]}"],
            "error: variant b: evaluate_test is the same for all variants; say it outside",
        ),
        (
            ["encoders=[pointwise]", "folds=3"],
            "error: folds=3 makes test splits of the training file, and data.test names one: ",
        ),
    ],
)
def test_a_wrong_variant_is_an_error_of_one_line(
    words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("compare", [*words, "seeds=1", f"runs={tmp_path / 'runs'}"]) != 0
    err = capsys.readouterr().err
    assert err.startswith(line)
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()
