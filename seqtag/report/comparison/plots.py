"""The plots of a comparison: scores with their intervals, learning curves, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seqtag.comparison.comparison import Comparison, Contender, Curve, Score
from seqtag.report.comparison.figure import (
    COLOURS,
    OTHERS,
    TEXT,
    colour,
    draw_svg,
    label,
    marker,
)
from seqtag.report.comparison.numbers import defined, spell_number
from seqtag.report.comparison.tables import places_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.24
"""Inches of a contender in the plot of scores."""

AROUND = 0.8
"""Inches of that plot's axis and margins."""

TALL = 3.2
"""Inches of the other plots, legend left out."""

LINE = 0.17
"""Inches of a line of a legend."""

TWO_ACROSS = 22
"""Characters of a name in a legend of two columns."""

APART = 0.055
"""How far apart two numbers beside points must be, as a part of the axes."""


@dataclass(frozen=True)
class Plot:
    """A picture for the page.

    Attributes:
        title: over it.
        caption: what is to be seen.
        svg: an element.
    """

    title: str
    caption: str
    svg: str


def draw_plots(comparison: Comparison) -> list[Plot]:
    """Those for which there are numbers."""
    ranked = list(enumerate(comparison.contenders))
    scored = [(n, one, s) for n, one in ranked if (s := _score(comparison, one)) is not None]
    plots = []
    if scored:
        height = AROUND + ROW * len(scored)
        svg = draw_svg(height, "scores", lambda figure: _scores(figure, comparison, scored))
        floors = " Squares are floors." if any(one.floor for _, one, _ in scored) else ""
        caption = (
            "A line is the 95 per cent interval of the mean over the rows, its marker the mean, "
            f"and each faint dot a seed.{floors}"
        )
        plots.append(Plot(f"{comparison.metric}, {comparison.split}", caption, svg))
    curves = [(n, one) for n, one in ranked if any(map(_drawn, one.curves))]
    if curves:
        shown = [label(n + 1, one.name) for n, one in curves[: len(COLOURS)]]
        across = 1 if max(map(len, shown)) > TWO_ACROSS else 2
        height = TALL + LINE * (math.ceil(len(shown) / across) + 1)
        svg = draw_svg(height, "curves", lambda figure: _curves(figure, comparison, curves, across))
        caption = (
            "Thin lines are runs, thick ones their mean for as long as every run went on; a single "
            "run has one line."
        )
        if len(curves) > len(COLOURS):
            caption += f" Beyond the best {len(COLOURS)}, means alone, in grey."
        plots.append(Plot(f"Learning curves: {comparison.metric} on dev", caption, svg))
    for title, salt, cost in _costs():
        points = [(n, one, s, c) for n, one, s in scored if defined(c := cost(one)) and c]
        if points:
            svg = draw_svg(TALL, salt, _scatter(comparison, points, title))
            caption = "The numbers are those of the table, as far as there is room for them."
            plots.append(Plot(f"{comparison.metric} against {title}", caption, svg))
    return plots


def _costs() -> Iterator[tuple[str, str, Callable[[Contender], float | None]]]:
    yield "parameters", "parameters", lambda one: one.parameters
    yield "seconds of training", "seconds", lambda one: one.seconds


def _score(comparison: Comparison, one: Contender) -> Score | None:
    score = one.scores.get(comparison.metric)
    return score if score is not None and math.isfinite(score.mean) else None


def _scores(
    figure: Figure, comparison: Comparison, scored: Sequence[tuple[int, Contender, Score]]
) -> None:
    axes = figure.add_subplot()
    low, high = _range(scored)
    for row, (number, one, score) in enumerate(scored):
        tint = OTHERS if one.floor is not None else colour(number)
        if not low <= score.mean <= high:
            # A floor far away would press all others into one corner.
            left = score.mean < low
            text = spell_number(score.mean, places_of(comparison, comparison.metric))
            axes.text(
                low if left else high,
                row,
                f"◂ {text}" if left else f"{text} ▸",
                ha="left" if left else "right",
                va="center",
                fontsize=8,
            )
            continue
        if defined(score.low) and defined(score.high):
            axes.plot([score.low, score.high], [row, row], color=tint, linewidth=2.2, alpha=0.8)
        seeds = [value for value in score.seeds if math.isfinite(value)]
        if len(seeds) > 1:
            axes.plot(seeds, [row] * len(seeds), "o", color=TEXT, markersize=2.5, alpha=0.4)
        shape = "s" if one.floor is not None else "o"
        axes.plot([score.mean], [row], shape, color=tint, markersize=6)
    axes.set_yticks(range(len(scored)), [label(n + 1, one.name) for n, one, _ in scored])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(scored) - 0.4, -0.6)
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(comparison.metric)


