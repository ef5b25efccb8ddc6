"""New sequences, as a user asks for them: the commands in this process."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import seqtag
from seqtag.commands.front import run_command

WORDS = ["ab", "ba", "aab", "b", "abba", "bb", "bab", "a", "abab", "baa"]
TINY = [
    "task=seq2seq",
    "data=tsv",
    "data.reader.header=false",
    "data.input=0",
    "data.target=1",
    "data/input_tokenizer=characters",
    "data.min_frequency=1",
    *(
        f"{part}.{key}"
        for part in ("encoder", "decoder")
        for key in ("dim=32", "num_heads=2", "dropout=0.0")
    ),
    "embedding.dim=32",
    "embedding.dropout=0.0",
    "trainer.max_epochs=25",
    "callbacks=no_early_stopping",
    "optimizer.lr=0.005",
    "batching.max_rows=16",
]


def sounds(word: str) -> str:
    """Every a is AH, every b is B."""
    return " ".join({"a": "AH", "b": "B"}[letter] for letter in word)


def tsv(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    pairs = [(word, sounds(word)) for word in WORDS]
    every = ["".join(letters) for n in range(1, 6) for letters in product("ab", repeat=n)]
    tsv(folder / "train.tsv", [(word, sounds(word)) for word in every])
    tsv(folder / "dev.tsv", pairs)
    tsv(folder / "test.tsv", [*pairs, ("acb", "AH X B"), ("abb", "")])
    return folder


@pytest.fixture(scope="module")
def words(files: Path) -> list[str]:
    return [*TINY, *(f"data.{name}={files / name}.tsv" for name in ("train", "dev", "test"))]


@pytest.fixture(scope="module")
def run(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    assert run_command("train", [*words, "evaluate_test=true", f"runs={runs}"]) == 0
    (made,) = (runs / "seq2seq-attention").iterdir()
    return made


Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Typed:
    def run(command: str, *given: str, stdin: str = "") -> tuple[int, str, str]:
        file = tmp_path / "stdin"
        file.write_text(stdin, encoding="utf-8")
        with file.open(encoding="utf-8") as stream:
            monkeypatch.setattr("sys.stdin", stream)
            status = run_command(command, list(given))
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_a_sequence_is_learnt_and_scored_by_what_the_search_finds(run: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["dev/word_error_rate"] == 0
    # Of eleven test words with a target (one is missing) ten are known, and one has a new sound.
    assert metrics["test/exact_match"] == pytest.approx(10 / 11)
    assert metrics["test/word_error_rate"] == pytest.approx(1 / 11)
    assert 0 < metrics["test/symbol_error_rate"] < 0.2
    assert metrics["floor/dev/word_error_rate"] > 0.8
    log = (run / "log.txt").read_text()
    assert "2 target symbols: AH B" in log
    assert "test has target symbols that training lacks, which always count as wrong: X" in log
    assert "of the elements unknown, 1 targets missing" in log


def test_every_line_is_answered_and_unknown_letters_are_counted(run: Path, typed: Typed) -> None:
    status, out, err = typed("predict", str(run), stdin="abba\n\nazb\n")
    assert status == 0
    first, empty, unknown = out.splitlines()
    assert (first, empty) == ("AH B B AH", "")
    assert unknown.startswith("AH")
    assert err.splitlines()[-1] == "1 of the 7 elements are unknown to the model"


def test_files_come_back_in_their_format(run: Path, files: Path, tmp_path: Path, typed) -> None:
    test = files / "test.tsv"
    status, out, _ = typed("predict", str(run), f"input={test}")
    assert status == 0
    lines = out.splitlines()
    assert lines[:10] == test.read_text().splitlines()[:10]
    assert lines[11].startswith("abb\tAH B")
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"text": "ab", "id": 7}\n')
    columns = ["data=jsonl", "data.input=text", "data.target=sound", "probabilities=true"]
    status, out, _ = typed("predict", str(run), f"input={asked}", *columns)
    assert status == 0
    answer = json.loads(out)
    assert (answer["id"], answer["sound"]) == (7, "AH B")
    assert list(answer["probabilities"]) == ["AH B"]
    assert 0.5 < answer["probabilities"]["AH B"] <= 1


@pytest.mark.slow
def test_the_search_can_be_changed_afterwards(run: Path, typed: Typed) -> None:
    assert typed("predict", str(run), "search.max_length=2", stdin="abba\n")[1] == "AH B\n"
    same = typed("predict", str(run), "search=greedy", stdin="abba\n")
    assert same[:2] == (0, "AH B B AH\n")
    # Rotary positions have no weights that would be missed; without them the answer is another.
    for changed, differs in (("none", True), ("rotary", False)):
        option = f"encoder/position@decoder.cross_position={changed}"
        status, out, _ = typed("predict", str(run), option, "probabilities=true", stdin="abba\n")
        first = typed("predict", str(run), "probabilities=true", stdin="abba\n")[1]
        assert status == 0
        assert (out != first) == differs
    wrong = typed("predict", str(run), "encoder/position@decodr.position=none", stdin="abba\n")
    assert wrong[0] == 2
    assert "no config key 'decodr.position'" in wrong[2]


def test_evaluate_shows_edits_and_the_worst_rows(run: Path, typed: Typed) -> None:
    status, out, _ = typed("evaluate", str(run))
    assert status == 0
    folder = Path(out.splitlines()[-1])
    errors = json.loads((folder / "errors.json").read_text())
    known, unknown = errors["inputs"]["known"], errors["inputs"]["unknown"]
    assert (known["exact_match"], known["count"]) == (1.0, 10)
    assert (unknown["exact_match"], unknown["count"]) == (0.0, 1)
    assert "X" in {edit["gold"] for edit in errors["edits"]}
    assert "rows that cost symbol_error_rate most" in out
    (worst,) = errors["worst"]
    assert (worst["input"], worst["gold"]) == ("acb", "AH X B")
    kept = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert (kept[0]["gold"], kept[0]["predicted"]) == ("AH B", "AH B")
    assert kept[-1]["gold"] is None


def test_the_python_interface_gives_strings(run: Path) -> None:
    model = seqtag.load(run)
    items = ["abba", "", ["a", "b"]]
    assert [output.value for output in model.predict(items)] == ["AH B B AH", None, "AH B"]


@pytest.mark.parametrize("rows", [1, 3, 64])
def test_neighbours_in_the_batch_do_not_matter(run: Path, rows: int) -> None:
    asked = [*WORDS, "abababababab", "c", "zzzz"]
    one_by_one = [next(seqtag.load(run).predict([word], probabilities=True)) for word in asked]
    together = list(seqtag.load(run, max_rows=rows).predict(asked, probabilities=True))
    for alone, batched in zip(one_by_one, together, strict=True):
        assert batched.value == alone.value
        assert batched.probabilities[alone.value] == pytest.approx(
            alone.probabilities[alone.value], rel=1e-4
        )


def test_the_best_of_a_beam_are_named_with_their_probabilities(
    run: Path, tmp_path: Path, typed: Typed
) -> None:
    beam = ["search=beam", "search.n_best=3"]
    # On a raw line, the best alone.
    status, out, _ = typed("predict", str(run), *beam, "probabilities=true", stdin="abba\n\nb\n")
    assert [line.split("\t")[0] for line in out.splitlines()] == ["AH B B AH", "", "B"]
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"text": "ab"}\n{"text": ""}\n{"text": "b"}\n')
    columns = ["data=jsonl", "data.input=text", "data.target=sound", "probabilities=true"]
    status, out, _ = typed("predict", str(run), *beam, f"input={asked}", *columns)
    assert status == 0
    first, empty, last = map(json.loads, out.splitlines())
    assert (first["sound"], last["sound"]) == ("AH B", "B")
    assert (empty["sound"], empty["probabilities"]) == (None, {})
    for answer in (first, last):
        chances = list(answer["probabilities"].values())
        assert next(iter(answer["probabilities"])) == answer["sound"]
        assert len(chances) == 3
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1
    (greedy,) = seqtag.load(run).predict(["ab"], probabilities=True)
    expected = greedy.probabilities["AH B"]
    assert first["probabilities"]["AH B"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["search.max_length=3"], "train.tsv:15: a target of 4 symbols is longer than the 3 that"),
        (["search.length_factor=0.5", "search.length_extra=0"], "train.tsv:3: a target of 2"),
        (["search.max_length=0"], "search.max_length is 0"),
        (["search.max_length=x"], "search.max_length is 'x'; it must be a whole number or null"),
        (["search.length_extra=-1"], "may be negative"),
        (["decoder.num_heads=3"], "num_heads (3)"),
        (["encoder/position@decoder.cross_position=sinusoidal"], "cross_position is Sinusoidal"),
        (["decoder.num_heads=0"], "num_heads is 0; it must be at least 1"),
        (["decoder.num_layers=0"], "decoder.num_layers is 0"),
        (["head.label_smoothing=2"], "head.label_smoothing is 2"),
        (
            ["data.target=[0,1]"],
            "a target that is a sequence, or a set of labels, stands in one column",
        ),
        (["decoder.foo=1"], "no config key 'decoder.foo'"),
        (["search=foo"], "no option 'foo' in search"),
        (["search=beam", "search.beam_size=0"], "search.beam_size is 0; it must be at least 1"),
        (["search=beam", "search.n_best=5"], "search.n_best is 5; it must be at least 1 and at"),
        (["search=beam", "search.length_penalty=-1"], "search.length_penalty is -1; it must lie"),
        (["search=beam", "search.beam_size=2.5"], "search.beam_size is 2.5; it must be a whole"),
        (["search.beam_size=3"], "no config key 'search.beam_size'"),
        (["head=tagging"], "no config key 'decoder.dim'"),
        (["task=classification", "head=seq2seq"], "the task's targets are none"),
        (["task.selection=[accuracy]"], "task.selection names ['accuracy']"),
        (["data.target=7"], "train.tsv:1"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_two_lines(
    changed: list[str], message: str, words: list[str], tmp_path: Path, typed: Typed
) -> None:
    runs = tmp_path / "runs"
    found = typed("train", *words, *changed, f"runs={runs}")
    status, out, err = found
    assert status in (1, 2)
    assert message in err
    assert "Traceback" not in err
    assert len(err[err.index("error: ") :].splitlines()) <= 3
    assert not out
    assert not runs.exists()


def test_the_most_too_long_targets_are_counted(words: list[str], typed: Typed) -> None:
    _, _, err = typed("train", *words, "search.max_length=4")
    assert "a target of 5 symbols is longer than the 4 that search allows here" in err
    assert "more are too long); raise search.max_length" in err


def test_a_list_of_symbols_is_a_target_in_json(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "data.jsonl"
    rows = [{"text": word, "label": sounds(word).split()} for word in WORDS]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, _, err = typed(
        "train",
        *(word for word in TINY if "header" not in word and "data." not in word),
        "data=jsonl",
        f"data.train={file}",
        f"data.dev={file}",
        "trainer.max_epochs=1",
        f"runs={tmp_path / 'runs'}",
    )
    assert status == 0, err
    assert "2 target symbols: AH B" in err


def test_an_interrupted_run_goes_on_as_if_nothing_had_been(
    words: list[str], tmp_path: Path, typed: Typed
) -> None:
    short = [*words, "scheduler=constant", "trainer.max_epochs=4"]
    assert typed("train", *short, f"runs={tmp_path / 'whole'}")[0] == 0
    assert typed("train", *short, "trainer.max_epochs=2", f"runs={tmp_path / 'cut'}")[0] == 0
    (cut,) = tmp_path.glob("cut/*/*")
    (cut / "metrics.json").unlink()  # which is written last
    status, _, err = typed("train", f"resume={cut}", "trainer.max_epochs=4")
    assert status == 0, err
    (whole,) = tmp_path.glob("whole/*/*")
    scores = [json.loads((folder / "metrics.json").read_text()) for folder in (whole, cut)]
    for name in ("dev/word_error_rate", "dev/symbol_error_rate"):
        assert scores[0][name] == scores[1][name]


@pytest.mark.parametrize("encoder", ["lstm", "window", "attention"])
def test_any_encoder_serves(encoder: str, words: list[str], tmp_path: Path, typed: Typed) -> None:
    own = [word for word in words if encoder == "attention" or "encoder.num_heads" not in word]
    given = [*own, f"encoder={encoder}", "trainer.max_epochs=1", f"runs={tmp_path}"]
    assert typed("train", *given)[0] == 0
    (made,) = tmp_path.glob(f"seq2seq-{encoder}/*")
    assert typed("predict", str(made), stdin="ab\n")[0] == 0


def test_dry_run_shows_the_shape_of_the_target(words: list[str], typed: Typed) -> None:
    status, out, _ = typed("train", *words, "dry_run=true")
    assert status == 0
    assert "target      [" in out


def test_brain_floats_decode(words: list[str], tmp_path: Path, typed: Typed) -> None:
    changed = ["trainer.precision=bf16-mixed", "trainer.max_epochs=2", f"runs={tmp_path}"]
    status, _, err = typed("train", *words, *changed)
    assert status == 0, err


def test_vectors_become_a_sequence_too(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "frames.jsonl"
    frames = {"a": [0.0, 1.0], "b": [1.0, 0.0]}
    rows = [{"text": [frames[c] for c in word], "label": sounds(word)} for word in WORDS]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, _, err = typed(
        "train",
        *(word for word in TINY if "data" not in word),
        "data=jsonl",
        f"data.train={file}",
        f"data.dev={file}",
        "trainer.max_epochs=2",
        f"runs={tmp_path / 'runs'}",
    )
    assert status == 0, err
    (made,) = (tmp_path / "runs").glob("*/*")
    status, out, _ = typed("predict", str(made), f"input={file}", "probabilities=true")
    assert status == 0
    assert len(out.splitlines()) == len(WORDS)


@pytest.mark.slow
def test_words_are_joined_as_people_write_them(tmp_path: Path, typed: Typed) -> None:
    file = tsv(tmp_path / "data.tsv", [("ja", "Yes, it is."), ("nein", "No!")] * 20)
    status, _, err = typed(
        "train",
        *(word for word in TINY if "max_epochs" not in word),
        "data/target_tokenizer=words",
        f"data.train={file}",
        f"data.dev={file}",
        "trainer.max_epochs=15",
        f"runs={tmp_path / 'runs'}",
    )
    assert status == 0, err
    assert "7 target symbols: ! , . No Yes is it" in err
    (made,) = (tmp_path / "runs").glob("*/*")
    assert typed("predict", str(made), stdin="ja\nnein\n")[1] == "Yes, it is.\nNo!\n"


def test_another_format_is_read_by_the_columns_of_the_run(tmp_path: Path, typed: Typed) -> None:
    file = tmp_path / "data.tsv"
    file.write_text("number\troman\n1\ti\n2\tii\n5\tv\n", encoding="utf-8")
    own = ["data.input=number", "data.target=roman", "data/target_tokenizer=characters"]
    status, _, err = typed(
        "train",
        *(word for word in TINY if not word.startswith(("data.", "trainer"))),
        *own,
        f"data.train={file}",
        f"data.dev={file}",
        "trainer.max_epochs=1",
        f"runs={tmp_path / 'runs'}",
    )
    assert status == 0, err
    (made,) = (tmp_path / "runs").glob("*/*")
    status, out, _ = typed("predict", str(made), "data=csv", stdin="a,number\nq,2\n")
    assert status == 0
    header, row = out.splitlines()
    assert header == "a,number,roman"
    assert row.startswith("q,2,")
    status, out, _ = typed("predict", str(made), "data=jsonl", stdin='{"number": "2"}\n')
    assert status == 0
    assert list(json.loads(out)) == ["number", "roman"]


def test_the_task_of_a_run_stays(run: Path, typed: Typed) -> None:
    status, _, err = typed("predict", str(run), "task=tagging", stdin="ab\n")
    assert status == 1
    assert "task=tagging: this run's model was trained for another task" in err


def test_outputs_that_the_limit_ends_are_counted(run: Path, typed: Typed) -> None:
    _, _, err = typed("predict", str(run), "search.max_length=2", stdin="abba\nb\n")
    assert "1 outputs were ended by search.max_length" in err


def test_a_target_that_is_not_split_is_pointed_at(tmp_path: Path, typed: Typed) -> None:
    file = tsv(tmp_path / "data.tsv", [(word, word[::-1]) for word in WORDS])
    words = [*TINY, f"data.train={file}", f"data.dev={file}", f"runs={tmp_path / 'runs'}"]
    _, _, err = typed("train", *words, "trainer.max_epochs=1")
    warning = "should they be split, with data/target_tokenizer=characters or words?"
    assert warning in err
    # Many symbols alone are no reason: a few translated sentences have more words than rows.
    tsv(file, [("a", "one two three four"), ("b", "five six seven eight")])
    _, _, err = typed("train", *words, "trainer.max_epochs=1")
    assert "8 target symbols" in err
    assert warning not in err


@pytest.mark.parametrize(
    ("typo", "message"),
    [
        ("data.input_tokenizer=characters", "data/input_tokenizer=OPTION"),
        ("encoder.position=none", "encoder/position=none"),
        ("decoder.position=none", "encoder/position@decoder.position=none"),
        ("head=none", "no option 'none' in head"),
    ],
)
def test_a_dot_for_a_slash_is_told(typo: str, message: str, words: list[str], typed: Typed) -> None:
    status, _, err = typed("train", *words, typo)
    assert status in (1, 2)
    assert message in err


def test_a_resumed_run_takes_changed_settings_of_the_optimiser(
    words: list[str], tmp_path: Path, typed: Typed
) -> None:
    assert typed("train", *words, "trainer.max_epochs=2", f"runs={tmp_path}")[0] == 0
    (made,) = tmp_path.glob("*/*")
    (made / "metrics.json").unlink()
    status, _, err = typed("train", f"resume={made}", "optimizer=sgd")
    assert status == 1
    assert "whose state the other cannot go on with" in err
    status, _, err = typed("train", f"resume={made}", "trainer.max_epochs=3", "optimizer.lr=1e30")
    assert status == 1
    assert "the training diverged in epoch 3" in err
