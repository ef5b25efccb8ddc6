"""Imports run downwards only, so that a floor can be read, tested and changed by itself."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import seqtag

PACKAGE = Path(seqtag.__file__).parent

FLOORS = (
    {"batch", "device"},
    {"nn", "evaluation"},
    {"data"},
    {"tasks"},
    {"split", "preparation", "datamodule", "survey", "doctor"}
    | {"model", "budget", "limits", "checkpoint", "stretches"},
    {"predictor", "scoring", "floors"},
    {"training"},
    {"comparison"},
    {"report", "claims"},
    {"commands"},
)
"""Ground first. ``configuration`` serves every floor; the package itself and ``__main__`` stand
outside, as they import only when they are asked to."""

OUTSIDE = {"seqtag", "seqtag.__main__"}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package with its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(module: str) -> Iterator[str]:
    """The modules of ours that a module imports, wherever in its text."""
    for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            # ``from package.module import thing``: the thing is no module.
            found = name if name in modules() else name.rpartition(".")[0]
            if found in modules():
                yield found


def floor(module: str) -> int:
    room = module.split(".")[1]
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


INSIDE = sorted(modules().keys() - OUTSIDE - {"seqtag.configuration"})


def test_every_module_has_a_floor() -> None:
    rooms = {module.split(".")[1] for module in INSIDE}
    assert rooms <= set().union(*FLOORS)


@pytest.mark.parametrize("module", INSIDE)
def test_imports_run_downwards_only(module: str) -> None:
    for other in imported(module):
        if other not in {"seqtag", "seqtag.configuration"}:
            assert floor(other) <= floor(module), f"{module} imports {other}"


def test_there_are_no_circles() -> None:
    graph = {module: set(imported(module)) - {"seqtag"} for module in modules()}
    del graph["seqtag"]
    tuple(TopologicalSorter(graph).static_order())


def test_the_configuration_imports_nothing_of_ours() -> None:
    assert list(imported("seqtag.configuration")) == []


def test_the_model_is_one_screen_and_knows_no_variant() -> None:
    text = (PACKAGE / "model.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert set(imported("seqtag.model")) == {
        "seqtag.batch",
        "seqtag.configuration",
        "seqtag.nn.embeddings",
        "seqtag.nn.encoders.encoder",
        "seqtag.nn.heads",
        "seqtag.nn.search",
    }


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, seqtag, seqtag.__main__; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "seqtag.__main__" in found
    heavy = {"torch", "numpy", "hydra", "omegaconf", "datasets", "pytorch_lightning", "rich"}
    assert heavy.isdisjoint(found)
