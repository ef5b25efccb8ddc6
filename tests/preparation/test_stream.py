from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch.utils.data import DataLoader

from seqtag.batch import Batch
from seqtag.datamodule import DataModule
from seqtag.training.fit import make_loop

COUNT = 40
TEXT = "".join(f"w{n}\tL{n % 3}\n" * (1 + n % 4) + "\n" for n in range(COUNT))
STREAMING = ("data.streaming=true", "data.stream_buffer=7", "batching.max_tokens=12")


@pytest.fixture
def data(small_config: Any) -> DataModule:
    return read(small_config("tagging", *STREAMING, files={"train": TEXT, "dev": TEXT}))


def read(config: dict[str, Any]) -> DataModule:
    data = DataModule(config)
    data.read_all(test=False)
    return data


def words(loader: DataLoader[Batch]) -> list[str]:
    """A word for each row that a pass over the loader gives."""
    names = {number: name for name, number in symbols(loader).items()}
    return [names[int(row[0])] for batch in loader for row in batch.inputs["word"]]


def symbols(loader: DataLoader[Batch]) -> dict[str, int]:
    vocabulary = loader.dataset._inputs.fields["word"]  # type: ignore[attr-defined]
    return {name: number for number, name in enumerate(vocabulary.symbols, 2)}


def test_every_row_comes_once_in_an_epoch_in_another_order(data: DataModule) -> None:
    loader = data.train_dataloader()
    first, second = words(loader), words(loader)
    assert sorted(first) == sorted(second) == sorted(f"w{n}" for n in range(COUNT))
    assert first != second
    assert words(data.train_dataloader()) == first


def test_batches_keep_the_budget_and_rows_wait_no_longer_than_the_buffer(data: DataModule) -> None:
    for number, batch in enumerate(data.train_dataloader()):
        rows, source = batch.layout.valid.shape
        assert rows * source <= 12
        if number == 0:
            assert max(batch.rows.tolist()) < 7


def test_several_processes_share_the_rows(small_config: Any) -> None:
    config = small_config(
        "tagging", *STREAMING, "batching.num_workers=2", files={"train": TEXT, "dev": TEXT}
    )
    loader = read(config).train_dataloader()
    first, second = words(loader), words(loader)
    assert Counter(first) == Counter(second) == Counter(f"w{n}" for n in range(COUNT))
    assert first != second


def test_vocabulary_and_labels_are_those_of_rows_on_disk(
    data: DataModule, small_config: Any
) -> None:
    stored = read(small_config("tagging", files={"train": TEXT, "dev": TEXT}))
    assert data.inputs.state() == stored.inputs.state()
    assert data.target == stored.target
    assert "train" not in data.splits
    source = data.sources()["train"]
    assert {name: source[name] for name in ("rows", "elements", "longest", "empty")} == {
        "rows": COUNT,
        "elements": 100,
        "longest": 4,
        "empty": 0,
    }
    assert source["sha256"] == stored.sources()["train"]["sha256"]


def test_targets_that_are_as_right_are_learnt_too(small_config: Any) -> None:
    text = "text\tvalue\tother\na b\tI II\tII\na\tI\t\n"
    config = small_config(
        "seq2seq",
        "data.streaming=true",
        "data.references=[other]",
        files={"train": text, "dev": text},
    )
    data = read(config)
    learnt = sorted(
        row[row > 0].tolist() for b in data.train_dataloader() for row in b.target.value
    )
    assert learnt == [[1], [1, 2], [2]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data.train_rows=3"], "data.streaming=true: rows that are never stored"),
        (["data.stream_buffer=0"], "data.stream_buffer=0: it must be"),
        (["data.too_long=error", "data.max_length=3"], "a sequence of 4 elements is over"),
    ],
)
def test_what_streaming_cannot_do_is_refused(
    small_config: Any, words: list[str], message: str
) -> None:
    config = small_config("tagging", *STREAMING, *words, files={"train": TEXT, "dev": TEXT})
    with pytest.raises(ValueError, match=message):
        read(config).train_dataloader()


def test_a_dev_split_must_be_named(small_config: Any) -> None:
    with pytest.raises(ValueError, match=r"name a dev file, data\.dev=FILE"):
        read(small_config("tagging", *STREAMING, files={"train": TEXT}))


def test_bad_lines_are_found_before_the_first_batch(small_config: Any) -> None:
    files = {"train": TEXT + "a\tb\tc\n\nx\ty\tz\n", "dev": TEXT}
    with pytest.raises(ValueError, match=r"train\.conll:\d+: .*\n.*train\.conll:\d+: "):
        read(small_config("tagging", *STREAMING, files=files))


def test_rows_that_get_lost_between_epochs_end_the_training(
    data: DataModule, tmp_path: Path
) -> None:
    loader = data.train_dataloader()
    words(loader)
    file = tmp_path / "train.conll"
    file.write_text(TEXT.replace("w3\tL0\n", ""), encoding="utf-8")
    with pytest.raises(ValueError, match=r"39 rows, and 40 before .*start again"):
        words(loader)
    file.write_text(TEXT.replace("w3\tL0", "w3 L0"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"train\.conll:\d+: .*start again"):
        words(loader)


def test_long_targets_are_refused_before_the_first_epoch(small_config: Any) -> None:
    text = "text\tvalue\na\t" + "I " * 30 + "\n"
    for setting in ("search.max_length=20", "batching.max_tokens=25"):
        config = small_config(
            "seq2seq",
            "data.streaming=true",
            setting,
            files={"train": text, "dev": "text\tvalue\na\tI\n"},
        )
        with pytest.raises(ValueError, match="a target of 30 symbols for an input of 1 is longer"):
            read(config)


def test_the_learning_rate_follows_the_elements(small_config: Any) -> None:
    config = small_config(
        "tagging", *STREAMING, "trainer.max_epochs=4", files={"train": TEXT, "dev": TEXT}
    )
    loop = make_loop(config, read(config))
    loop.trainer = SimpleNamespace(  # type: ignore[assignment]
        max_epochs=4,
        current_epoch=1,
        num_training_batches=float("inf"),
        callbacks=[],
        fit_loop=SimpleNamespace(
            epoch_loop=SimpleNamespace(
                batch_progress=SimpleNamespace(current=SimpleNamespace(ready=3))
            )
        ),
    )
    loop.meter.count(150)  # of 100 in an epoch
    assert loop.progress() == 1.5 / 4
