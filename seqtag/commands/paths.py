"""Paths as the user means them: from the directory the command was started in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqtag.datamodule import SPLITS


def absolute_data_paths(config: dict[str, Any]) -> dict[str, Any]:
    """The config with full paths to data, so that a checkpoint finds them from anywhere."""
    data = dict(config["data"])
    for split in SPLITS:
        if data[split] is not None:
            data[split] = str(Path(data[split]).expanduser().absolute())
    return {**config, "data": data}
