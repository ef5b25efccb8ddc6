"""Data sets that the library ``datasets`` knows by name, from a copy on disk or the Hub."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import datasets
from datasets.exceptions import DatasetsError
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError

SAVED = ("state.json", "dataset_dict.json")
"""Files that tell a folder written by ``save_to_disk``."""
PATIENCE = 3.0
"""Seconds in which the Hub must answer; its own client tries for minutes."""
TROUBLE = (OSError, ValueError, RuntimeError, KeyError, TypeError, DatasetsError, HfHubHTTPError)
"""What ``datasets`` raises where a data set cannot be had."""


def load_split(name: str, config: str | None, split: str) -> datasets.Dataset:
    """One split of a data set.

    No code that comes with a data set is run. Without network, only copies on disk are looked for.

    Args:
        name: a folder written by ``save_to_disk``, a folder of files that ``load_dataset`` reads,
            or a name on the Hub.
        config: of the data set; None where it has one only.
        split: its name, perhaps with a slice: ``train[:80%]``.

    Raises:
        ValueError: there is no such data set or split, or no network and no copy.
    """
    folder = Path(name).expanduser()
    try:
        with _quiet():
            if any((folder / file).is_file() for file in SAVED):
                return _saved(folder, config, split)
            if folder.is_dir():
                return datasets.load_dataset(str(folder), config, split=split)
            reached = _is_online()
            with _offline(not reached):
                return datasets.load_dataset(name, config, split=split)
    except ConnectionError as error:
        raise ValueError(
            f"data.reader.name={name}: {_first_line(error)}; there is no such folder ("
            f"{folder.absolute()}) and no copy in the cache of datasets, and the Hub cannot be "
            "reached: copy the data set here with save_to_disk and name that folder"
        ) from None
    except TROUBLE as error:
        raise ValueError(
            f"data.reader.name={name}, config={config}, split {split}: {_first_line(error)}"
        ) from None


def _saved(folder: Path, config: str | None, split: str) -> datasets.Dataset:
    """A split of a data set written by ``save_to_disk``, which knows no slices itself."""
    if config is not None:
        raise ValueError("a folder of save_to_disk has no configs; set data.reader.config=null")
    saved = datasets.load_from_disk(str(folder))
    if isinstance(saved, datasets.Dataset):
        saved = {str(saved.split or datasets.Split.TRAIN): saved}
    lengths = {str(name): len(part) for name, part in saved.items()}
    try:
        wanted = datasets.ReadInstruction.from_spec(split).to_absolute(lengths)
    except AssertionError as error:  # how datasets refuses a slice such as [:1000%]
        raise ValueError(_first_line(error)) from None
    parts = [saved[part.splitname].select(range(part.from_, part.to)) for part in wanted]
    return parts[0] if len(parts) == 1 else datasets.concatenate_datasets(parts)


def _is_online() -> bool:
    """Whether the Hub answers, whatever it says."""
    if constants.HF_HUB_OFFLINE or datasets.config.HF_HUB_OFFLINE:
        return False
    request = urllib.request.Request(constants.ENDPOINT, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return True
    except urllib.error.URLError as error:
        # Certificates are the client's business: it may have others than Python.
        return isinstance(error.reason, ssl.SSLError)
    except OSError:
        return False
    return True


@contextmanager
def _offline(wanted: bool) -> Iterator[None]:
    """While the context lasts, both libraries are as with HF_HUB_OFFLINE=1, if so wanted.

    They read the variable once, when they are imported.
    """
    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    if wanted:
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars while the context lasts."""
    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()


def _first_line(error: BaseException) -> str:
    text: Any = error.args[0] if isinstance(error, KeyError) and error.args else error
    return (str(text).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
