"""The files of a split with predictions beside gold."""

from __future__ import annotations

import gzip
import logging
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from seqtag.batch import Output
from seqtag.configuration import compose_node
from seqtag.data.readers.reader import Reader
from seqtag.data.source import build_reader
from seqtag.report.predicted_files import write_predicted_files


@lru_cache
def reader_of(name: str, *, sequence: bool = False) -> Reader:
    data = compose_node("data", name)
    if name == "tsv":
        data |= {"input": 0, "target": 1}
        data["reader"]["header"] = False
    return build_reader(data, per_element=False, sequence=sequence, several=False, read_target=True)


@pytest.fixture(autouse=True)
def told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def written(reader: Reader, given: str | None, values: list[Any], folder: Path) -> list[str]:
    outputs = [Output(value) for value in values]
    write_predicted_files(reader, given, outputs, Output(None), folder)
    root = folder / "predicted"
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_rows_without_elements_have_their_line_too(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tX\n\n\tX\nb\tY\n")
    assert written(reader_of("tsv"), str(tmp_path / "t.tsv"), ["P", "Q"], tmp_path / "out") == [
        "t.tsv"
    ]
    assert (tmp_path / "out/predicted/t.tsv").read_text() == "a\tX\tP\n\n\tX\t\nb\tY\tQ\n"


def test_several_files_keep_their_names_and_folders(tmp_path: Path) -> None:
    for folder, text in (("one", "a\tX\n"), ("two", "b\tY\nc\tZ\n")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / "t.tsv").write_text(text)
    found = written(
        reader_of("tsv"), str(tmp_path / "in/*/t.tsv"), ["P", "Q", "R"], tmp_path / "out"
    )
    assert found == ["one/t.tsv", "two/t.tsv"]
    assert (tmp_path / "out/predicted/two/t.tsv").read_text() == "b\tY\tQ\nc\tZ\tR\n"


def test_compressed_files_are_compressed_again(tmp_path: Path) -> None:
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\tX\n"))
    assert written(reader_of("tsv"), str(tmp_path / "t.tsv.gz"), ["P"], tmp_path / "out") == [
        "t.tsv.gz"
    ]
    assert gzip.decompress((tmp_path / "out/predicted/t.tsv.gz").read_bytes()) == b"a\tX\tP\n"


def test_a_format_without_room_has_predictions_in_place_of_gold(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "t.txt").write_text("X a b\nY c\n")
    written(reader_of("labelled"), str(tmp_path / "t.txt"), ["P", "Y"], tmp_path / "out")
    assert (tmp_path / "out/predicted/t.txt").read_text() == "P a b\nY c\n"
    assert "in the target's place (gold is in the input)" in caplog.text


def test_of_parallel_files_it_is_the_targets(tmp_path: Path) -> None:
    (tmp_path / "t.de").write_text("a\n\nb\n")
    (tmp_path / "t.en").write_text("X\n\nY\n")
    reader = replace(reader_of("parallel", sequence=True), input="de", target="en")
    assert written(reader, str(tmp_path / "t"), ["P Q", "Y"], tmp_path / "out") == ["t.en"]
    assert (tmp_path / "out/predicted/t.en").read_text() == "P Q\n\nY\n"


def test_a_split_that_is_cut_from_training_has_no_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert written(reader_of("tsv"), None, ["P"], tmp_path / "out") == []
    assert "in predictions.jsonl alone, for this split is cut from" in caplog.text


def test_what_cannot_be_written_is_told_and_leaves_no_half_of_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "t.tsv").write_text("a\tX\nb\tY\n")
    assert written(reader_of("tsv"), str(tmp_path / "t.tsv"), ["P", "a\tb"], tmp_path / "out") == []
    assert "predictions beside gold are not written" in caplog.text
    assert "as jsonl" in caplog.text


@pytest.mark.parametrize(
    ("values", "said"), [(["P"], "more rows"), (["P", "Q", "R"], "fewer rows")]
)
def test_a_file_that_has_changed_since_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, values: list[str], said: str
) -> None:
    (tmp_path / "t.tsv").write_text("a\tX\nb\tY\n")
    written(reader_of("tsv"), str(tmp_path / "t.tsv"), values, tmp_path / "out")
    assert said in caplog.text
