"""A scored split's files, with the predictions beside their gold."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from seqtag.batch import Output, length
from seqtag.data.readers.files import compressing
from seqtag.data.readers.parallel import ParallelReader
from seqtag.data.readers.reader import Reader

FOLDER = "predicted"
"""Of an evaluation: where the files stand, by the names of those that were read."""

log = logging.getLogger(__name__)


def write_predicted_files(
    reader: Reader, given: str | None, outputs: Sequence[Output], empty: Output, folder: Path
) -> None:
    """Write each file of a split anew, in its own format, with what is predicted for its rows.

    Where the format has room beside the target, as a further column, key or attribute, all else
    stays as it is; where it has not, predictions stand in the target's place. What cannot be
    written is told in a line of the log, and the evaluation goes on.

    Args:
        reader: of the files.
        given: what the config names; None where the split has no file of its own.
        outputs: for each row that has elements, in the order of the files.
        empty: for each other row.
        folder: of the evaluation; gets a folder with the files.
    """
    if given is None:
        log.info(
            "predictions beside gold: in predictions.jsonl alone, for this split is cut from the "
            "rows of data.train and has no file of its own"
        )
        return
    if not reader.reads_files:
        log.info("predictions beside gold: in predictions.jsonl alone, for data=hub reads no files")
        return
    parts = reader.parts(given)
    names = [_name(reader, part) for part in parts]
    common = Path(os.path.commonpath([name.parent for name in names]))
    waiting = iter(outputs)
    for part, name in zip(parts, names, strict=True):
        target = folder / FOLDER / name.relative_to(common)
        try:
            place = _write(reader, part, waiting, empty, target)
        except ValueError as error:
            log.warning("predictions beside gold are not written: %s", error)
            return
        log.info("predictions beside gold: %s of %s", place, target)
    if next(waiting, None) is not None:
        log.warning("warning: %s has fewer rows now than when it was scored", given)


def _name(reader: Reader, part: str) -> Path:
    """The file that predictions of a part are like."""
    path = Path(part).expanduser().absolute()
    if isinstance(reader, ParallelReader):
        return path.with_name(f"{path.name}.{reader.target}")
    return path


def _write(
    reader: Reader, part: str, outputs: Iterator[Output], empty: Output, target: Path
) -> str:
    """Write one file, and say where predictions stand in it."""
    with reader.opened(part) as rows:
        beside = reader.beside(rows)
    target.parent.mkdir(parents=True, exist_ok=True)
    with reader.opened(part) as rows, _whole(target) as stream:
        writer = reader.writer(stream) if beside is None else beside.writer(stream)
        for row in rows:
            output = next(outputs, None) if length(row) else empty
            if output is None:
                raise ValueError(f"{part} has more rows now than when it was scored")
            writer.add(row, output)
        writer.close()
    return "in the target's place (gold is in the input)" if beside is None else beside.place


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """A file that is there whole or, after an error, not at all."""
    scratch = target.with_name(f".{target.name}.part")
    try:
        with scratch.open("wb") as stream, compressing(stream, target) as written:
            yield written
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)
