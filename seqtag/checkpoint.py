"""A trained model in one file: its numbers, its config and its vocabularies."""

from __future__ import annotations

import logging
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from seqtag.batch import TargetSpec
from seqtag.configuration import changes
from seqtag.data.inputs import Inputs
from seqtag.model import Model

KEY = "seqtag"
"""Where the project's own part stands in a Lightning checkpoint."""

FORMAT = 5
BEST, LAST = "best.ckpt", "last.ckpt"
MODEL_PREFIX = "model."

MODEL_NODES = frozenset({"embedding", "encoder", "head", "decoder"})
"""Nodes of a config that the weights were trained with."""

log = logging.getLogger(__name__)

DAMAGE = (
    RuntimeError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    EOFError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
)
"""What reading a file raises in which bytes are wrong."""


@dataclass
class Checkpoint:
    """What a file holds, apart from the state of the training.

    Attributes:
        path: the file.
        config: the whole resolved config of the run, plain.
        inputs: vocabularies and scales.
        target: what the training targets taught.
        weights: the model's state dict.
        epoch: in which it was written, from 0.
        step: how many steps had been taken.
    """

    path: Path
    config: dict[str, Any]
    inputs: Inputs
    target: TargetSpec
    weights: dict[str, torch.Tensor]
    epoch: int
    step: int

    def use(self, config: dict[str, Any]) -> None:
        """Go by another config from here on, and warn of a model that was not trained by it.

        Most options of a model have weights, and then do not fit; those without any would
        otherwise change its answers in silence.
        """
        for key, old, new in changes(self.config, config):
            if key.partition(".")[0] in MODEL_NODES:
                log.warning("warning: %s=%s, and the model was trained with %s", key, new, old)
        self.config = config

    def model(self) -> Model:
        """The model, built from the config alone and filled; in evaluation mode."""
        model = Model.from_config(self.config, self.inputs.fields, self.target)
        self.fill(model)
        return model.eval()

    def fill(self, model: Model) -> None:
        """Give a model these weights.

        Raises:
            ValueError: the model is of another shape, or the weights are no numbers.
        """
        if not all(bool(w.isfinite().all()) for w in self.weights.values()):
            raise ValueError(f"the weights in {self.path} hold NaN or infinity: its run diverged")
        try:
            model.load_state_dict(self.weights)
        except RuntimeError as error:
            reason = str(error).splitlines()[1].strip() if "\n" in str(error) else str(error)
            raise ValueError(
                f"the weights in {self.path} do not fit the config: {reason}"
            ) from error


def own_part(config: Mapping[str, Any], inputs: Inputs, target: TargetSpec) -> dict[str, Any]:
    """What a checkpoint must hold beside the weights, as plain values."""
    return {
        "format": FORMAT,
        "config": dict(config),
        "inputs": inputs.state(),
        "target": target.state(),
    }


def find_checkpoint(path: str | Path) -> Path:
    """The file a user means: a checkpoint, or the best one of a run directory.

    Raises:
        ValueError: there is nothing there, or no run directory.
    """
    given = Path(path).expanduser()
    if given.is_dir():
        for name in (BEST, LAST):
            if (given / name).is_file():
                return (given / name).resolve()
        # The folder of all runs, or of one kind of them; deeper, a home would be searched whole.
        runs = [*given.glob(f"*/{BEST}"), *given.glob(f"*/*/{BEST}")]
        newest = max(runs, key=lambda run: run.stat().st_mtime, default=None)
        hint = f"; did you mean {newest.parent}?" if newest else ""
        raise ValueError(f"{given} is not a run directory: it holds no {BEST}{hint}")
    if not given.is_file():
        raise ValueError(f"no run directory or checkpoint at {given}")
    return given.resolve()


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint, or the best one of a run directory, onto the CPU.

    Only tensors and plain values are unpickled.

    Raises:
        ValueError: there is none, it is damaged, or it was not written by this project.
    """
    file = find_checkpoint(path)
    try:
        # torch.load would also take files of its oldest kind, which have no checksums.
        if not zipfile.is_zipfile(file):
            raise ValueError("it does not end as a torch file does")
        with zipfile.ZipFile(file) as records:
            if damaged := records.testzip():  # torch reads the numbers without their checksums
                raise ValueError(f"the checksum of its part {damaged} is wrong")
        content = torch.load(file, map_location="cpu", weights_only=True)
    except DAMAGE as error:
        reason = str(error).strip().split("\n")[0][:200]
        raise ValueError(
            f"{file} cannot be read as a checkpoint (damaged, cut off, or of another kind): "
            f"{reason}"
        ) from error
    own = content.get(KEY) if isinstance(content, dict) else None
    if not isinstance(own, dict) or "state_dict" not in content:
        raise ValueError(f"{file} is a torch file, but not a checkpoint of seqtag")
    if own.get("format") != FORMAT:
        raise ValueError(
            f"{file} has checkpoint format {own.get('format')}; this version reads format {FORMAT}"
        )
    weights = {
        name.removeprefix(MODEL_PREFIX): value
        for name, value in content["state_dict"].items()
        if name.startswith(MODEL_PREFIX)
    }
    try:
        return Checkpoint(
            path=file,
            config=own["config"],
            inputs=Inputs.from_state(own["inputs"]),
            target=TargetSpec.from_state(own["target"]),
            weights=weights,
            epoch=content["epoch"],
            step=content["global_step"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{file} lacks part of what a checkpoint of seqtag holds: "
            f"{type(error).__name__}: {error}"
        ) from error
