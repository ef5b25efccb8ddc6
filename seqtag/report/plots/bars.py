"""A score by ranges of something, above how many rows each range has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_bars(
    names: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    counts: Sequence[int],
    *,
    across: str,
    counted: str,
) -> Figure:
    """A line for each score over the ranges, and a bar of the count for each range below.

    Args:
        names: of the ranges.
        scores: by what the legend calls it, a number for each range; NaN where it has none.
        counts: of each range.
        across: what the ranges are of.
        counted: what is counted.
    """
    from seqtag.report.plots.style import COLOUR, PALE, POINTS, SECOND, new_figure, plain_axes

    figure = new_figure(max(4.0, 1.5 + 0.55 * len(names)), 3.4)
    grid = figure.add_gridspec(2, 1, height_ratios=(3, 1))
    upper: Any = figure.add_subplot(grid[0])
    lower: Any = figure.add_subplot(grid[1], sharex=upper)
    places = range(len(names))
    for (name, values), colour, line in zip(
        scores.items(), (COLOUR, SECOND, "black"), ("-", "--", ":"), strict=False
    ):
        upper.plot(places, values, marker="o", markersize=4, linestyle=line, color=colour)
        upper.lines[-1].set_label(name)
    # Above the lines, which may run anywhere.
    upper.legend(
        fontsize=POINTS, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(scores)
    )
    upper.tick_params(labelbottom=False)
    upper.margins(y=0.15)
    lower.bar(places, counts, color=PALE)
    for place, count in zip(places, counts, strict=True):
        lower.text(place, count, f"{count:,}", ha="center", va="bottom", fontsize=POINTS - 2)
    lower.margins(y=0.35)
    lower.set_xticks(list(places), list(names))
    lower.set_xlabel(across, fontsize=POINTS)
    lower.set_ylabel(counted, fontsize=POINTS)
    for axes in (upper, lower):
        plain_axes(axes)
    if len(names) > 8:
        lower.tick_params(axis="x", rotation=45)
    return figure
