"""What is predicted for each gold label, as shares of the gold label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 30
"""Labels that have a row and a column of their own; the others share one."""

WRITTEN = 15
"""Up to so many labels have each count written into its cell."""

CELL = 0.28
OTHERS = "(others)"


def draw_confusion(counts: Mapping[tuple[str, str], int]) -> Figure:
    """A grid: gold labels down, predicted ones across, the most frequent first.

    Args:
        counts: by gold and predicted label; not empty.
    """
    from seqtag.report.lettering import legible
    from seqtag.report.plots.style import POINTS, font_for, new_figure

    names, grid = chosen(counts)
    labels = [legible(name) if name != OTHERS else name for name in names]
    font = font_for(labels)
    cell = CELL * (1.6 if len(names) <= WRITTEN else 1)
    side = cell * len(names)
    longest = 0.075 * max(map(len, labels))
    figure = new_figure(max(3.2, side + longest + 1.3), max(2.8, side + longest + 0.8))
    axes: Any = figure.add_subplot()
    gold = grid.sum(axis=1, keepdims=True)
    shares = np.divide(grid, gold, out=np.zeros(grid.shape), where=gold > 0)
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    places = range(len(names))
    axes.set_xticks(list(places), labels, rotation=90, parse_math=False, **font)
    axes.set_yticks(list(places), labels, parse_math=False, **font)
    axes.set_xlabel("predicted", fontsize=POINTS)
    axes.set_ylabel("gold", fontsize=POINTS)
    if len(names) <= WRITTEN:
        for row, column in zip(*np.nonzero(grid), strict=True):
            axes.text(
                column,
                row,
                _short(int(grid[row, column])),
                ha="center",
                va="center",
                fontsize=POINTS - 2,
                color="white" if shares[row, column] > 0.6 else "black",
            )
    bar = figure.colorbar(image, ax=axes, shrink=0.5)
    bar.set_label("share of the gold label", fontsize=POINTS)
    bar.ax.tick_params(labelsize=POINTS)
    return figure


def chosen(counts: Mapping[tuple[str, str], int]) -> tuple[list[str], Any]:
    """The labels that are drawn, and how often each is predicted for each, ``[gold, predicted]``.

    Where there are too many, the rarer ones are taken together as the last.
    """
    totals: Counter[str] = Counter()
    for (gold, predicted), count in counts.items():
        totals[gold] += count
        totals[predicted] += count
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    kept = ranked if len(ranked) <= MOST else [*ranked[: MOST - 1], OTHERS]
    places = {name: place for place, name in enumerate(kept)}
    last = len(kept) - 1
    grid = np.zeros((len(kept), len(kept)))
    for (gold, predicted), count in counts.items():
        grid[places.get(gold, last), places.get(predicted, last)] += count
    return kept, grid


def _short(count: int) -> str:
    return str(count) if count < 10_000 else f"{count / 1000:.0f}k"