def _range(scored: Sequence[tuple[int, Contender, Score]]) -> tuple[float, float]:
    """Ends of the axis: all that belongs to runs, and floors that are not far away."""
    runs = [score for _, one, score in scored if one.floor is None] or [s for _, _, s in scored]
    values = [
        value
        for score in runs
        for value in (score.mean, score.low, score.high, *score.seeds)
        if math.isfinite(value)
    ]
    low, high = min(values), max(values)
    wide = (high - low) or abs(high) * 0.1 or 1.0
    for _, _, score in scored:
        ends = [value for value in (score.mean, score.low, score.high) if math.isfinite(value)]
        if low - wide <= min(ends) and max(ends) <= high + wide:
            low, high = min(low, *ends), max(high, *ends)
    margin = 0.06 * ((high - low) or wide)
    return low - margin, high + margin


def _curves(
    figure: Figure, comparison: Comparison, curves: Sequence[tuple[int, Contender]], across: int
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    # The best are drawn last, on top.
    for number, one in reversed(curves):
        drawn = [curve for curve in one.curves if _drawn(curve)]
        tint, best = colour(number), number < len(COLOURS)
        if best:
            for curve in drawn:
                axes.plot(curve.epochs, _gaps(curve.dev), color=tint, linewidth=0.7, alpha=0.5)
        epochs, mean = _mean(drawn)
        axes.plot(
            epochs,
            mean,
            color=tint,
            linewidth=1.8 if best else 0.8,
            alpha=1 if best else 0.6,
            marker=marker(number) if best else None,
            markersize=4,
            markevery=max(1, len(epochs) // 6),
            label=label(number + 1, one.name) if best else None,
        )
    if any(number >= len(COLOURS) for number, _ in curves):
        axes.plot([], [], color=OTHERS, linewidth=0.8, label="the others")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_xlabel("epoch")
    axes.set_ylabel(f"dev {comparison.metric}")
    handles, names = axes.get_legend_handles_labels()
    others = [n for n in range(len(names)) if names[n] == "the others"]
    order = [n for n in reversed(range(len(names))) if n not in others] + others
    figure.legend(
        [handles[n] for n in order],
        [names[n] for n in order],
        loc="outside lower left",
        ncols=across,
    )


def _drawn(curve: Curve) -> bool:
    return any(map(defined, curve.dev))


def _gaps(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _mean(curves: Sequence[Curve]) -> tuple[list[int], list[float]]:
    """Epochs that every run has, and the mean of their scores."""
    tables = [dict(zip(curve.epochs, _gaps(curve.dev), strict=True)) for curve in curves]
    epochs = sorted(set.intersection(*map(set, tables)))
    return epochs, [sum(table[epoch] for table in tables) / len(tables) for epoch in epochs]


def _scatter(
    comparison: Comparison, points: Sequence[tuple[int, Contender, Score, float]], title: str
) -> Callable[[Figure], None]:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def plot(figure: Figure) -> None:
        axes: Axes = figure.add_subplot()
        for number, _, score, cost in reversed(points):
            tint = colour(number)
            if defined(score.low) and defined(score.high):
                ends = [score.low, score.high]
                axes.plot([cost, cost], ends, color=tint, linewidth=1.2, alpha=0.6)
            axes.plot([cost], [score.mean], marker(number), color=tint, markersize=6)
        costs = [cost for *_, cost in points]
        if min(costs) > 0 and max(costs) > 10 * min(costs):
            axes.set_xscale("log")
            # Two or three numbers of a power of ten where there are few of those.
            spans = math.log10(max(costs) / min(costs))
            steps = [1, 2, 5] if spans < 2 else [1, 3] if spans < 3.5 else [1]
            axes.xaxis.set_major_locator(LogLocator(subs=steps))
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.locator_params(axis="x", nbins=5)
            axes.margins(x=0.1)
        axes.xaxis.set_major_formatter(FuncFormatter(_spell_tick))
        axes.set_xlabel(title)
        axes.set_ylabel(comparison.metric)
        _number(axes, points)

    return plot


def _number(axes: Axes, points: Sequence[tuple[int, Contender, Score, float]]) -> None:
    """Write ranks beside the points, the best first, where no other rank stands."""
    axes.autoscale_view()  # else the limits are not yet those of the points
    to_axes = axes.transData + axes.transAxes.inverted()
    taken: list[tuple[float, float]] = []
    for number, _, score, cost in points:
        x, y = to_axes.transform((cost, score.mean))
        if any(abs(x - other) < APART and abs(y - above) < APART for other, above in taken):
            continue
        taken.append((x, y))
        axes.annotate(
            str(number + 1),
            (cost, score.mean),
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=8,
        )


def _spell_tick(value: float, _: int) -> str:
    """``500``, ``20k``, ``1.5M``: short, and no power of ten."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
