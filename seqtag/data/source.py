"""The reader and the tokenizers that a run's ``data`` node describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqtag.configuration import build
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Tokenizer


def build_input_tokenizer(data: Mapping[str, Any]) -> Tokenizer:
    """What splits an input that comes as one string."""
    tokenizer = build(data["input_tokenizer"], kinds=(Tokenizer,), name="data.input_tokenizer")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def build_reader(data: Mapping[str, Any], *, per_element: bool, read_target: bool) -> Reader:
    """What reads and writes the files.

    Args:
        data: the node.
        per_element: whether every element has a target, so that a target that comes as one string
            is split.
        read_target: False for prediction, where files without the target are fine.
    """
    target_tokenizer = build(
        data["target_tokenizer"], kinds=(Tokenizer,), name="data.target_tokenizer"
    )
    reader = build(
        data["reader"],
        kinds=(Reader,),
        name="data.reader",
        input=data["input"],
        target=data["target"],
        read_target=read_target,
        input_tokenizer=build_input_tokenizer(data),
        target_tokenizer=target_tokenizer if per_element else None,
        missing=data["missing"],
        skip_lines=data["skip_lines"],
        encoding=data["encoding"],
        max_line_bytes=data["max_line_bytes"],
    )
    assert isinstance(reader, Reader)
    return reader
