"""Pictures are there, and show something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from seqtag.evaluation.calibration import CalibrationBin
from seqtag.report.plots.bars import draw_bars
from seqtag.report.plots.confusion import MOST, OTHERS, chosen, draw_confusion
from seqtag.report.plots.picture import Picture
from seqtag.report.plots.reliability import draw_reliability
from seqtag.report.plots.residuals import draw_residuals

NAN = float("nan")


def ink(picture: Picture, folder: Path) -> float:
    """The share of the written file's dots that are not white."""
    picture.write(folder)
    dots = imread(folder / f"{picture.name}.png")
    assert min(dots.shape[:2]) > 200
    return float((dots[..., :3] < 0.9).any(axis=-1).mean())


def test_bars(tmp_path: Path) -> None:
    scores = {"accuracy": [0.5, NAN, 1.0], "floor": [0.1, 0.2, 0.3]}
    picture = Picture(
        "bars",
        lambda: draw_bars(["1-5", "6-10", "11-20"], scores, [3, 0, 5], across="x", counted="rows"),
    )
    assert 0.01 < ink(picture, tmp_path) < 0.5


@pytest.mark.parametrize(
    "names",
    [
        ["X"],
        ["猫", "كلب", "$a_b$", " "],
        pytest.param([f"l{n}" for n in range(80)], marks=pytest.mark.slow),
    ],
)
def test_confusion(tmp_path: Path, names: list[str]) -> None:
    counts = {(name, name): 5 for name in names} | {(names[0], names[-1]): 3}
    assert 0.005 < ink(Picture("confusion", lambda: draw_confusion(counts)), tmp_path) < 0.8


def test_rare_labels_share_the_last_row_and_column() -> None:
    counts = {(f"l{n}", f"l{n}"): 100 - n for n in range(40)} | {("l39", "l0"): 1}
    names, grid = chosen(counts)
    assert len(names) == MOST
    assert names[-1] == OTHERS
    assert names[0] == "l0"
    assert grid.sum() == sum(counts.values())
    assert grid[-1, 0] == 1
    assert grid[-1, -1] == sum(100 - n for n in range(MOST - 1, 40))


def test_reliability(tmp_path: Path) -> None:
    bins = [
        CalibrationBin(low=0.0, high=0.5, count=0, confidence=NAN, accuracy=NAN),
        CalibrationBin(low=0.5, high=1.0, count=7, confidence=0.9, accuracy=0.6),
    ]
    picture = Picture("reliability", lambda: draw_reliability(bins, "ece", 0.3))
    assert 0.05 < ink(picture, tmp_path) < 0.7


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 12_000])
def test_residuals(tmp_path: Path, size: int) -> None:
    gold = np.random.default_rng(1).normal(size=size)
    predicted = gold + 0.1
    predicted[-1] = NAN if size > 1 else 1.0
    numbers = [("length", gold, predicted), ("none", np.zeros(0), np.zeros(0))]
    picture = Picture("residuals", lambda: draw_residuals(numbers))
    assert 0.01 < ink(picture, tmp_path) < 0.7
