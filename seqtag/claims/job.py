"""One seed of one claim: what it depends on, and its rows on disk."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from seqtag.claims.claim import Claim, Row
from seqtag.configuration import build, config_directory
from seqtag.training.run_directory import replace_file

OWN_SETTINGS = frozenset({"seeds"})
"""Keys of a claim's node that change how often it is measured, not what."""

MODULES = ("model", "batch", "budget", "configuration")
GROUPS = ("task", "embedding", "encoder", "head", "decoder", "search")
"""Modules of the package, beside those of ``nn``, and config groups that make a model."""


@dataclass
class Measured:
    """What one seed gave, or all seeds of a claim.

    Attributes:
        rows: in the order in which they were measured.
        circumstances: of the measurement, such as the machine.
    """

    rows: list[Row]
    circumstances: dict[str, str]


@dataclass(frozen=True, eq=False)
class Job:
    """One seed of one claim.

    Attributes:
        name: of the claim.
        node: of its config.
        claim: what the node describes.
        seed: to measure with.
        threads: of the process that measures.
        file: where the rows go once all are there.
    """

    name: str
    node: Mapping[str, Any]
    claim: Claim
    seed: int
    threads: int
    file: Path

    def settings(self) -> dict[str, Any]:
        """All that the rows depend on, for telling whether kept ones still hold."""
        own = {key: value for key, value in self.node.items() if key not in OWN_SETTINGS}
        found = {"claim": own, "seed": self.seed, "code": code_digest(own["_target_"])}
        # Time on another machine is another measurement; what else is measured hardly differs.
        return found | ({"circumstances": self.circumstances()} if self.claim.alone else {})

    def circumstances(self) -> dict[str, str]:
        """Where the job is measured if it is measured now."""
        device = self.claim.device
        return {
            "machine": torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else f"{platform.machine()}, {len(os.sched_getaffinity(0))} processor cores",
            "torch": torch.__version__,
            "threads": str(self.threads),
        }

    def kept(self) -> Measured | None:
        """The rows of an earlier run with the same settings and code; None where there are none."""
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
            if content["settings"] == self.settings():
                return Measured(list(content["rows"]), dict(content["circumstances"]))
        except (OSError, ValueError, TypeError, KeyError):
            pass  # never measured, or cut off by a full disk: measure
        return None

    def keep(self, rows: Sequence[Row]) -> Measured:
        """Write the rows, all or nothing."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        measured = Measured(list(rows), self.circumstances())
        content = {"settings": self.settings(), **asdict(measured)}
        replace_file(self.file, (json.dumps(content, indent=1) + "\n").encode())
        return measured


@cache
def code_digest(target: str) -> str:
    """A hash of the code and configs that the measurements of a claim depend on.

    Args:
        target: dotted path of the claim's class.
    """
    package = Path(__file__).resolve().parents[1]
    own = find_spec(target.rpartition(".")[0])
    assert own is not None, "a class that was built has a module"
    assert own.origin is not None
    conf = config_directory()
    files = [package / "nn", *(package / f"{name}.py" for name in MODULES), Path(own.origin)]
    files += [package / "claims" / "claim.py", package / "claims" / "training.py"]
    files += [conf / "train.yaml", *(conf / group for group in GROUPS)]
    digest = hashlib.sha256()
    for root in files:
        inside = (path for path in root.rglob("*") if path.suffix in (".py", ".yaml"))
        for file in sorted(inside) if root.is_dir() else (root,):
            digest.update(f"{file.relative_to(root.parent)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def make_claim(node: Mapping[str, Any]) -> Claim:
    """The claim that a config node describes.

    Raises:
        ValueError: the node cannot be built.
    """
    claim = build(node, kinds=(Claim,), name="claim")
    assert isinstance(claim, Claim)
    return claim
