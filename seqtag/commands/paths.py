"""Paths as the user means them: from the directory the command was started in."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from seqtag.data.source import reads_files
from seqtag.preparation.preparation import FILES

PATHS = ("vocabulary", "word_vectors")
"""Keys of ``data`` whose value is a path, beside those of the splits."""


def absolute_data_paths(config: dict[str, Any]) -> dict[str, Any]:
    """The config with full paths to data, so that a checkpoint finds them from anywhere."""
    data = dict(config["data"])
    for key in (*PATHS, *(FILES if reads_files(data) else ())):
        # The config of an older run lacks what was added since.
        if data.get(key) is not None:
            data[key] = str(Path(data[key]).expanduser().absolute())
    return {**config, "data": data}


def prepare_folder(key: str, given: str) -> Path:
    """A folder that something is to be written to, made where it is not there.

    Raises:
        ValueError: it cannot be written to.
    """
    folder = Path(given).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"{key}={folder} cannot be written to: {error.strerror}") from error
    return folder
