"""Predicted numbers beside gold ones, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 5000
"""Points that are drawn, taken at even distances from all of them."""

MOST_NUMBERS = 6
"""Numbers of a target that are drawn, the first ones."""


def draw_residuals(
    numbers: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]],
) -> Figure:
    """Of each number of a target: predicted over gold, and the distribution of the residuals.

    Args:
        numbers: name, gold and predicted values of each; at least one value.
    """
    from seqtag.report.plots.style import COLOUR, POINTS, SECOND, font_for, new_figure, plain_axes

    drawn = [entry for entry in numbers if len(entry[1])][:MOST_NUMBERS]
    figure = new_figure(6.4, 2.8 * len(drawn))
    for row, (name, gold, predicted) in enumerate(drawn):
        step = -(-len(gold) // MOST_POINTS)
        residuals = predicted - gold
        residuals = residuals[np.isfinite(residuals)]
        left: Any = figure.add_subplot(len(drawn), 2, 2 * row + 1)
        right: Any = figure.add_subplot(len(drawn), 2, 2 * row + 2)
        left.plot(gold[::step], predicted[::step], ".", color=COLOUR, alpha=0.5, markersize=4)
        ends = [float(gold.min()), float(gold.max())]
        left.plot(ends, ends, color=SECOND, linewidth=1)
        left.set_xlabel("gold", fontsize=POINTS)
        left.set_ylabel("predicted", fontsize=POINTS)
        left.set_title(name, loc="left", parse_math=False, **font_for([name]))
        bins = min(40, 5 + len(gold) // 10)
        right.hist(residuals, bins=bins, range=_around(residuals), color=COLOUR)
        right.axvline(0, color=SECOND, linewidth=1)
        right.set_xlabel("predicted - gold", fontsize=POINTS)
        right.set_ylabel("values", fontsize=POINTS)
        for axes in (left, right):
            plain_axes(axes)
            axes.xaxis.set_major_locator(_few())
    return figure


def _around(values: NDArray[np.float64]) -> tuple[float, float]:
    """A range that holds all values, and is wide enough to be cut where they are nearly equal."""
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    room = 0.02 * (high - low) or 1.0
    return low - room, high + room


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)
