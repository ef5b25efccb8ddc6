"""The folder that holds everything about one run."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from omegaconf import OmegaConf

from seqtag.configuration import config_directory
from seqtag.device import choose_device

PACKAGES = (
    "seqtag",
    "torch",
    "pytorch-lightning",
    "hydra-core",
    "datasets",
    "torchmetrics",
    "seqeval",
    "numpy",
)


def create_directory(parent: Path) -> Path:
    """A new folder ``<timestamp>-<unique>`` below ``parent``; never one that is there already."""
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    folder = parent / f"{stamp}-{secrets.token_hex(3)}"
    folder.mkdir(parents=True, exist_ok=False)
    return folder


def kind_of(node: Mapping[str, Any]) -> str:
    """A short name for a part: the module of its class, such as ``attention``."""
    return str(node["_target_"]).split(".")[-2]


def write_json(path: Path, content: Any) -> None:
    """Write plain values, all or nothing; numbers that are not finite become null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    replace_file(path, (text + "\n").encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, whatever interrupts the writing."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(content)
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def write_configs(folder: Path, config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """``config.yaml`` (resolved) and ``overrides.yaml`` (what the command line said)."""
    OmegaConf.save(OmegaConf.create(dict(config)), folder / "config.yaml")
    OmegaConf.save(OmegaConf.create(list(overrides)), folder / "overrides.yaml")


def describe_environment(
    config: Mapping[str, Any], data: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What is needed to tell whether two runs can be compared, and to repeat one.

    Args:
        config: of the run.
        data: by split, its path, digest and counts.
    """
    device = choose_device(config["device"])
    return {
        "command_line": sys.orig_argv,
        "seed": config["seed"],
        "data": data,
        "git_commit": _git_commit(),
        "code": package_digest(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "threads": torch.get_num_threads(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


@cache
def package_digest() -> str:
    """A hash of the package's code and configs, which tells two states of one commit apart."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for root, kind in ((package, "*.py"), (config_directory(), "*.yaml")):
        for file in sorted(root.rglob(kind)):
            digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return content


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The commit of the code, None where its files are not in a repository's keeping."""
    here = Path(__file__)

    def ask(*words: str) -> str:
        answer = subprocess.run(
            ["git", *words], cwd=here.parent, capture_output=True, text=True, timeout=10, check=True
        )
        return answer.stdout.strip()

    try:
        # An environment inside somebody's repository is not that repository's code.
        ask("ls-files", "--error-unmatch", here.name)
        return ask("describe", "--always", "--dirty", "--abbrev=40")
    except (OSError, subprocess.SubprocessError):
        return None
