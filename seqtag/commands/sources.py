"""Where a command that uses a trained model reads its sequences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from seqtag.data.readers.files import open_stream
from seqtag.data.readers.reader import Reader
from seqtag.data.source import USER_COLUMNS, as_raw_lines, build_reader, change_format
from seqtag.tasks.task import Task

STREAM = "-"
"""How the command line names stdin and stdout, beside leaving the key out."""

ENDINGS = {
    **{ending: ending for ending in ("conllu", "conll", "tsv", "csv", "jsonl", "npz", "ts")},
    **dict.fromkeys(("parquet", "arrow", "feather"), "table"),
}
"""Files that go to their own reader unasked, with the option of ``data`` that has it."""

COMPRESSED = ".gz"


def choose_reader(
    config: dict[str, Any], overrides: Sequence[str], *, task: Task, vectors: bool
) -> Reader:
    """The reader that the command line, the file's ending, or neither asks for.

    Args:
        config: of the run, with the command's ``input``.
        overrides: what the command line said.
        task: of the run.
        vectors: whether the model reads vectors.
    """
    data = config["data"]
    named = any(override.startswith("data=") for override in overrides)
    name = Path((config["input"] or "").lower().removesuffix(COMPRESSED))
    option = ENDINGS.get(name.suffix.removeprefix("."))
    if not named and (option is None or option != data["format"]):
        if option is not None:
            both = {option, data["format"]}
            data = change_format(data, option, keep_columns=both <= USER_COLUMNS)
        elif not vectors:
            data = as_raw_lines(data)
        # Raw lines hold no vectors: those are read as the model's training files were.
    return build_reader(
        data,
        per_element=task.per_element,
        sequence=task.sequence,
        several=task.several,
        read_target=False,
    )


@contextmanager
def open_input(path: str | None) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes to read, and what messages call them."""
    if path is None or path == STREAM:
        yield sys.stdin.buffer, "stdin"
    else:
        with open_stream(str(Path(path).expanduser())) as stream:
            yield stream, path
