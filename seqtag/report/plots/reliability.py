"""The accuracy of labels over their probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seqtag.evaluation.calibration import CalibrationBin

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_reliability(bins: Sequence[CalibrationBin], name: str, error: float) -> Figure:
    """A bar of accuracy for each bin, a dot at its mean probability, and its count below.

    Args:
        bins: from the lowest probability to the highest.
        name: of the calibration error.
        error: that.
    """
    from seqtag.report.plots.style import COLOUR, PALE, POINTS, SECOND, new_figure, plain_axes

    figure = new_figure(4.0, 4.2)
    grid = figure.add_gridspec(2, 1, height_ratios=(3, 1))
    upper: Any = figure.add_subplot(grid[0])
    lower: Any = figure.add_subplot(grid[1], sharex=upper)
    filled = [each for each in bins if each.count]
    lows = [each.low for each in filled]
    widths = [each.high - each.low for each in filled]
    sides = {"align": "edge", "edgecolor": "white"}
    upper.bar(lows, [each.accuracy for each in filled], widths, color=COLOUR, **sides)
    upper.plot(
        [each.confidence for each in filled],
        [each.accuracy for each in filled],
        "o",
        color=SECOND,
        markersize=4,
        label="at the mean probability",
    )
    upper.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--", label="no error")
    upper.set_xlim(0, 1)
    upper.set_ylim(0, 1.02)
    upper.set_ylabel("accuracy", fontsize=POINTS)
    upper.set_title(f"{name} {error:.4f}", loc="left", fontsize=POINTS)
    upper.legend(fontsize=POINTS - 1, frameon=False, loc="upper left")
    upper.tick_params(labelbottom=False)
    lower.bar(lows, [each.count for each in filled], widths, color=PALE, **sides)
    lower.set_xlabel("probability of the predicted label", fontsize=POINTS)
    lower.set_ylabel("labels", fontsize=POINTS)
    for axes in (upper, lower):
        plain_axes(axes)
    return figure
