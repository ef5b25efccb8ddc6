"""Paths as the user means them: from the directory the command was started in."""

from __future__ import annotations

from pathlib import Path
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
