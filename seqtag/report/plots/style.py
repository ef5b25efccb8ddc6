"""How the pictures of an evaluation look alike, whatever script their labels are in."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from seqtag.report.fonts import choose_families

DOTS_PER_INCH = 150
POINTS = 8
COLOUR, SECOND, PALE = "#1f5fa8", "#c05a20", "#c9d8ea"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, which no window shows."""
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def font_for(texts: Iterable[str]) -> dict[str, Any]:
    """Arguments of matplotlib's texts, of fonts that have the characters of these."""
    families, _ = choose_families({character for text in texts for character in text})
    return {"family": [*families, "sans-serif"], "size": POINTS}


def plain_axes(axes: Any) -> None:
    """Small figures on the axes, and no frame at the top and the right."""
    axes.tick_params(labelsize=POINTS)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    """Write a PNG file; a character that no installed font has is drawn as a frame."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        figure.savefig(path, format="png")
