"""What the front end makes of the words of ``compare``; nothing is trained or compared here."""

from pathlib import Path
from typing import Any

import pytest

from seqtag.commands.front import run_command

Call = tuple[dict[str, Any], list[str], list[str]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """The calls of a command that only notes them."""
    noted: list[Call] = []

    def compare(config: dict[str, Any], overrides: list[str], runs: list[str]) -> None:
        noted.append((config, overrides, runs))

    monkeypatch.setattr("seqtag.commands.compare.compare", compare)
    return noted


def test_runs_need_no_data_and_no_keys_of_a_training(calls: list[Call]) -> None:
    assert run_command("compare", ["a", "score=accuracy", "b/best.ckpt", "examples=0"]) == 0
    ((config, overrides, runs),) = calls
    assert runs == ["a", "b/best.ckpt"]
    assert overrides == ["score=accuracy", "examples=0"]
    assert (config["score"], config["examples"], config["runs"]) == ("accuracy", 0, "runs")
    assert "encoder" not in config
    assert "data" not in config


def test_without_runs_it_takes_what_train_takes(calls: list[Call]) -> None:
    words = ["variants={small: [encoder.dim=64], none: [encoder/position=none]}", "seeds=[4,7]"]
    assert run_command("compare", [*words, "encoder.dim=32", "data=tsv"]) == 0
    ((config, overrides, runs),) = calls
    assert runs == []
    assert config["variants"] == {"small": ["encoder.dim=64"], "none": ["encoder/position=none"]}
    assert config["seeds"] == [4, 7]
    assert config["encoder"]["dim"] == 32
    assert config["data"]["format"] == "tsv"
    assert overrides[1:] == ["seeds=[4,7]", "encoder.dim=32", "data=tsv"]


def test_the_sample_is_taken_where_no_data_are_named(calls: list[Call]) -> None:
    assert run_command("compare", ["seeds=2"]) == 0
    assert run_command("compare", ["experiment=hydrophilic"]) == 0
    sample, named = calls
    assert sample[1] == ["experiment=pos", "seeds=2"]
    assert sample[0]["data"]["train"].endswith("pos/train.conllu")
    assert named[1] == ["experiment=hydrophilic"]


def test_an_experiment_of_ones_own_may_say_what_is_compared(
    calls: list[Call], tmp_path: Path
) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(
        "# @package _global_\nseeds: 3\nvariants: {small: [encoder.dim=8]}\n"
    )
    assert run_command("compare", ["experiment=mine", "--config-dir", str(tmp_path)]) == 0
    assert (
        run_command("compare", ["experiment=mine", "--config-dir", str(tmp_path), "seeds=2"]) == 0
    )
    assert [config["seeds"] for config, _, _ in calls] == [3, 2]
    assert calls[0][0]["variants"] == {"small": ["encoder.dim=8"]}


REFUSED = [
    (["a", "trainer.max_epochs=1"], 2, "to train, as trainer.max_epochs would, leave the runs out"),
    (["a", "encoder=lstm"], 2, "to train, as encoder would, leave the runs out"),
    (["a", "seeds=3"], 2, "to train, as seeds would"),
    (["a", "resume=b"], 2, "to train, as resume would"),
    (["resume=b"], 2, "compare trains anew: leave resume= out"),
    (["from=b"], 2, "compare trains anew: leave from= out"),
    (["variants=small"], 2, "variants=small cannot be read; it is variants={NAME"),
    (["variants={small:", "[encoder.dim=8]}"], 2, "all of it in quotes for the shell"),
    (["seeds=some"], 1, "seeds is 'some'; it must be a whole number"),
    (["seeds=[1,x]"], 1, "seeds is [1, 'x']; each must be a whole number"),
    (["evaluate_test=no"], 1, "evaluate_test is 'no'; it must be true or false"),
    (["task=classification"], 1, "a task needs its data"),
]


@pytest.mark.parametrize(("words", "status", "message"), REFUSED, ids=[str(r[0]) for r in REFUSED])
def test_words_that_do_not_go_together_end_in_a_line(
    words: list[str],
    status: int,
    message: str,
    calls: list[Call],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command("compare", words) == status
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
    assert not calls


def test_help_shows_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("compare", ["--help"]) == 0
    out = capsys.readouterr().out
    assert "compare RUN RUN ..." in out
    assert "  variants=null # " in out
    assert "  folds=null # " in out
