"""Pictures of attention: a panel for each layer and head, what is attended to along the x axis."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from seqtag.report.attention_maps import AttentionMap, Weights
from seqtag.report.axis_labels import DOTS_PER_INCH, Label, Ruler, axis_labels
from seqtag.report.fonts import FIRST, choose_families
from seqtag.report.lettering import legible

POINTS = 8
CELL, WIDEST_CELL, PANEL, LONG_PANEL = 0.18, 0.5, 1.2, 5.0
"""Inches: least and greatest cell, what a panel of few cells is stretched to, and one of many."""

GAP, MARGIN, TITLE, BAR = 0.25, 0.15, 0.25, 0.12
"""Inches between panels, around the picture, for a line of title, and of the bar of colours."""

LINE = 0.11
"""Inches from the top of a line of text to where its letters stand."""

MOST_DOTS = 40_000_000
COLOURS = "Blues"


class Picture(NamedTuple):
    """A drawn map.

    Attributes:
        figure: to be rendered.
        missing: characters of its labels that no installed font has.
    """

    figure: Figure
    missing: set[str]


def draw(chart: AttentionMap, *, title: str, longest: int) -> Picture:
    """A grid of layers (down) and heads (across); pooling has a row for each head in one panel.

    Args:
        chart: the weights and what their axes are.
        title: a line above the picture.
        longest: most cells of an axis that has each token beside its cell; a longer one has
            numbers here and there, from 1.

    Returns:
        The figure, with the scale of colours from 0 to its greatest weight.
    """
    panels = _panels(chart)
    heads = [f"head {n + 1}" for n in range(len(panels[0][0]))]
    rows = heads if chart.pools else list(map(legible, chart.queries))
    columns = list(map(legible, chart.keys))
    title = " ".join(map(legible, title.split(" ")))
    families, missing = choose_families({c for text in (*rows, *columns, title) for c in text})
    # The last is for viewers that have none of the others.
    font = {"family": [*families, "sans-serif"], "size": POINTS}
    with _quietly():
        figure = _figure(panels, rows, columns, title, longest, chart.pools, Ruler(font))
    return Picture(figure, missing)


def render(figure: Figure, file_format: str) -> bytes:
    """The figure as a file. An SVG keeps its texts as texts, which the viewer's fonts draw."""
    width, height = figure.get_size_inches()
    dots = min(DOTS_PER_INCH, math.sqrt(MOST_DOTS / (width * height)))
    stream = io.BytesIO()
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "seqtag",  # else its names of things are new each time
        "font.sans-serif": [FIRST],
    }
    with mpl.rc_context(settings), _quietly():
        dated = {"Date": None} if file_format == "svg" else {}
        figure.savefig(stream, format=file_format, dpi=dots, metadata=dated)
    return stream.getvalue()


def _panels(chart: AttentionMap) -> list[list[Weights]]:
    """Of each layer, the grids ``[rows, keys]`` that are shown side by side."""
    if chart.pools:
        return [[layer.weights[:, 0]] for layer in chart.layers]
    return [list(layer.weights) for layer in chart.layers]


def _figure(
    panels: list[list[Weights]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    longest: int,
    pools: bool,
    ruler: Ruler,
) -> Figure:
    height, width = panels[0][0].shape
    x_cell, y_cell = _cell(width, longest), _cell(height, longest)
    x_labels = axis_labels(columns, x_cell, longest, ruler, across=True)
    y_labels = axis_labels(rows, y_cell, longest, ruler, across=False)
    left = max(label.width for label in y_labels) + 0.08
    below = max(LINE, *(label.height for label in x_labels)) + 0.08
    # A title may be wider than a panel of few cells.
    column = left + max(width * x_cell, 0.95) + GAP
    row = TITLE + height * y_cell + below + GAP
    heads = max(map(len, panels))
    head_line = TITLE
    total = (
        max(2 * MARGIN + heads * column + BAR + 0.6, ruler.measure(title)[0] + 2 * MARGIN),
        2 * MARGIN + head_line + len(panels) * row - GAP,
    )
    figure = Figure(figsize=total, dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    figure.text(
        MARGIN / total[0],
        1 - MARGIN / total[1],
        title,
        va="top",
        parse_math=False,
        **ruler.font,
    )
    peak = max(float(np.nanmax(grid, initial=0)) for layer in panels for grid in layer)
    scale = Normalize(0, peak or 1)
    for layer, grids in enumerate(panels):
        for head, grid in enumerate(grids):
            top = MARGIN + head_line + layer * row + TITLE
            box = (
                (MARGIN + head * column + left) / total[0],
                1 - (top + height * y_cell) / total[1],
                width * x_cell / total[0],
                height * y_cell / total[1],
            )
            axes = figure.add_axes(box)
            axes.imshow(grid, cmap=COLOURS, norm=scale, aspect="auto")
            name = f"layer {layer + 1}" if pools else f"layer {layer + 1}, head {head + 1}"
            axes.set_title(name, loc="left", pad=4, parse_math=False, **ruler.font)
            _write_labels(axes, x_labels, y_labels, (x_cell, y_cell), ruler.font)
    tall = min(row - GAP - below - TITLE, 2.0)
    bar = figure.add_axes(
        (
            (MARGIN + heads * column) / total[0],
            1 - (MARGIN + head_line + TITLE + tall) / total[1],
            BAR / total[0],
            tall / total[1],
        )
    )
    ends = figure.colorbar(ScalarMappable(scale, COLOURS), cax=bar, ticks=[0, scale.vmax])
    ends.ax.set_yticklabels(["0", f"{scale.vmax:.2g}"], fontsize=POINTS - 1)
    ends.set_label("weight", fontsize=POINTS - 1)
    return figure


def _cell(count: int, longest: int) -> float:
    """Inches of a cell along an axis of so many."""
    if count > longest:
        return LONG_PANEL / count
    return min(max(PANEL / count, CELL), WIDEST_CELL)


def _write_labels(
    axes: Axes,
    x_labels: Sequence[Label],
    y_labels: Sequence[Label],
    cells: tuple[float, float],
    font: dict[str, Any],
) -> None:
    """Place texts by hand: ticks know one rotation for all of them."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_linewidth(0.4)
    bottom, left = axes.get_ylim()[0], axes.get_xlim()[0]
    # Texts in one line stand on it; if some are turned or stacked, all hang from their tops.
    one_line = all(label.upright and "\n" not in label.text for label in x_labels)
    for label in x_labels:
        axes.text(
            label.cell,
            bottom + (0.05 + LINE * one_line) / cells[1],
            label.text,
            rotation=0 if label.upright else 90,
            ha="center",
            va="baseline" if one_line else "top",
            linespacing=1.0,
            parse_math=False,
            **font,
        )
    for label in y_labels:
        axes.text(
            left - 0.05 / cells[0],
            label.cell,
            label.text,
            ha="right",
            va="center",
            parse_math=False,
            **font,
        )


def _quietly() -> warnings.catch_warnings[None]:
    """No warning of each character that a font lacks: ``Picture.missing`` has them."""
    caught = warnings.catch_warnings(action="ignore", category=UserWarning)
    return caught
