"""Which claims are measured, with which settings, and where their page goes."""

from pathlib import Path
from typing import Any

import pytest

from seqtag.claims.job import Measured
from seqtag.commands import claims as command
from seqtag.commands.front import run_command
from seqtag.configuration import options


class StoppedError(ValueError):
    """Instead of a measurement."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The nodes that would have been measured."""
    found: list[dict[str, Any]] = []

    def measure_all(nodes: Any, claims: Any, folder: Path, **others: Any) -> dict[str, Measured]:
        found.append(dict(nodes))
        raise StoppedError("stopped")

    monkeypatch.setattr(command, "measure_all", measure_all)
    return found


@pytest.mark.slow
def test_without_a_name_every_claim_is_measured_as_it_would_be_alone(asked, tmp_path: Path) -> None:
    output = f"output={tmp_path}"
    assert run_command("claims", [output]) == 1
    assert sorted(asked[0]) == [name for name in options("claim") if name != "all"]
    for name in ("gradient", "order"):
        assert run_command("claims", [output, f"claim={name}"]) == 1
        assert asked.pop() == {name: asked[0][name]}

    assert run_command("claims", [output, "claim.full=true", "claim.seeds=[7,8]"]) == 1
    for node in asked[-1].values():
        assert node["full"]
        assert node["seeds"] == [7, 8]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["claim=nothing"], "nothing"),
        (["processes=0"], "processes is 0; it must be at least 1"),
        (["claim=context", "claim.seeds=[]"], "claim.seeds is []"),
        (["claim=context", "claim.seeds=[1,1]"], "claim.seeds is [1, 1]"),
        (["claim=context", "claim.steps=x"], "claim.steps is 'x'; it must be a list"),
        (["claim=context", "device=nowhere"], "device=nowhere cannot be used"),
        (["claim=context", "claim.speed=3"], "speed"),
        (["somewhere"], "claims takes no run directory"),
    ],
)
def test_what_cannot_be_measured_says_why(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("claims", [*words, f"output={tmp_path}"]) in (1, 2)
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_claim_alone_has_a_page_of_its_own(tmp_path: Path, capsys) -> None:
    tiny = ["claim.steps=[1,1]", "claim.seeds=[1]", "claim.tests=10"]
    assert run_command("claims", ["claim=context", *tiny, f"output={tmp_path}"]) == 0
    page = Path(capsys.readouterr().out.splitlines()[-1])
    assert page == tmp_path / "context" / "page.html"
    assert sorted(file.name for file in page.parent.iterdir()) == [
        "page.html",
        "page.md",
        "plot.png",
        "plot.svg",
        "seed-1.json",
        "table.csv",
        "verdicts.json",
    ]
