"""``check`` as a user types it, in this process; ``train`` beside it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seqtag.commands.front import run_command

Typed = Callable[..., tuple[int, str, str]]

GOOD = "the\tD\ndog\tN\n\na\tD\ncat\tN\n\n"
TINY = ["encoder=pointwise", "encoder.dim=8", "embedding.dim=8", "trainer.max_epochs=1"]


@pytest.fixture
def typed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Typed:
    """Type a command about files of these texts: its exit status, stdout and stderr."""

    def run_it(command: str, *words: str, **files: str) -> tuple[int, str, str]:
        for name, text in files.items():
            path = tmp_path / f"{name}.conll"
            path.write_text(text, encoding="utf-8")
            words = (*words, f"data.{name}={path}")
        capfd.readouterr()
        status = run_command(command, ["data=conll", f"runs={tmp_path / 'runs'}", *words])
        return status, *capfd.readouterr()

    return run_it


def test_good_data_is_shown_and_taken(typed: Typed) -> None:
    status, out, err = typed("check", train=GOOD, dev="the\tD\ncat\tN\n", test="a\tD\n")
    assert status == 0, err
    assert out.endswith("training would take this data.\n")
    assert "test " in out
    assert err == ""


def test_warnings_leave_the_status_as_it_is(typed: Typed) -> None:
    status, out, _ = typed("check", train=GOOD, dev=GOOD)
    assert status == 0
    assert "No errors, 1 warning" in out


def test_faults_of_all_splits_are_shown_and_the_status_is_one(typed: Typed) -> None:
    status, out, err = typed("check", train=GOOD + "a\n\n", dev=GOOD + "b\n\n", test=GOOD + "c\n")
    assert status == 1
    for name in ("train", "dev", "test"):
        assert f"{name}.conll:7: " in out
    assert err == "error: 3 errors in the data: training would refuse it\n"


def test_a_file_that_is_not_there_does_not_hide_the_faults_of_others(typed: Typed) -> None:
    status, out, _ = typed("check", "data.dev=/nowhere/dev.conll", train=GOOD + "a\n\n")
    assert status == 1
    assert "/nowhere/dev.conll" in out
    assert "train.conll:7" in out


def test_without_data_it_is_the_sample(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command("check", []) == 0
    assert "NOUN" in capfd.readouterr().out


def test_an_experiment_is_composed_as_for_train(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command("check", ["experiment=solubility", "json=true"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["task"] == "Regression"
    assert found["splits"]["test"]["measured"]["numbers"][0]["count"] > 100


@pytest.mark.parametrize("bad", ["", "a\n\n"])
def test_json_holds_it_all_and_the_status_is_the_same(typed: Typed, bad: str) -> None:
    status, out, _ = typed("check", "json=true", train=GOOD + bad, dev="a\tD\n")
    found = json.loads(out)
    assert status == found["error_count"] == len(found["errors"]) == bool(bad)
    assert found["splits"]["train"]["counts"]["rows"] == 2


def test_a_row_too_long_for_the_encoder_is_an_error(typed: Typed) -> None:
    words = ["encoder/position=learned", "encoder.position.max_positions=1"]
    status, out, _ = typed("check", *words, train=GOOD, dev="a\tD\n")
    assert status == 1
    assert "the 1 that the encoder can read" in out


@pytest.mark.parametrize(
    "files",
    [
        {"train": GOOD + "a\n\n", "dev": GOOD},
        {"train": GOOD, "dev": "a\tX\n"},
        {"train": GOOD, "dev": "a\t_\n"},
        {"train": GOOD, "dev": "\n"},
        {"train": "", "dev": GOOD},
        {"train": "a\tD\n"},
    ],
)
def test_training_refuses_what_check_refuses(
    typed: Typed, files: dict[str, str], tmp_path: Path
) -> None:
    words = ["data.missing=_", *TINY]
    assert typed("check", *words, **files)[0] == 1
    assert typed("train", *words, **files)[0] == 1
    assert not (tmp_path / "runs").exists()


def test_training_says_the_same_warnings(typed: Typed) -> None:
    files = {"train": GOOD + "a\tP\n", "dev": GOOD + "x\tQ\n"}
    _, out, _ = typed("check", "json=true", **files)
    found = json.loads(out)
    status, _, err = typed("train", *TINY, **files)
    assert status == 0, err
    assert found["warnings"]
    for problem in found["warnings"]:
        assert f"warning: {problem['messages'][0]}\n" in err
    for remark in found["remarks"]:
        assert remark in err


def test_every_fault_is_shown_though_no_row_can_be_read(typed: Typed) -> None:
    status, out, err = typed("check", train="a\n\nb\n\nc\td\te\n", dev=GOOD)
    assert status == 1
    assert "seqtag check" not in out + err
    assert "train.conll:1" in out
