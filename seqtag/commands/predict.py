"""Use a trained model on files or stdin."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from seqtag.batch import length
from seqtag.checkpoint import load_checkpoint
from seqtag.commands.runs import Runs
from seqtag.commands.sources import STREAM, choose_reader, open_input
from seqtag.data.readers.files import compressing
from seqtag.predictor import LOOK_AHEAD, Predictor

RUNS = Runs.ONE

log = logging.getLogger(__name__)


def predict(config: dict[str, Any], overrides: list[str]) -> None:
    """Write one prediction per input row, in order, in the input's format."""
    checkpoint = load_checkpoint(config["run"])
    checkpoint.use(config)
    predictor = Predictor(checkpoint, device=config["device"])
    source = config["input"]
    reader = choose_reader(
        config, overrides, task=predictor.task, vectors=checkpoint.inputs.reads_vectors
    )
    # A person who types wants each answer at once.
    typed = source in (None, STREAM) and sys.stdin.isatty()
    with open_input(source) as (stream, name), _open_output(config["output"], source) as output:
        rows = reader.read(stream, name)
        writer = reader.writer(output)
        elements = unknown = 0
        categories: Counter[str] = Counter()
        for row, answer in predictor.predict_rows(
            rows, probabilities=config["probabilities"], look_ahead=1 if typed else LOOK_AHEAD
        ):
            writer.add(row, answer)
            if typed:
                output.flush()
            elements += length(row)
            unknown += checkpoint.inputs.unknown(row)
            categories.update(checkpoint.inputs.unknown_categories(row))
        writer.close()
    if predictor.long:
        log.info(
            "%s sequences over the limit of data.max_length (else batching.max_tokens) were %s",
            f"{predictor.long:,}",
            "read in windows" if predictor.task.per_element else "read up to it alone",
        )
    if predictor.cut:
        log.info(
            "%s outputs were ended by search.max_length or what stands for it, not by the model",
            f"{predictor.cut:,}",
        )
    if unknown:
        log.info("%s of the %s elements are unknown to the model", f"{unknown:,}", f"{elements:,}")
    for column, count in categories.items():
        if count:
            log.info("%s values of the feature %s are unknown to the model", f"{count:,}", column)


@contextmanager
def _open_output(path: str | None, source: str | None) -> Iterator[BinaryIO]:
    """Where predictions go; a file appears whole or, after an error, not at all."""
    if path is None or path == STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).expanduser()
    if (
        source not in (None, STREAM)
        and target.exists()
        and target.samefile(Path(str(source)).expanduser())
    ):
        raise ValueError(f"output={path} is the input file; name another")
    if not target.parent.is_dir():
        raise ValueError(f"output={path}: there is no folder {target.parent}")
    if target.is_dir():
        raise ValueError(f"output={path} is a folder; name a file in it")
    if target.exists() and not target.is_file():  # a device or a pipe is written to, not replaced
        with target.open("wb") as stream:
            yield stream
        return
    target = target.resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with scratch.open("wb") as stream, compressing(stream, target) as written:
            yield written
        if target.exists():
            shutil.copymode(target, scratch)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)
