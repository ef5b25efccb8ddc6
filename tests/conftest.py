import os

# Before torch is imported: the tensors here are tiny, and a second thread only waits.
os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from seqtag.configuration import compose

LONG = "tests/test_readme.py"
"""Few tests of a minute and more; begun first, they do not keep the others waiting at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Brings the long tests to the front, the order otherwise as it was."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


SMALL = (
    "embedding.dim=8",
    "encoder=window",
    "encoder.dim=8",
    "encoder.num_layers=1",
    "encoder.radius=1",
    "callbacks=no_early_stopping",
    "trainer.max_epochs=1",
    "device=cpu",
)

FORMATS = {
    "tagging": "conll",
    "token_regression": "conll",
    "classification": "tsv",
    "multi_label": "tsv",
    "regression": "tsv",
    "seq2seq": "tsv",
}

SMALL_PARTS = {"seq2seq": ("decoder.dim=8", "decoder.num_heads=2", "decoder.feedforward_dim=8")}
"""What a task has besides."""

FILES = {
    "tagging": {
        "train": "the\tD\ndog\tN\nruns\tV\n\nthe\tD\ncat\tN\n\na\tD\ndog\tN\nsat\tV\n\nruns\tV\n",
        "dev": "the\tD\ncat\tN\nruns\tV\n\na\tD\nfish\tN\n",
        "test": "a\tD\ncat\tN\nsat\tV\n",
    },
    "token_regression": {
        "train": "the\t1\ndog\t2\nruns\t3\n\nthe\t1\ncat\t2\n\na\t0\ndog\t2\nsleeps\t4\n",
        "dev": "the\t1\ncat\t2\nruns\t3\n",
        "test": "a\t0\ncat\t2\nsleeps\t4\n",
    },
    "classification": {
        "train": "text\tlabel\ngood dog\tyes\nbad dog\tno\ngood cat\tyes\nbad\tno\ngood\tyes\n",
        "dev": "text\tlabel\ngood cat\tyes\nbad cat\tno\n",
        "test": "text\tlabel\nbad bad dog\tno\n",
    },
    "multi_label": {
        "train": "text\tlabels\ngood dog\tyes pet\nbad dog\tpet\ngood cat\tyes pet\ngood\tyes\n",
        "dev": "text\tlabels\ngood cat\tpet yes\nbad cat\tpet new\n",
        "test": "text\tlabels\nbad good dog\tyes pet\n",
    },
    "regression": {
        "train": "text\tvalue\none two\t3\none\t1\ntwo two\t4\ntwo one one\t4\n",
        "dev": "text\tvalue\none one\t2\ntwo\t2\n",
        "test": "text\tvalue\ntwo one\t3\n",
    },
    "seq2seq": {
        "train": "text\tvalue\none two\tI II\none\tI\ntwo two\tII II\ntwo one one\tII I I\n",
        "dev": "text\tvalue\none one\tI I\ntwo\tII\n",
        "test": "text\tvalue\ntwo one\tII I\n",
    },
}


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tables of the tests, away from the user's own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQTAG_CACHE", str(folder))
        yield folder


@lru_cache
def _composed(*overrides: str) -> dict[str, Any]:
    return compose("train", overrides)


@pytest.fixture
def small_config(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Call it with a task, overrides, and the texts of the splits where the tiny ones do not do."""

    def make(
        task: str,
        *overrides: str,
        files: Mapping[str, str] | None = None,
        data: str | None = None,
    ) -> dict[str, Any]:
        name = data or FORMATS[task]
        config = deepcopy(
            _composed(
                f"task={task}", f"data={name}", *SMALL, *SMALL_PARTS.get(task, ()), *overrides
            )
        )
        config["runs"] = str(tmp_path / "runs")
        config["cache"] = str(tmp_path / "cache")
        texts = FILES[task] if files is None else files
        for split in ("train", "dev", "test"):
            path = tmp_path / f"{split}.{name}"
            if split in texts:
                path.write_text(texts[split], encoding="utf-8", newline="")
            config["data"][split] = str(path) if split in texts else None
        return config

    return make


@pytest.fixture
def save_run(tmp_path: Path) -> Callable[..., Path]:
    """Call it with a config: writes a run directory with an untrained model, and gives its path."""

    # Imported here, so that tests of other rooms need not wait for Lightning.
    import torch

    from seqtag.checkpoint import BEST, own_part
    from seqtag.datamodule import DataModule
    from seqtag.model import Model

    def save(config: dict[str, Any], name: str = "run") -> Path:
        data = DataModule(config)
        data.read_all(test=True)
        torch.manual_seed(config["seed"])
        model = Model.from_config(config, data.inputs.fields, data.target)
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        content = {
            "epoch": 4,
            "global_step": 20,
            "state_dict": {f"model.{key}": value for key, value in model.state_dict().items()},
            "seqtag": own_part(config, data.inputs, data.target),
        }
        torch.save(content, folder / BEST)
        return folder

    return save
