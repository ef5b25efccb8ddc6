"""The reader and the tokenizers that a run's ``data`` node describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqtag.configuration import build, compose_node
from seqtag.data.readers.raw import LinesReader
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Tokenizer


def build_input_tokenizer(data: Mapping[str, Any]) -> Tokenizer:
    """What splits an input that comes as one string."""
    tokenizer = build(data["input_tokenizer"], kinds=(Tokenizer,), name="data.input_tokenizer")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def build_target_tokenizer(data: Mapping[str, Any]) -> Tokenizer:
    """What splits a target that comes as one string, and joins one."""
    tokenizer = build(data["target_tokenizer"], kinds=(Tokenizer,), name="data.target_tokenizer")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def build_further_tokenizer(data: Mapping[str, Any]) -> Tokenizer:
    """What splits the further columns of an input."""
    tokenizer = build(data["further_tokenizer"], kinds=(Tokenizer,), name="data.further_tokenizer")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def build_reader(
    data: Mapping[str, Any],
    *,
    per_element: bool,
    sequence: bool,
    several: bool,
    read_target: bool,
) -> Reader:
    """What reads and writes the files.

    Args:
        data: the node.
        per_element: whether every element has a target, so that a target that comes as one string
            is split.
        sequence: whether a target is a sequence with a length of its own.
        several: whether a target is a set of labels of the sequence.
        read_target: False for prediction, where files without the target are fine.
    """
    reader = build(
        data["reader"],
        kinds=(Reader,),
        name="data.reader",
        input=data["input"],
        target=data["target"],
        read_target=read_target,
        input_tokenizer=build_input_tokenizer(data),
        target_tokenizer=build_target_tokenizer(data) if per_element else None,
        sequence_tokenizer=build_target_tokenizer(data) if sequence else None,
        label_tokenizer=build_target_tokenizer(data) if several else None,
        references=data["references"],
        features=data["features"],
        numeric_features=data["numeric_features"],
        further_input=data["further_input"],
        further_tokenizer=build_further_tokenizer(data),
        mask=data["mask"],
        missing=data["missing"],
        skip_lines=data["skip_lines"],
        encoding=data["encoding"],
        max_line_bytes=data["max_line_bytes"],
    )
    assert isinstance(reader, Reader)
    return reader


def reads_files(data: Mapping[str, Any]) -> bool:
    """Whether the keys of splits name files, rather than parts of a published data set."""
    reader = build({**data["reader"], "_partial_": True}, kinds=(Reader,), name="data.reader")
    return bool(reader.func.reads_files)


MODEL_KEYS = (
    "input_tokenizer",
    "target_tokenizer",
    "further_tokenizer",
    "scheme",
    "too_long",
    "max_length",
    "normalization",
    "vocabulary",
    "word_vectors",
    "word_vectors_limit",
    "min_frequency",
)
"""Keys of ``data`` that belong to the model, whatever the format."""

COLUMNS = (
    "input",
    "target",
    "references",
    "features",
    "numeric_features",
    "further_input",
    "mask",
)
USER_COLUMNS = frozenset({"tsv", "csv", "jsonl", "table", "hub"})
"""Formats whose columns have names of the user's own, which mean the same in each."""


def change_format(data: Mapping[str, Any], name: str, *, keep_columns: bool) -> dict[str, Any]:
    """The node for files of another format, read for the same model.

    Args:
        data: the node of the run.
        name: option of the group ``data``; the run's own format changes nothing.
        keep_columns: keep the run's columns rather than take the format's own.

    Raises:
        ValueError: there is no such format.
    """
    if data["format"] == name:
        return dict(data)
    kept = {key: data[key] for key in ((*MODEL_KEYS, *COLUMNS) if keep_columns else MODEL_KEYS)}
    if isinstance(kept.get("target"), int):
        kept["target"] = None  # the number of a column in files of the other format
    made = {**compose_node("data", name), **kept}
    if keep_columns and "header" in data["reader"] and "header" in made["reader"]:
        made["reader"]["header"] = data["reader"]["header"]  # columns may have no names
    return made


def as_raw_lines(data: Mapping[str, Any]) -> dict[str, Any]:
    """The node for lines that hold an input and nothing else."""
    reader = {"_target_": f"{LinesReader.__module__}.{LinesReader.__qualname__}"}
    return {**data, "format": "lines", "reader": reader, "target": None, "skip_lines": 0}
