"""Every input row yields exactly one output, in order, and nothing is cut in silence."""

from __future__ import annotations

import gzip
import io
import json
import logging
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet
import pytest
import torch
from alignment_formats import ELEMENTS, FORMATS, NAMED, SEQUENCES, Format
from alignment_rows import ODD, VOCABULARY, Mixed, mix_vectors, mix_words
from conftest import SMALL, SMALL_PARTS

import seqtag
from seqtag.checkpoint import BEST, own_part
from seqtag.commands.front import run_command
from seqtag.configuration import compose
from seqtag.data.readers.files import open_stream
from seqtag.data.source import build_reader
from seqtag.datamodule import DataModule
from seqtag.model import Model
from seqtag.tasks.task import Task
from seqtag.training.results import digest_input

LIMIT = 4096
QUICK = 90
QUICK_GIANTS = (4_500,)
MANY = 10_000
LABELS = "ABCDE"

BATCHES = (
    {"max_rows": 1, "max_tokens": LIMIT},
    {"max_rows": 7, "max_tokens": 33},
    {"max_rows": 64, "max_tokens": LIMIT},
    {"max_rows": 64, "max_tokens": 700},
)
"""A window encoder of radius 1 needs windows of 8 elements and more; ordinary rows have 31."""
LARGE_BATCHES = ({"max_rows": 7, "max_tokens": 500}, *BATCHES[2:])


@dataclass
class Oracle:
    """A run, and its answer to each body, read alone and in one piece."""

    folder: Path
    task: Task
    kind: str
    _predictor: Any
    _known: dict[Any, Any]

    def answer(self, body: list[Any], limit: int | None) -> Any:
        """What the row with this body is to get; None or an empty list for an empty row."""
        if not body:
            return [] if self.task.per_element else None
        read = body if limit is None or self.task.per_element else body[:limit]
        key = (id(body), len(read))
        if key not in self._known:
            (output,) = self._predictor.predict([read])
            self._known[key] = (output.value, body)  # the body, so that no other gets its id
        return self._known[key][0]

    def answers(self, mixed: Mixed, limit: int | None) -> list[Any]:
        bodies = [mixed.pool[number] if number >= 0 else [] for number in mixed.bodies]
        return [comparable(self.answer(body, limit)) for body in bodies]


