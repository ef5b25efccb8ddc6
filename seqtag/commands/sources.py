"""Where a command that uses a trained model reads its sequences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from seqtag.data.readers.lines import open_stream
from seqtag.data.readers.reader import Reader
from seqtag.data.source import as_raw_lines, build_reader, change_format
from seqtag.tasks.task import Task

STREAM = "-"
"""How the command line names stdin and stdout, beside leaving the key out."""

ENDINGS = frozenset({"conllu", "conll", "tsv", "csv", "jsonl"})
"""Files that go to their own reader unasked; the option of ``data`` has the same name."""


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
    ending = Path(config["input"] or "").suffix.removeprefix(".").lower()
    if not named and ending != data["format"]:
        if ending in ENDINGS:
            data = change_format(data, ending, keep_columns=True)
        elif not vectors:
            data = as_raw_lines(data)
        # Raw lines hold no vectors: those are read as the model's training files were.
    return build_reader(
        data, per_element=task.per_element, sequence=task.sequence, read_target=False
    )


@contextmanager
def open_input(path: str | None) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes to read, and what messages call them."""
    if path is None or path == STREAM:
        yield sys.stdin.buffer, "stdin"
    else:
        with open_stream(str(Path(path).expanduser())) as stream:
            yield stream, path
