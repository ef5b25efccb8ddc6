"""The options of the group ``data`` for text files, as they are shipped, on a small file each."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from seqtag.configuration import compose_node
from seqtag.data.readers.reader import Reader
from seqtag.data.source import build_reader


def shipped(name: str, *, kind: str, **changes: Any) -> Reader:
    """The reader of an option for tasks with a target per element, sequence or label."""
    return build_reader(
        {**compose_node("data", name), **changes},
        per_element=kind == "element",
        sequence=kind == "sequence",
        several=False,
        read_target=True,
    )


@pytest.mark.parametrize(
    ("name", "kind", "data", "elements", "target"),
    [
        ("conllu", "element", b"1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n", ["a"], ["X"]),
        ("conll", "element", b"a x X\n", ["a"], ["X"]),
        ("tsv", "label", b"text\tlabel\na b\tx\n", ["a", "b"], "x"),
        ("csv", "label", b'text,label\n"a, b",x\n', ["a,", "b"], "x"),
        ("labelled", "label", b"3 a b\n", ["a", "b"], "3"),
        ("cmudict", "sequence", b"go G OW1 # x\n", ["g", "o"], "G OW1"),
        ("label_strings", "element", b"id\tMKV\tHEC\t101\n", ["M", "K", "V"], ["H", None, "C"]),
    ],
)
def test_a_format_reads_its_files_as_shipped(
    name: str, kind: str, data: bytes, elements: list[str], target: Any
) -> None:
    [row] = shipped(name, kind=kind).read(BytesIO(data), "f")
    assert (row["tokens"], row["target"]) == (elements, target)


def test_parallel_files_are_read_as_shipped(tmp_path: Path) -> None:
    (tmp_path / "train.de").write_text("ein Hund\n")
    (tmp_path / "train.en").write_text("a dog\n")
    reader = shipped("parallel", kind="sequence", input="de", target="en")
    [row] = reader.read_all(str(tmp_path / "train"))
    assert (row["tokens"], row["target"]) == (["ein", "Hund"], "a dog")


def test_a_tokenizer_of_the_user_s_own_stands_over_the_shipped_one() -> None:
    words = compose_node("data/input_tokenizer", "whitespace")
    reader = shipped("cmudict", kind="sequence", input_tokenizer=words)
    [row] = reader.read(BytesIO(b"go G OW1\n"), "f")
    assert row["tokens"] == ["go"]