def comparable(value: Any) -> Any:
    """An answer as text and numbers, however a file spells it."""
    if isinstance(value, list):
        return [comparable(entry) for entry in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


Oracles = Callable[[str, str], Oracle]
"""Told a task and the kind of its elements."""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracles:
    made: dict[tuple[str, str], Oracle] = {}

    def get(task: str, kind: str) -> Oracle:
        if (task, kind) not in made:
            made[task, kind] = build(task, kind, tmp_path_factory.mktemp(f"{task}-{kind}"))
        return made[task, kind]

    return get


def build(task: str, kind: str, folder: Path, *overrides: str) -> Oracle:
    """An untrained model whose answers depend on every element, as a run."""
    drawn = random.Random(task)
    with (folder / "train.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(60):
            row = training_row(kind, number, drawn)
            label = [LABELS[(number + n) % 5] for n in range(len(row))]
            target: Any = {
                "tagging": label,
                "token_regression": [number + n for n in range(len(row))],
                "classification": label[0],
                "multi_label": sorted(set(label[:2])),
                "regression": number,
                "seq2seq": " ".join(label[:3]),
            }[task]
            stream.write(json.dumps({"text": row, "label": target}) + "\n")
    tokenizer = "characters" if kind == "characters" else "whitespace"
    target_tokenizer = tokenizer if task == "tagging" else "whitespace"
    config = compose(
        "train",
        (
            f"task={task}",
            "data=jsonl",
            f"data/input_tokenizer={tokenizer}",
            f"data/target_tokenizer={target_tokenizer}",
            *(SMALL if kind == "vectors" else (*SMALL, "embedding/spelling=none")),
            *SMALL_PARTS.get(task, ()),
            *(("search.max_length=5",) if task == "seq2seq" else ()),
            *overrides,
        ),
    )
    config["cache"] = str(folder / "cache")
    for split in ("train", "dev"):
        config["data"][split] = str(folder / "train.jsonl")
    data = DataModule(config)
    data.read_all(test=False)
    torch.manual_seed(5)
    model = Model.from_config(config, data.inputs.fields, data.target)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # A large bias would say the same of every row, a small one end every new sequence.
            scale = 1 if task == "seq2seq" else 0.1 if "bias" in name else 2
            parameter.copy_(scale * torch.randn_like(parameter))
    content = {
        "epoch": 1,
        "global_step": 1,
        "state_dict": {f"model.{key}": value for key, value in model.state_dict().items()},
        "seqtag": own_part(config, data.inputs, data.target),
    }
    torch.save(content, folder / BEST)
    predictor = seqtag.load(folder, device="cpu", max_tokens=100_000)
    return Oracle(folder, data.task, kind, predictor, {})


def training_row(kind: str, number: int, drawn: random.Random) -> list[Any]:
    if kind == "characters":
        return ["abcdefgh"[(number + n) % 8] for n in range(8)]
    if kind == "vectors":
        return [[drawn.gauss(0, 2), drawn.gauss(5, 1)] for _ in range(5)]
    # Half of the odd tokens are known to the model.
    known = VOCABULARY + ODD[::2]
    return [known[(3 * number + n) % len(known)] for n in range(5)]


def node_of(shape: Format, task: Task, folder: Path) -> dict[str, Any]:
    """The settings with which a file of predictions is read as data."""
    kind = "characters" if shape.reads == "characters" else "whitespace"
    named = NAMED if shape.option in ("tsv", "csv", "jsonl", "table") else ()
    target_kind = kind if shape.option == "label_strings" else "whitespace"
    overrides = (
        f"data={shape.option}",
        f"data/input_tokenizer={kind}",
        f"data/target_tokenizer={target_kind}",
        *named,
        *shape.settings,
    )
    data = composed(*overrides) | ({"mask": None} if shape.option == "label_strings" else {})
    # An array of numbers has no other cell for an empty row's answer.
    return data | ({"missing": "nan"} if shape.option == "npz" and task.numeric else {})


@lru_cache
def composed(*overrides: str) -> dict[str, Any]:
    data: dict[str, Any] = compose("train", overrides)["data"]
    return data


def read_back(shape: Format, task: Task, path: Path) -> Iterator[tuple[list[Any], Any]]:
    """Elements and target of each row of a file of predictions."""
    reader = build_reader(
        node_of(shape, task, path.parent),
        per_element=task.per_element,
        sequence=task.sequence,
        several=task.several,
        read_target=True,
    )
    with open_stream(str(path)) as stream:
        for row in reader.read(stream, str(path)):
            elements = row["vectors"] if "vectors" in row else row["tokens"]
            yield elements, row["target"]


def read_bare(task: Task, path: Path) -> Iterator[tuple[None, Any]]:
    """The answers of a file that holds nothing else."""
    with open_stream(str(path)) as stream:
        text = stream.read().decode()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        per_row = line.split(" ") if line else []
        several = task.per_element or task.several
        yield None, per_row if several else line or None


def normal(value: Any, task: Task) -> Any:
    """An answer such that those which a format cannot tell apart are the same."""
    value = comparable(value)
    if task.per_element:
        return value or []
    if task.several:
        return sorted(value or [])
    if task.sequence:
        return (" ".join(value) if isinstance(value, list) else value) or ""
    return value


def close(one: Any, two: Any) -> bool:
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(close, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= 1e-5 * max(1, abs(one))
    return bool(one == two)


def predict(*words: str) -> None:
    assert run_command("predict", list(words)) == 0


def compare(shape: Format, oracle: Oracle, path: Path, mixed: Mixed, expected: list[Any]) -> None:
    """A file of predictions holds the inputs as they were, each with its answer."""
    task = oracle.task
    found = list(read_bare(task, path) if shape.bare else read_back(shape, task, path))
    assert len(found) == len(mixed.rows)
    for number, ((elements, value), row, answer) in enumerate(
        zip(found, mixed.rows, expected, strict=True)
    ):
        assert elements is None or elements == row, number
        assert close(normal(answer, task), normal(value, task)), (number, row[:40], answer, value)


def run_case(
    name: str,
    task: str,
    oracle: Oracle,
    folder: Path,
    *,
    count: int,
    batches: dict[str, int],
    gold: bool,
    giants: tuple[int, ...] | None,
    packed: bool = False,
) -> None:
    shape = FORMATS[name]
    mixed = shape.mix(count) if giants is None else shape.mix(count, giants=giants)
    if shape.option == "labelled" and task not in ELEMENTS:
        gold = True
    source = folder / (f"in.{shape.ending}" + ".gz" * packed)
    target = folder / (f"out.{shape.ending}" + ".gz" * packed)
    content = shape.write(mixed.rows, gold)
    source.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
    if not shape.empty:
        mixed = mixed.filled()
    settings = [f"batching.{key}={value}" for key, value in batches.items()]
    limit = batches["max_tokens"]
    long = [row for row in mixed.rows if len(row) > limit]
    if not oracle.task.per_element:
        settings.append("data.too_long=truncate")
    named = NAMED if shape.option in ("tsv", "csv", "jsonl", "table") else ()
    log = Heard()
    words = [f"data={shape.option}", *named, *shape.settings, *settings]
    with log:
        predict(str(oracle.folder), f"input={source}", f"output={target}", *words)
    compare(shape, oracle, target, mixed, oracle.answers(mixed, limit))
    how = "read in windows" if oracle.task.per_element else "read up to it alone"
    counted = [line for line in log.lines if "over the limit" in line]
    assert counted == (
        [
            f"{len(long):,} sequences over the limit of data.max_length (else batching.max_tokens) "
            f"were {how}"
        ]
        if long
        else []
    )


class Heard(logging.Handler):
    """What is logged while the context lasts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> None:
        # The command sets handlers of its own on the package's logger, and of none below it.
        logging.getLogger("seqtag.commands.predict").addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger("seqtag.commands.predict").removeHandler(self)


CASES = [(name, task) for name, shape in FORMATS.items() for task in shape.tasks]
ONE_TASK_EACH = [
    (name, shape.tasks[number % len(shape.tasks)])
    for number, (name, shape) in enumerate(FORMATS.items())
]


def quick(name: str, task: str, oracle: Oracles, folder: Path) -> None:
    number = CASES.index((name, task))
    run_case(
        name,
        task,
        oracle(task, FORMATS[name].reads),
        folder,
        count=QUICK,
        batches=BATCHES[number % len(BATCHES)],
        gold=number % 3 == 0,
        giants=QUICK_GIANTS,
        packed=number % 5 == 0,
    )


@pytest.mark.parametrize(("name", "task"), ONE_TASK_EACH)
def test_each_row_has_its_answer_in_every_format(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    quick(name, task, oracle, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), [case for case in CASES if case not in ONE_TASK_EACH])
def test_each_row_has_its_answer_for_every_task(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    quick(name, task, oracle, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), ONE_TASK_EACH)
def test_ten_thousand_rows_have_their_answers_in_every_format(
    name: str, task: str, oracle: Oracles, tmp_path: Path
) -> None:
    number = ONE_TASK_EACH.index((name, task))
    run_case(
        name,
        task,
        oracle(task, FORMATS[name].reads),
        tmp_path,
        count=MANY,
        # One row at a time takes its time, and more so where each makes a sequence.
        batches=BATCHES[0]
        if name == "lines"
        else LARGE_BATCHES[1 if task == "seq2seq" else number % 3],
        gold=False,
        giants=None,
    )


@pytest.mark.parametrize("batches", BATCHES)
@pytest.mark.parametrize(
    ("task", "kind"),
    [*((task, "words") for task in (*ELEMENTS, *SEQUENCES)), ("classification", "vectors")],
)
def test_no_batch_size_changes_an_answer(
    task: str, kind: str, batches: dict[str, int], oracle: Oracles
) -> None:
    made = oracle(task, kind)
    mix = mix_vectors if kind == "vectors" else mix_words
    # Whole sequences that are too long are refused, see below.
    mixed = mix(QUICK, giants=QUICK_GIANTS if task in ELEMENTS else ())
    predictor = seqtag.load(made.folder, device="cpu", **batches)
    outputs = list(predictor.predict(mixed.rows, look_ahead=50))
    assert len(outputs) == len(mixed.rows)
    expected = made.answers(mixed, None)
    assert all(
        close(comparable(output.value), answer)
        for output, answer in zip(outputs, expected, strict=True)
    )
    # The answers must be able to tell that they were exchanged.
    assert len({json.dumps(answer) for answer in expected}) > 3


def test_empty_rows_do_not_share_an_answer(oracle: Oracles) -> None:
    predictor = seqtag.load(oracle("tagging", "words").folder, device="cpu")
    first, second = predictor.predict([[], []])
    first.value.append("A")
    assert second.value == []


class TestRefusal:
    """What is neither read whole nor in windows is an error that names the row."""

    @pytest.mark.parametrize(
        ("task", "settings"),
        [
            ("tagging", ("data.too_long=error",)),
            (SEQUENCES[0], ()),
            *(pytest.param(task, (), marks=pytest.mark.slow) for task in SEQUENCES[1:]),
        ],
    )
    def test_a_giant_row_is_refused_by_name_and_nothing_is_written(
        self,
        task: str,
        settings: tuple[str, ...],
        oracle: Oracles,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        mixed = mix_words(QUICK, giants=QUICK_GIANTS)
        (giant,) = (n for n, row in enumerate(mixed.rows) if len(row) > LIMIT)
        source, target = tmp_path / "in.txt", tmp_path / "out.txt"
        source.write_bytes(FORMATS["lines"].write(mixed.rows, False))
        words = [str(oracle(task, "words").folder), f"input={source}", f"output={target}"]
        assert run_command("predict", [*words, f"batching.max_tokens={LIMIT}", *settings]) == 1
        size = QUICK_GIANTS[0] + 1
        message = f"error: {source}:{giant + 1}: a sequence of {size} elements is over the limit"
        assert message in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == [source]


class TestStreams:
    """The same from stdin to stdout, and of files whose format their ending tells."""

    def test_stdin_is_answered_line_by_line(
        self,
        oracle: Oracles,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfdbinary: pytest.CaptureFixture[bytes],
    ) -> None:
        made = oracle("tagging", "words")
        mixed = mix_words(QUICK, giants=QUICK_GIANTS)
        content = FORMATS["lines"].write(mixed.rows, False)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        predict(str(made.folder))
        sys.stdout.flush()
        written = tmp_path / "out.txt"
        written.write_bytes(capfdbinary.readouterr().out)
        compare(FORMATS["lines"], made, written, mixed, made.answers(mixed, None))

    @pytest.mark.parametrize(
        "name",
        [
            *("csv", "parquet"),
            *(pytest.param(name, marks=pytest.mark.slow) for name in ("tsv", "jsonl", "arrow")),
        ],
    )
    def test_an_ending_tells_the_format(self, name: str, oracle: Oracles, tmp_path: Path) -> None:
        made, shape = oracle("classification", "words"), FORMATS[name]
        mixed = shape.mix(QUICK, giants=())
        source, target = tmp_path / f"in.{shape.ending}", tmp_path / "out"
        source.write_bytes(shape.write(mixed.rows, False))
        predict(str(made.folder), f"input={source}", f"output={target}")
        compare(shape, made, target, mixed, made.answers(mixed, None))


def gold_of(answer: Any, number: int, task: Task) -> Any:
    """A gold target that is now right, now wrong, now missing."""
    if task.per_element:
        gold = [entry if (number + n) % 3 else "A" for n, entry in enumerate(answer)]
        return [None if (number + n) % 11 == 0 else entry for n, entry in enumerate(gold)]
    if number % 13 == 0:
        return None
    return answer if number % 3 else "A"


def gold_file(shape: str, mixed: Mixed, golds: list[Any], folder: Path) -> tuple[str, ...]:
    """Writes rows with gold targets; the words of the command line that name them."""
    rows = list(zip(mixed.rows, golds, strict=True))
    if shape == "conllu":
        blocks = (
            "".join(
                f"{n}\t{token}\t_\t{label or '_'}\t_\t_\t_\t_\t_\t_\n"
                for n, (token, label) in enumerate(zip(row, gold, strict=True), 1)
            )
            for row, gold in rows
        )
        (folder / "test.conllu").write_bytes("\n".join(blocks).encode() + b"\n")
        return ("data=conllu", f"data.test={folder / 'test.conllu'}")
    objects = [{"text": row, "label": gold} for row, gold in rows]
    if shape == "hub":
        datasets.DatasetDict({"test": datasets.Dataset.from_list(objects)}).save_to_disk(
            str(folder / "saved")
        )
        return ("data=hub", f"data.reader.name={folder / 'saved'}", "data.test=test")
    with (folder / "test.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(made) + "\n" for made in objects)
    return (f"data.test={folder / 'test.jsonl'}",)


def score_case(
    shape: str,
    task: str,
    made: Oracle,
    folder: Path,
    *,
    count: int,
    giants: tuple[int, ...],
    batches: tuple[dict[str, int], ...],
    max_length: int | None,
) -> None:
    mixed = mix_words(count, giants=giants)
    if shape == "conllu":
        mixed = mixed.filled()
    kept = mixed.filled()
    limit = max_length or LIMIT
    answers = made.answers(mixed, limit)
    golds = [gold_of(answer, number, made.task) for number, answer in enumerate(answers)]
    named = gold_file(shape, mixed, golds, folder)
    settings = [f"cache={folder / 'cache'}", "worst=0", "device=cpu", "split=test", *named]
    settings += [f"data.max_length={max_length}"] if max_length else []
    settings += [] if made.task.per_element else ["data.too_long=truncate"]
    filled = [number for number, row in enumerate(mixed.rows) if row]
    results = []
    for number, batch in enumerate(batches):
        output = folder / f"scores{number}"
        sizes = [f"batching.{key}={value}" for key, value in batch.items()]
        words = [str(made.folder), f"output={output}", *settings, *sizes]
        assert run_command("evaluate", words) == 0
        (output,) = output.iterdir()
        results.append(json.loads((output / "metrics.json").read_text()))

        counts = json.loads((output / "environment.json").read_text())["data"]["test"]
        assert counts["rows"] == len(kept.rows)
        assert counts["empty"] == len(mixed.rows) - len(kept.rows)
        hits = total = 0
        with (output / "predictions.jsonl").open(encoding="utf-8") as stream:
            lines = [json.loads(line) for line in stream]
        assert len(lines) == len(filled)
        for place, line in zip(filled, lines, strict=True):
            assert line["tokens"] == mixed.rows[place]
            assert line["gold"] == golds[place]
            assert comparable(line["predicted"]) == answers[place]
            if shape != "conllu":
                assert line["line"] == place + 1
            pairs = (
                zip(line["gold"], line["predicted"], strict=True)
                if made.task.per_element
                else [(line["gold"], line["predicted"])]
            )
            for gold, predicted in pairs:
                hits += gold == predicted
                total += gold is not None
        assert results[-1]["test/accuracy"] == hits / total
        table = pyarrow.parquet.read_table(output / "test_rows.parquet")
        assert table["row"].to_pylist() == list(range(len(filled)))
        assert table["source"].to_pylist() == [digest_input(line) for line in lines]
    # Scores of labels are the same; those of probabilities but for the rounding of their batch.
    first, *others = ({k: v for k, v in one.items() if v is not None} for one in results)
    assert all(other == pytest.approx(first, rel=1e-5) for other in others)
    assert all(other["test/accuracy"] == first["test/accuracy"] for other in others)


class TestScores:
    """Predictions and statistics of each row stand in the order of the file, and score the same."""

    @pytest.mark.parametrize("shape", ["jsonl", "conllu", "hub"])
    def test_of_elements_in_windows(self, shape: str, oracle: Oracles, tmp_path: Path) -> None:
        made = oracle("tagging", "words")
        score_case(
            shape,
            "tagging",
            made,
            tmp_path,
            count=QUICK,
            giants=QUICK_GIANTS,
            batches=BATCHES[:2] if shape == "jsonl" else BATCHES[1:2],
            max_length=12,
        )

    @pytest.mark.parametrize("shape", ["jsonl", pytest.param("hub", marks=pytest.mark.slow)])
    def test_of_sequences_by_their_beginning(
        self, shape: str, oracle: Oracles, tmp_path: Path
    ) -> None:
        made = oracle("classification", "words")
        score_case(
            shape,
            "classification",
            made,
            tmp_path,
            count=QUICK,
            giants=QUICK_GIANTS,
            batches=BATCHES[:2] if shape == "jsonl" else BATCHES[1:2],
            max_length=12,
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("shape", "task"), [("jsonl", "tagging"), ("conllu", "tagging"), ("hub", "classification")]
    )
    def test_of_ten_thousand_rows(
        self, shape: str, task: str, oracle: Oracles, tmp_path: Path
    ) -> None:
        score_case(
            shape,
            task,
            oracle(task, "words"),
            tmp_path,
            count=MANY,
            giants=(5_003, 20_000),
            batches=LARGE_BATCHES[: 2 if shape == "jsonl" else 1],
            max_length=None if task == "tagging" else 20,
        )


RADIUS = 3


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that looks at some neighbours on either side."""
    folder = tmp_path_factory.mktemp("wide")
    return build("tagging", "words", folder, f"encoder.radius={RADIUS}").folder


class TestReach:
    """Windows that overlap by twice what an element sees on a side change nothing."""

    ROWS = mix_words(60, giants=(997,)).rows

    @staticmethod
    def read(folder: Path, limit: int) -> list[Any]:
        predictor = seqtag.load(folder, device="cpu", max_tokens=limit)
        return [output.value for output in predictor.predict(TestReach.ROWS)]

    @pytest.mark.parametrize("limit", [8 * RADIUS, 25, 26, 27, 29, 31, 64, 996, 998])
    def test_what_is_read_in_windows_is_as_in_one_piece(self, wide: Path, limit: int) -> None:
        assert self.read(wide, limit) == self.read(wide, 1000)

    def test_narrower_windows_see_less_and_answer_all_the_same(self, wide: Path) -> None:
        whole, narrow = self.read(wide, 1000), self.read(wide, 8)
        assert [len(answer) for answer in narrow] == [len(row) for row in self.ROWS]
        assert narrow != whole
