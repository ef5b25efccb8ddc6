"""Every command and example of the README, parsed from it and run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from forked_python import forked_python

from seqtag.commands.front import run_command
from seqtag.configuration import compose, config_directory, options

README = Path(__file__).parent.parent / "README.md"
LIMIT = "trainer.max_steps=4"
CLAIMS_LIMIT = "claim.steps=[1,1] claim.seeds=[1]"
COMPARE_LIMIT = f"{LIMIT} seeds=1 encoders=[window,pointwise]"
"""Appended to what would train for long."""

BLOCKS = re.findall(
    r"^(<!-- run -->\n)?```(\w+)\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S
)
TOUR = [(language, text) for marked, language, text in BLOCKS if marked]
EXAMPLES = {
    text.splitlines()[0].lstrip("# "): text for _, language, text in BLOCKS if language != "sh"
}


def limit(text: str) -> str:
    """Shell commands with a limit behind every training and every measurement."""
    text = text.replace("\\\n", " ")
    limits = (("train", LIMIT), ("claims", CLAIMS_LIMIT), (r"compare(?! runs/)", COMPARE_LIMIT))
    for command, end in limits:
        text = re.sub(rf"^(python -m seqtag {command}\b.*)$", rf"\1 {end}", text, flags=re.M)
    return text


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(README.parent)}


PROBE = """
import os, sys
print(sys.argv, sys.path, os.getcwd(), sys.stdin.read(), __name__, flush=True)
of_shells = {"_", "PWD", "OLDPWD", "SHLVL"}
print(sorted((name, os.environ[name]) for name in os.environ.keys() - of_shells))
print("é", file=sys.stderr)
sys.exit({"number": 3, "text": "gone", "none": None}[sys.argv[1]])
"""


def assert_like_a_fresh_one(python: Path, folder: Path) -> None:
    """What a process finds around it, what it says and how it ends."""
    asked = [["-c", PROBE, how, "b c"] for how in ("number", "text", "none", "unknown")]
    for words in [*asked, ["-m", "seqtag", "tarin"], ["-m", "seqtag"]]:
        fresh, forked = (
            subprocess.run(
                [name, *words], cwd=folder, env=environment(), input=b"in", capture_output=True
            )
            for name in (sys.executable, str(python))
        )
        assert (forked.returncode, forked.stdout) == (fresh.returncode, fresh.stdout)
        assert forked.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:]


def follow(language: str, text: str, folder: Path, environment: dict[str, str]) -> None:
    shell = ["bash", "-euo", "pipefail", "-c", limit(text)]
    command = {"sh": shell, "python": ["python", "-c", text]}[language]
    answer = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )
    assert answer.returncode == 0, text + answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
    assert "warning" not in answer.stderr.lower(), text + answer.stderr


# One test, since each command goes on where the one before has ended.
@pytest.mark.timeout(900)
def test_the_tour_runs_as_it_is_written(tmp_path: Path) -> None:
    (language, text), *others = TOUR
    assert all(f"seqtag {command}" in text for command in ("train", "evaluate", "predict"))
    # In processes of their own, which the others are spared: they would only import the same anew.
    follow(language, text, tmp_path, environment())
    with forked_python(environment()) as folder:
        assert_like_a_fresh_one(folder / "python", tmp_path)
        path = f"{folder}{os.pathsep}{environment()['PATH']}"
        for language, text in others:
            follow(language, text, tmp_path, {**environment(), "PATH": path})


def test_every_training_in_the_tour_gets_a_limit() -> None:
    texts = [limit(text) for language, text in TOUR if language == "sh"]
    trainings = sum(text.count("seqtag train") for text in texts)
    compared = sum(text.count(COMPARE_LIMIT) for text in texts)
    assert compared >= 1
    assert trainings == sum(text.count(LIMIT) for text in texts) - compared >= 8


def outside_the_tour() -> list[tuple[str, list[str]]]:
    """Command and words of every line that would take too long."""
    texts = [t for marked, language, t in BLOCKS if language == "sh" and not marked]
    text = "\n".join(texts).replace("\\\n", " ")
    split = map(shlex.split, re.findall(r"^python -m seqtag (.+)$", text, re.M))
    return [(command, words) for command, *words in split]


def test_commands_outside_the_tour_are_such_as_can_be_typed() -> None:
    lines = outside_the_tour()
    assert lines
    for command, words in lines:
        # They take too long to be run, but not to be composed.
        assert run_command(command, [*words, "--cfg", "job"]) == 0, words


@pytest.mark.slow
def test_comparisons_outside_the_tour_could_be_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = 0
    for command, words in outside_the_tour():
        public = any("ewt" in word for word in words) and "SEQTAG_BENCHMARK_DATA" not in os.environ
        if command == "compare" and not public:
            assert run_command(command, [*words, "dry_run=true", f"runs={tmp_path}"]) == 0, words
            tried += 1
    assert tried >= 2
    assert "without_attention, seed 3" in capsys.readouterr().out


def test_the_make_targets_and_the_plain_equivalents_are_the_makefile_s() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make (\w+)", README.read_text(encoding="utf-8"), re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
    equivalents = next(t for _, language, t in BLOCKS if "--requirement" in t)
    for line in equivalents.splitlines()[1:]:
        command = shlex.split(line)[1:]
        assert " ".join(command[:4]).split("m ")[-1].split()[0] in makefile


@pytest.mark.slow
def test_what_the_readme_adds_is_in_the_contract_by_existing(tmp_path: Path) -> None:
    """Put into a copy of the project, and tested there by what runs over every position."""
    for name in ("seqtag", "conf", "tests"):
        shutil.copytree(README.parent / name, tmp_path / name)
    for name in ("pyproject.toml", "data"):
        (tmp_path / name).symlink_to(README.parent / name)
    for name in (
        "seqtag/nn/positions/logarithmic.py",
        "conf/encoder/position/logarithmic.yaml",
        "seqtag/nn/encoders/running_mean.py",
        "conf/encoder/running_mean.yaml",
    ):
        (tmp_path / name).write_text(EXAMPLES[name], encoding="utf-8")
    added = "logarithmic or running_mean"
    rooms = [
        "tests/nn/positions",
        "tests/nn/encoders",
        "tests/nn/decoders",
        "tests/test_configs.py",
    ]
    words = ["-p", "no:cacheprovider", "-k", added, *rooms]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert answer.returncode == 0, answer.stdout[-3000:]
    passed = re.search(r"(\d+) passed", answer.stdout)
    assert passed is not None
    assert int(passed[1]) > 20


@pytest.mark.slow
def test_the_encoder_of_the_readme_trains_from_a_package_of_ones_own(tmp_path: Path) -> None:
    source = EXAMPLES["seqtag/nn/encoders/running_mean.py"]
    settings = EXAMPLES["conf/encoder/running_mean.yaml"]
    (tmp_path / "mypackage.py").write_text(source, encoding="utf-8")
    (tmp_path / "my_configs" / "encoder").mkdir(parents=True)
    (tmp_path / "my_configs" / "encoder" / "running_mean.yaml").write_text(
        settings.replace("seqtag.nn.encoders.running_mean", "mypackage"), encoding="utf-8"
    )
    words = ["train", "--config-dir", str(tmp_path / "my_configs"), "encoder=running_mean", LIMIT]
    trusting = {**environment(), "SEQTAG_TRUSTED": "mypackage"}
    trusting["PYTHONPATH"] += os.pathsep + str(tmp_path)
    answer = subprocess.run(
        [sys.executable, "-m", "seqtag", *words],
        cwd=tmp_path,
        env=trusting,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    assert list((tmp_path / "runs").glob("tagging-*/*/best.ckpt"))
    del trusting["SEQTAG_TRUSTED"]
    refused = subprocess.run(
        [sys.executable, "-m", "seqtag", *words],
        cwd=tmp_path,
        env=trusting,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert refused.returncode == 1
    assert "SEQTAG_TRUSTED=PACKAGE adds one that you trust" in refused.stderr


def test_the_keys_and_defaults_of_the_table_are_those_of_the_config() -> None:
    config = compose("train")
    text = README.read_text(encoding="utf-8")
    table = text[text.index("| key | default |") :].split("\n\n")[0].splitlines()[2:]
    checked = 0
    for line in table:
        keys, defaults, _ = (cell.strip() for cell in line.strip("|").split("|", 2))
        names = re.findall(r"`([^`=]+)(?:=\w+)?`", keys)
        stem = names[0].rpartition(".")[0]
        values = [value.strip("` ") for value in defaults.split(",")]
        for number, name in enumerate(names):
            full = f"{stem}{name}" if name.startswith(".") else name
            if (config_directory() / full).is_dir():
                assert len(options(full)) > 1
                default = values[number]
                assert default == "per task" or default in options(full), full
                continue
            node: object = config
            for part in full.split("."):
                assert isinstance(node, dict), full
                assert part in node, full
                node = node[part]
            stated = yaml.safe_load(values[number])
            if isinstance(stated, str) and full != "device":  # said in words
                continue
            assert node == stated, full
            checked += 1
    assert checked >= 14
