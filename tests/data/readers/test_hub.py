from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value
from huggingface_hub import constants

from data.readers.formats import COMMON
from seqtag.batch import Output
from seqtag.data.readers.tables.hub import HubReader

FEATURES = Features(
    {
        "text": List(Value("string")),
        "label": ClassLabel(names=["neg", "pos"]),
        "tags": List(ClassLabel(names=["O", "B"])),
    }
)


def made(*words: str) -> Dataset:
    content = {
        "text": [[word, "!"] for word in words],
        "label": [number % 2 for number in range(len(words))],
        "tags": [[1, 0] for _ in words],
    }
    return Dataset.from_dict(content, features=FEATURES)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    splits = DatasetDict({"train": made("a", "b", "c", "d", "e"), "test": made("f")})
    splits.save_to_disk(str(tmp_path / "saved"))
    return str(tmp_path / "saved")


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    # Nothing listens there, so that no test depends on the network.
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


def hub(name: str | None, **changes: Any) -> HubReader:
    settings = {"input": "text", "target": "label", "name": name, "config": None}
    return HubReader(**(COMMON | settings | changes))


def words(reader: HubReader, split: str) -> list[str]:
    return [row["tokens"][0] for row in reader.read_all(split)]


def test_rows_of_a_split_are_read_with_the_names_of_their_labels(folder: str) -> None:
    first, second, *_ = hub(folder).read_all("train")
    assert (first["tokens"], first["target"]) == (["a", "!"], "neg")
    assert second["target"] == "pos"
    assert (second["file"], second["line"]) == (f"{folder}:train", 2)
    assert [row["target"] for row in hub(folder, target="tags").read_all("test")] == [["B", "O"]]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", "abcde"),
        ("test", "f"),
        ("train[:2]", "ab"),
        ("train[-1:]", "e"),
        ("train[:80%]", "abcd"),
        ("train[80%:]", "e"),
        ("test+train[:1]", "fa"),
    ],
)
def test_a_split_may_be_a_part(folder: str, split: str, expected: str) -> None:
    assert "".join(words(hub(folder), split)) == expected


def test_splits_are_no_files(folder: str) -> None:
    reader = hub(folder)
    assert not reader.reads_files
    assert (reader.paths("train"), reader.parts("train")) == ([], ["train"])
    for call in (
        lambda: list(reader.read(BytesIO(b"a"), "f.txt")),
        lambda: reader.writer(BytesIO()),
        lambda: reader.write({}, Output("x")),
    ):
        with pytest.raises(ValueError, match="data=hub reads splits of a data set, not files"):
            call()


def test_a_folder_of_one_split_calls_it_train(tmp_path: Path) -> None:
    made("a", "b").save_to_disk(str(tmp_path / "one"))
    assert words(hub(str(tmp_path / "one")), "train") == ["a", "b"]


def test_a_folder_of_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/train.jsonl").write_text('{"text": "a b", "label": "x"}\n')
    (tmp_path / "files/test.jsonl").write_text('{"text": "c", "label": "y"}\n')
    (row,) = hub(str(tmp_path / "files")).read_all("train")
    assert (row["tokens"], row["target"]) == (["a", "b"], "x")
    assert words(hub(str(tmp_path / "files")), "test") == ["c"]


def test_the_digest_changes_with_the_content(folder: str, tmp_path: Path) -> None:
    digest = hub(folder).digest("train")
    assert digest == hub(folder).digest("train")
    assert len({digest, hub(folder).digest("test"), hub(folder).digest("train[:2]")}) == 3
    DatasetDict({"train": made("a", "x")}).save_to_disk(str(tmp_path / "other"))
    assert hub(str(tmp_path / "other")).digest("train") != digest


@pytest.mark.parametrize(
    ("split", "changes", "message"),
    [
        ("dev", {}, "split dev: Unknown split"),
        ("train[", {}, r"split train\[: Unrecognized instruction format"),
        ("train[:900%]", {}, r"split train\[:900%\]: "),
        ("train", {"config": "en"}, "a folder of save_to_disk has no configs"),
        ("train", {"input": "words"}, "saved:train: data.input=words: no such column, the table"),
    ],
)
def test_what_is_not_there_is_an_error(
    folder: str, split: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        list(hub(folder, **changes).read_all(split))
    assert "\n" not in str(error.value)


def test_a_damaged_copy_is_an_error(folder: str) -> None:
    for file in Path(folder, "train").glob("*.arrow"):
        file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"data.reader.name=.*saved, config=None, split train: "):
        hub(folder).digest("train")


def test_a_name_must_be_given() -> None:
    with pytest.raises(ValueError, match=r"data.reader.name is not given: name a data set"):
        hub(None)


@pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "./no/folder"])
def test_without_network_and_copy_there_is_one_line_within_seconds(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match=f"data.reader.name={name}") as error:
        hub(name).digest("train")
    assert time.monotonic() - start < 8  # the client of the Hub alone takes 24
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")
    assert not constants.HF_HUB_OFFLINE


def test_no_progress_is_printed(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    words(hub(folder), "train")
    assert capfd.readouterr().out == ""
    assert datasets.is_progress_bar_enabled()
