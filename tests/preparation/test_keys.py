"""What was prepared under one setting is never taken for what another one asks for."""

from pathlib import Path
from typing import Any

import pytest

from seqtag.datamodule import DataModule

WORDS = ["a", "b", "c", "É", "E\u0301", "d"]
TEXT = "".join(
    f"{word}\t{number}\t{'NV'[number % 2]}\t{'xyz'[number % 3]}\n{other}\t{number + 1}\tN\tx\n\n"
    for number, (word, other) in enumerate(zip(WORDS * 3, WORDS[1:] * 4, strict=False))
)
BASE = ("data=conll", "data.target=3", "data.dev_fraction=0.2", "embedding/spelling=affixes")
CHANGES = [
    "data.target=2",
    "data.input=2",
    "data.missing=x",
    "data.skip_lines=3",
    "data.dev_seed=2",
    "data.dev_fraction=0.4",
    "data.train_rows=7",
    "data.folds=3 data.fold=1",
    "data.folds=3 data.fold=2",
    "data.folds=4 data.fold=2",
    "data.folds=3 data.fold=1 data.dev_seed=2",
    "data.train_rows=7 data.dev_seed=2",
    "data.features=[2]",
    "data.numeric_features=[1]",
    "data.normalization=NFC",
    "data.min_frequency=3",
    "data.encoding=latin-1",
    "data.vocabulary=vocabulary.txt",
    "data.word_vectors=vectors.txt",
    "data.word_vectors=vectors.txt data.word_vectors_limit=1",
    "embedding/spelling=none",
    "data.reader.separator=tab",
]
FURTHER_FILES = {"vocabulary.txt": "a\nb\n", "vectors.txt": "a 1 2\nb 3 4\n"}


def content(config: dict[str, Any]) -> Any:
    """Everything that a training is given."""
    data = DataModule(config)
    data.read_all(test=False)
    splits = {
        name: (
            [(row["tokens"], row["target"], row.get("features")) for row in split.rows],
            [{column: values.tolist() for column, values in row.items()} for row in split.encoded],
            split.spec.unseen,
            split.counts,
        )
        for name, split in data.splits.items()
    }
    return data.inputs.state(), data.target, splits


def make(small_config: Any, folder: Path, change: str, cache: Path, text: str = TEXT) -> Any:
    words = [
        word.replace("=vocabulary.txt", f"={folder / 'vocabulary.txt'}").replace(
            "=vectors.txt", f"={folder / 'vectors.txt'}"
        )
        for word in change.split()
    ]
    config = small_config("tagging", *BASE, *words, files={"train": text})
    return {**config, "cache": str(cache)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FURTHER_FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_every_setting_counts(small_config: Any, folder: Path) -> None:
    warm = folder / "warm"
    base = content(make(small_config, folder, "", warm))
    for number, change in enumerate(CHANGES):
        on_warm = content(make(small_config, folder, change, warm))
        on_cold = content(make(small_config, folder, change, folder / f"cold-{number}"))
        assert on_warm == on_cold, change
        if "separator" not in change:  # which reads this file alike
            assert on_warm != base, change
    assert content(make(small_config, folder, "", warm)) == base


@pytest.mark.parametrize("name", ["train", *FURTHER_FILES])
def test_so_does_every_file(small_config: Any, folder: Path, name: str) -> None:
    change = {"train": "", "vocabulary.txt": CHANGES[17], "vectors.txt": CHANGES[18]}[name]
    text = TEXT
    before = content(make(small_config, folder, change, folder / "warm"))
    if name == "train":
        text = TEXT.replace("c\t", "q\t")
    else:
        file = folder / name
        file.write_text(FURTHER_FILES[name].replace("b", "d"), encoding="utf-8")
    after = content(make(small_config, folder, change, folder / "warm", text))
    assert after != before
    assert after == content(make(small_config, folder, change, folder / "cold", text))


def test_empty_rows_are_counted_where_they_stand(small_config: Any, folder: Path) -> None:
    text = "text\tlabel\n" + "a b\tx\n\nb\ty\n" * 6
    config = small_config("classification", "data.dev_fraction=0.3", files={"train": text})
    data = DataModule(config)
    data.read_all(test=False)
    assert [split.counts["empty"] for split in data.splits.values()] == [6, 0]


def test_equal_rows_are_told_by_their_features_too(small_config: Any) -> None:
    text = "a\tN\tX\n\na\tV\tX\n\na\tV\tY\n"
    files = {"train": text, "dev": text}
    for words, inputs, rows in (([], 1, 2), (["data.features=[1]"], 2, 3)):
        data = DataModule(small_config("tagging", *words, files=files))
        data.read_all(test=False)
        table = data.splits["train"].rows
        assert len(set(table["input_hash"])) == inputs
        assert len(set(table["row_hash"])) == rows
