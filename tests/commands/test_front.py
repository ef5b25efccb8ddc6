"""The command line as a user types it, in this process."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

import seqtag
from seqtag.commands.front import run_command
from seqtag.configuration import sample_directory

SENTENCES = [
    [("the", "DET"), ("saw", "NOUN"), ("cuts", "VERB")],
    [("I", "PRON"), ("saw", "VERB"), ("the", "DET"), ("duck", "NOUN")],
    [("ducks", "NOUN"), ("cut", "VERB")],
    [("yes", "INTJ")],
]
TINY = [
    "encoder.dim=8",
    "encoder.num_heads=2",
    "encoder.num_layers=1",
    "encoder.feedforward_dim=8",
    "embedding.dim=8",
    "trainer.max_epochs=2",
]


def conllu(path: Path, sentences: list[list[tuple[str, str]]]) -> Path:
    blocks = [
        "# a comment\n"
        + "".join(
            f"{number}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n"
            for number, (form, tag) in enumerate(sentence, 1)
        )
        for sentence in sentences
    ]
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    conllu(folder / "train.conllu", SENTENCES * 8)
    conllu(folder / "dev.conllu", SENTENCES)
    conllu(folder / "test.conllu", [*SENTENCES, [("new", "ADJ"), ("saw", "NOUN")]])
    return folder


@pytest.fixture(scope="module")
def run(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    words = [f"data.{name}={files / name}.conllu" for name in ("train", "dev", "test")]
    assert run_command("train", [*words, *TINY, f"runs={runs}", "evaluate_test=true"]) == 0
    (folder,) = (runs / "tagging-attention").iterdir()
    return folder


Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Type a command: its exit status, stdout and stderr."""

    def run_it(command: str, *words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capfdbinary.readouterr()
        status = run_command(command, list(words))
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run_it


def test_a_run_directory_holds_everything_about_the_run(run: Path, files: Path) -> None:
    names = {path.name for path in run.iterdir()}
    assert names == {
        "config.yaml",
        "overrides.yaml",
        "best.ckpt",
        "last.ckpt",
        "metrics.json",
        "metrics.csv",
        "dev_rows.parquet",
        "test_rows.parquet",
        "predictions.jsonl",
        "log.txt",
        "environment.json",
    }
    metrics = json.loads((run / "metrics.json").read_text())
    assert {"test/accuracy", "dev/accuracy", "parameters", "best_epoch"} <= metrics.keys()
    assert {"train/seconds", "train/tokens_per_second", "floor/test/accuracy"} <= metrics.keys()
    environment = json.loads((run / "environment.json").read_text())
    assert environment["data"]["train"]["rows"] == 32
    assert environment["data"]["test"]["unknown"] == 1
    assert len(environment["data"]["test"]["sha256"]) == 64
    assert "labels that training lacks" in (run / "log.txt").read_text()
    assert len((run / "metrics.csv").read_text().splitlines()) == 3


def test_predictions_stand_beside_gold(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert [line["tokens"] for line in lines] == [[w for w, _ in s] for s in SENTENCES] + [
        ["new", "saw"]
    ]
    right = sum(
        gold == predicted
        for line in lines
        for gold, predicted in zip(line["gold"], line["predicted"], strict=True)
    )
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["test/accuracy"] == pytest.approx(right / 12)


def test_checkpoints_hold_tensors_and_plain_values_only(run: Path) -> None:
    for name in ("best.ckpt", "last.ckpt"):
        assert torch.load(run / name, weights_only=True)["seqtag"]["format"] == 5


def test_evaluate_gives_the_scores_of_training(run: Path, typed: Typed) -> None:
    status, out, err = typed("evaluate", str(run))
    assert status == 0
    folder = Path(out.splitlines()[-1])
    assert folder.parent == run / "evaluations"
    found = json.loads((folder / "metrics.json").read_text())
    trained = json.loads((run / "metrics.json").read_text())
    assert found["test/accuracy"] == trained["test/accuracy"]
    errors = json.loads((folder / "errors.json").read_text())
    assert errors["labels"]["each"]["ADJ"]["recall"] == 0
    assert errors["words"]["unknown"]["count"] == 1
    assert "ADJ" in err


def test_evaluate_takes_another_file_and_batch_size(run: Path, files: Path, typed: Typed) -> None:
    for rows in (1, 7, 64):
        status, out, _ = typed(
            "evaluate", str(run), f"data.test={files / 'dev.conllu'}", f"batching.max_rows={rows}"
        )
        assert status == 0
        metrics = json.loads((Path(out.splitlines()[-1]) / "metrics.json").read_text())
        trained = json.loads((run / "metrics.json").read_text())
        assert metrics["test/accuracy"] == trained["dev/accuracy"]


def test_predict_answers_every_line_and_an_empty_one_with_an_empty_one(
    run: Path, typed: Typed
) -> None:
    status, out, _ = typed("predict", str(run), stdin="the saw cuts\n\nI saw\n")
    assert status == 0
    assert [len(line.split()) for line in out.split("\n")] == [3, 0, 2, 0]


def test_predict_writes_the_format_that_it_reads(run: Path, files: Path, typed: Typed) -> None:
    status, out, _ = typed("predict", str(run), f"input={files / 'test.conllu'}")
    assert status == 0
    gold = (files / "test.conllu").read_text().splitlines()
    for written, line in zip(out.splitlines(), gold, strict=True):
        columns, expected = written.split("\t"), line.split("\t")
        assert columns[:3] + columns[4:] == expected[:3] + expected[4:]


def test_predict_takes_the_format_it_is_told(run: Path, typed: Typed) -> None:
    status, out, _ = typed("predict", str(run), "data=conll", stdin="the\tX\nsaw\tX\n\nI\tX\n")
    assert status == 0
    assert [line.split("\t")[0] for line in out.splitlines()] == ["the", "saw", "", "I"]
    status, out, _ = typed(
        "predict", str(run), "data=jsonl", "probabilities=true", stdin='{"text": "I saw"}\n'
    )
    answer = json.loads(out)
    assert len(answer["label"]) == 2
    assert sum(answer["probabilities"][0].values()) == pytest.approx(1, abs=1e-5)


def test_predict_writes_through_links_and_into_devices(
    run: Path, tmp_path: Path, typed: Typed
) -> None:
    real, link, pipe = tmp_path / "real.txt", tmp_path / "link.txt", tmp_path / "pipe"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    source = tmp_path / "in.txt"
    source.write_text("the saw\n")
    assert typed("predict", str(run), f"input={source}", f"output={link}")[0] == 0
    assert link.is_symlink()
    assert len(real.read_text().split()) == 2
    assert real.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert typed("predict", str(run), f"input={source}", f"output={pipe}")[0] == 0
        assert reader.communicate()[0] == real.read_text()
    assert pipe.is_fifo()


def test_predict_writes_a_file_whole_or_not_at_all(run: Path, tmp_path: Path, typed: Typed) -> None:
    source = tmp_path / "it's (a), file=1.conllu"
    source.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tsaw\n\n", encoding="utf-8")
    target = tmp_path / "out, (1).conllu"
    status, _, err = typed("predict", str(run), f"input={source}", f"output={target}")
    assert status == 1
    assert f"{source}:3" in err
    assert not target.exists()
    assert [p.name for p in tmp_path.iterdir()] == [source.name]
    status, _, err = typed("predict", str(run), f"input={source}", f"output={source}")
    assert status == 1
    assert "input file" in err


def test_the_python_interface_agrees_with_the_command(run: Path, typed: Typed) -> None:
    _, out, _ = typed("predict", str(run), stdin="the saw cuts\nI saw the duck\n")
    outputs = seqtag.load(run).predict(["the saw cuts", ["I", "saw", "the", "duck"]])
    assert [" ".join(output.value) for output in outputs] == out.splitlines()


def test_group_options_come_from_the_installed_conf(run: Path, typed: Typed) -> None:
    status, _, err = typed("evaluate", str(run), "encoder=lstm")
    assert status == 1
    assert "do not fit the config" in err


SAMPLE = f"data.train={sample_directory() / 'pos' / 'train.conllu'}"
ERRORS = [
    (["train", "encoder=foo"], 2, "no option 'foo' in encoder; there are: attention"),
    (["train", "encoder.foo=1"], 2, "no config key 'encoder.foo'"),
    (["train", "+encoder.foo=1"], 1, "encoder.foo: AttentionEncoder takes no 'foo'"),
    (["train", "encoder.dim=abc"], 1, "encoder.dim is 'abc'; it must be a whole number"),
    (["train", "encoder.dim="], 1, "encoder.dim is ''"),
    (["train", "encoder.num_heads=3"], 1, "num_heads (3)"),
    (["train", "optimizer.lr=abc"], 1, "optimizer.lr is 'abc'; it must be a number"),
    (["train", "batching.max_rows=0"], 1, "batching.max_rows is 0"),
    (["train", "batching.max_tokens=abc"], 1, "batching.max_tokens is 'abc'"),
    (
        ["train", "data.too_long=error", "batching.max_tokens=5"],
        1,
        "over the limit of 5 (data.max_length, else batching.max_tokens)",
    ),
    (["train", "data.too_long=cut"], 1, "data.too_long=cut: it is one of error, split, truncate"),
    (["train", "data.processes=0"], 1, "data.processes=0"),
    (["train", "data.features=UPOS"], 1, "data.features is 'UPOS'; it must be a list in brackets"),
    (["train", "seed=x"], 1, "seed is 'x'"),
    (["train", "seed=-1"], 1, "seed is -1"),
    (["train", "evaluate_test=no"], 1, "evaluate_test is 'no'; it must be true or false"),
    (["train", "data.min_frequency=abc"], 1, "data.min_frequency is 'abc'"),
    (["train", "data.skip_lines=null"], 1, "data.skip_lines is None"),
    (["train", "~runs"], 1, "runs is missing"),
    (["train", "encoder.scorer=null"], 1, "unexpected TypeError"),
    (["train", "data.input=" + str(list(range(120)))], 1, "data.input"),
    (["predict", "RUN", "probabilities=no"], 1, "probabilities is 'no'"),
    (["train", "trainer.max_time=5"], 1, "not DD:HH:MM:SS"),
    (["train", "trainer.max_epochs=-1"], 1, "no limit"),
    (["train", "trainer.max_epochs=x"], 1, "trainer.max_epochs is 'x'"),
    (["train", "trainer.devices=2"], 1, "trainer.devices is 2; a run uses one device"),
    (["train", "trainer.devices=0"], 1, "trainer.devices is 0"),
    (["train", "trainer.precision=foo"], 1, "foo"),
    (["train", "trainer.gradient_clip_val=-1"], 1, "trainer.gradient_clip_val is -1"),
    (["train", "callbacks.early_stopping.mode=foo"], 1, "trainer or callbacks: `mode`"),
    (["train", "optimizer.lr=-1"], 1, "learning rate"),
    (["train", "scheduler.warmup=2"], 1, "scheduler.warmup is 2"),
    (["train", "optimizer.betas=3"], 1, "optimizer"),
    (["train", "device=nonsense"], 1, "device=nonsense cannot be used"),
    (["train", "data.train=no such file"], 1, "no such file"),
    (["train", "data=tsv"], 1, "data.train is not given"),
    (["train", "data.target=NOPE"], 1, "NOPE"),
    (["train", "task=classification"], 1, "a task needs its data"),
    (["train", "task=classification", SAMPLE], 1, "did you mean task=tagging?"),
    (["train", "task=regression", SAMPLE], 1, "did you mean task=token_regression?"),
    (["train", SAMPLE, "evaluate_test=true"], 1, "no test file is named"),
    (["predict", "RUN", "output=nowhere/x.txt"], 1, "there is no folder nowhere"),
    (["train", "runs/x"], 2, "train takes no run directory"),
    (["train", "encoder.dim=[1"], 2, "encoder.dim"),
    (["evaluate"], 2, "evaluate takes one run directory or checkpoint (given: none)"),
    (["evaluate", "nowhere"], 1, "no run directory or checkpoint at nowhere"),
    (["evaluate", "RUN", "foo=1"], 2, "no config key 'foo'"),
    (["evaluate", "RUN", "encoder=foo"], 1, "no option 'foo' in encoder"),
    (["evaluate", "RUN", "split=train"], 1, "dev or test"),
    (["predict", "RUN", "input=missing.conllu"], 1, "missing.conllu: no such file"),
    (["predict", "RUN", f"input={__file__}", "data=tsv", "data.input=text"], 1, "text"),
    (["predict", "RUN", "device=cuda:99"], 1, "device=cuda:99"),
]


@pytest.mark.parametrize(
    ("words", "status", "message"), ERRORS, ids=[" ".join(e[0]) for e in ERRORS]
)
def test_errors_say_what_and_where_in_two_lines(
    words: list[str],
    status: int,
    message: str,
    run: Path,
    tmp_path: Path,
    typed: Typed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, out, err = typed(*[str(run) if word == "RUN" else word for word in words])
    assert found == status, err
    assert message in err
    assert "Traceback" not in err
    complaint = err[err.index("error: ") :]
    assert len(complaint.splitlines()) <= 3
    assert not out
    assert not any(tmp_path.iterdir()), "a refused command leaves nothing behind"


def test_debug_shows_the_traceback(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQTAG_DEBUG", "1")
    _, _, err = typed("evaluate", "nowhere")
    assert "Traceback" in err


def test_a_missing_environment_variable_is_named(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEQTAG_BENCHMARK_DATA", raising=False)
    status, _, err = typed("train", "experiment=sst2")
    assert status == 1
    assert "SEQTAG_BENCHMARK_DATA, which is not set" in err


def test_a_given_training_file_never_meets_the_sample(
    files: Path, tmp_path: Path, typed: Typed
) -> None:
    status, _, err = typed(
        "train", f"data.train={files / 'train.conllu'}", *TINY, f"runs={tmp_path}"
    )
    assert status == 0
    assert "no data.dev: 3 of the 32 rows" in err
    assert "pos" not in err.replace("position", "")


def test_dry_run_shows_sizes_and_writes_nothing(files: Path, tmp_path: Path, typed: Typed) -> None:
    status, out, _ = typed(
        "train",
        f"data.train={files / 'train.conllu'}",
        "dry_run=true",
        *TINY,
        f"runs={tmp_path / 'runs'}",
    )
    assert status == 0
    assert "embedding" in out
    assert "parameters" in out
    assert not (tmp_path / "runs").exists()


def test_tensorboard_gets_what_the_run_logs(files: Path, tmp_path: Path, typed: Typed) -> None:
    words = [f"data.train={files / 'train.conllu'}", "logger=tensorboard", *TINY]
    assert typed("train", *words, f"runs={tmp_path}")[0] == 0
    assert list(tmp_path.glob("*/*/**/events.out.tfevents.*"))
    assert list(tmp_path.glob("*/*/metrics.csv"))


def test_brain_floats_train_and_score(files: Path, tmp_path: Path, typed: Typed) -> None:
    for encoder in ("attention", "lstm", "window"):
        words = [f"data.train={files / 'train.conllu'}", "trainer.precision=bf16-mixed"]
        small = ["encoder.dim=8", f"encoder={encoder}", "trainer.max_epochs=2"]
        assert typed("train", *words, *small, f"runs={tmp_path / encoder}")[0] == 0
        (metrics,) = (tmp_path / encoder).glob("*/*/metrics.json")
        assert json.loads(metrics.read_text())["dev/accuracy"] > 0


def test_hydra_sweeps_over_values(files: Path, tmp_path: Path, typed: Typed) -> None:
    status, _, _ = typed(
        "train",
        "-m",
        f"data.train={files / 'train.conllu'}",
        "seed=1,2",
        *TINY,
        f"runs={tmp_path}",
        f"hydra.sweep.dir={tmp_path / 'sweep'}",
    )
    assert status == 0
    assert len(list((tmp_path / "tagging-attention").iterdir())) == 2


HELP = """
import sys, time
start = time.perf_counter()
sys.argv = ["seqtag", "--help"]
from seqtag.__main__ import main
try:
    main()
except SystemExit as end:
    assert end.code == 0
assert "torch" not in sys.modules
assert "hydra" not in sys.modules
assert time.perf_counter() - start < 0.5
"""


def test_help_is_instant_and_loads_nothing_heavy() -> None:
    answer = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert "train" in answer.stdout


def test_a_reader_that_has_enough_ends_the_command_in_silence(run: Path) -> None:
    for command in ("--help", "train --help", f"predict {run} input={Path(__file__)}"):
        shell = f"{sys.executable} -m seqtag {command} | head -n 1"
        answer = subprocess.run(
            ["bash", "-o", "pipefail", "-c", shell], capture_output=True, text=True
        )
        # What fits into the pipe is all written before anybody closes it: then the count is told.
        told = [line for line in answer.stderr.splitlines() if not line.endswith("to the model")]
        assert not told
        assert answer.returncode == 0


@pytest.mark.parametrize("command", ["train", "evaluate", "predict"])
def test_each_command_has_help(command: str, typed: Typed) -> None:
    status, out, _ = typed(command, "--help")
    assert status == 0
    assert out.startswith(f"usage: python -m seqtag {command}")


def test_an_unknown_command_is_refused_with_status_2() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "seqtag", "tarin"], capture_output=True, text=True
    )
    assert answer.returncode == 2
    assert "no command 'tarin'; there are: train" in answer.stderr


def edited(run: Path, folder: Path, **changes: object) -> Path:
    """A copy of a run whose checkpoint and config.yaml hold something more."""
    copy = folder / "copy"
    shutil.copytree(run, copy)
    content = torch.load(copy / "best.ckpt", weights_only=True)
    content["seqtag"]["config"] |= changes
    torch.save(content, copy / "best.ckpt")
    stored = yaml.safe_load((copy / "config.yaml").read_text())
    (copy / "config.yaml").write_text(yaml.safe_dump(stored | changes))
    return copy


@pytest.mark.parametrize("key", ["hydra", "defaults", "_target_"])
def test_a_config_from_elsewhere_gives_hydra_nothing_to_act_on(
    key: str, run: Path, tmp_path: Path, typed: Typed
) -> None:
    made = tmp_path / "made"
    evil = {"callbacks": {"x": {"_target_": "os.mkdir", "_args_": [str(made)]}}}
    copy = edited(run, tmp_path, **{key: evil})
    for command, words in (
        ("predict", [str(copy)]),
        ("evaluate", [str(copy)]),
        ("train", [f"from={copy}", "trainer.max_steps=1", f"runs={tmp_path / 'runs'}"]),
    ):
        status, _, err = typed(command, *words)
        assert status == 1
        assert f"holds the key '{key}', which no run writes" in err
        assert not made.exists()


def test_strings_of_a_checkpoint_are_taken_literally(
    run: Path, tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "told")
    copy = edited(run, tmp_path, runs="${oc.env:SECRET}")
    status, out, _ = typed("predict", str(copy), "--cfg", "job", "--resolve")
    assert status == 0
    assert "told" not in out


def test_labels_that_look_like_markup_are_shown_as_they_are(tmp_path: Path, typed: Typed) -> None:
    marked = [[("a", "[/b]"), ("b", "[red]")], [("b", "[red]")]]
    conllu(tmp_path / "train.conllu", marked * 4)
    words = [f"data.{s}={tmp_path / 'train.conllu'}" for s in ("train", "dev", "test")]
    assert typed("train", *words, *TINY, f"runs={tmp_path / 'runs'}")[0] == 0
    (folder,) = (tmp_path / "runs").glob("*/*")
    status, out, _ = typed("evaluate", str(folder))
    assert status == 0
    assert "[/b]" in out
    assert "[red]" in out


def test_spans_are_analysed_by_type(tmp_path: Path, typed: Typed) -> None:
    spans = [
        [("Ann", "B-PER"), ("Lee", "I-PER"), ("in", "O"), ("Rome", "B-LOC")],
        [("to", "O"), ("Rome", "B-LOC")],
        [("Ann", "B-PER"), ("went", "O")],
    ]
    conllu(tmp_path / "train.conllu", spans * 8)
    words = [f"data.{s}={tmp_path / 'train.conllu'}" for s in ("train", "dev", "test")]
    rate = ["optimizer.lr=0.02", "trainer.max_epochs=20"]
    assert typed("train", *words, *TINY, *rate, f"runs={tmp_path / 'runs'}")[0] == 0
    (folder,) = (tmp_path / "runs").glob("*/*")
    status, out, _ = typed("evaluate", str(folder))
    assert status == 0
    errors = json.loads((Path(out.splitlines()[-1]) / "errors.json").read_text())
    assert errors["scheme"] == "IOB2"
    assert errors["spans"]["each"]["PER"]["support"] == 16
    assert errors["spans"]["averages"]["micro"]["support"] == 32
    metrics = json.loads((Path(out.splitlines()[-1]) / "metrics.json").read_text())
    assert errors["spans"]["averages"]["micro"]["f1"] == pytest.approx(
        metrics["test/span_f1_strict"]
    )


def test_a_score_that_dev_cannot_have_does_not_choose(tmp_path: Path, typed: Typed) -> None:
    conllu(tmp_path / "train.conllu", [[("Ann", "B-PER"), ("ran", "O")]] * 8)
    conllu(tmp_path / "dev.conllu", [[("so", "O"), ("ran", "O")]] * 2)
    words = [f"data.{s}={tmp_path / s}.conllu" for s in ("train", "dev")]
    status, _, err = typed("train", *words, *TINY, "trainer.max_epochs=4", f"runs={tmp_path}")
    assert status == 0
    assert "dev/accuracy" in err
    assert "epoch 4" in err


def test_the_cache_is_that_of_this_machine(
    run: Path, tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQTAG_CACHE", str(tmp_path / "mine"))
    assert typed("evaluate", str(run))[0] == 0
    assert any((tmp_path / "mine").iterdir())


def test_a_changed_part_that_has_no_weights_is_told(run: Path, typed: Typed) -> None:
    for words in (["encoder/position=none"], ["encoder/scorer=dot"], ["encoder.radius=0"]):
        status, out, err = typed("predict", str(run), *words, stdin="the saw\n")
        assert status == 0
        assert len(out.split()) == 2
        assert "and the model was trained with" in err, words
    assert "trained with" not in typed("predict", str(run), stdin="the saw\n")[2]


@pytest.mark.slow
def test_who_closes_the_messages_does_not_end_the_work(files: Path, tmp_path: Path) -> None:
    words = [f"data.{name}={files / name}.conllu" for name in ("train", "dev")]
    command = [sys.executable, "-m", "seqtag", "train", *words, *TINY, f"runs={tmp_path}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
    assert process.returncode == 0
    assert len(list(tmp_path.glob("*/*/metrics.json"))) == 1
