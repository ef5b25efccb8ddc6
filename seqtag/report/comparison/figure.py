"""Drawings for a page: vector pictures whose lines and texts take the colour of the page's text."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from seqtag.report.lettering import CUT, LONGEST_LABEL, clusters, columns, legible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.5
"""Inches, so narrow that the letters are still to be read on a telephone."""

POINTS = 9

TEXT = "#0a0b0d"
"""Drawn with this, and written to the page as its own colour of text, light or dark."""

COLOURS = (
    "#3b7dd8",
    "#d9641e",
    "#2f9e5b",
    "#c24f9b",
    "#8a6fd1",
    "#a88400",
    "#1b9aaa",
    "#d64545",
)
"""For the first contenders; each stands out from white and from black."""

MARKERS = "os^DvPX*"
"""The same contenders for who does not see colours."""

OTHERS = "#8b8f98"
"""For all further contenders."""

STYLE: dict[Any, Any] = {
    "font.size": POINTS,
    "text.parse_math": False,  # a name may hold dollars
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": TEXT,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.6,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.fontsize": POINTS - 1,
    "svg.fonttype": "none",  # texts stay texts, in the fonts of the reader
}


def colour(number: int) -> str:
    """Of the contender with this number, from 0."""
    return COLOURS[number] if number < len(COLOURS) else OTHERS


def marker(number: int) -> str:
    """Of the contender with this number, from 0."""
    return MARKERS[number] if number < len(MARKERS) else "."


def label(rank: int, name: str) -> str:
    """Rank and name as they stand in a plot; a long name is cut."""
    shown = " ".join(map(legible, name.split(" ")))
    if columns(shown) > LONGEST_LABEL:
        parts = clusters(shown)
        while columns("".join(parts)) >= LONGEST_LABEL:
            parts.pop()
        shown = "".join(parts) + CUT
    return f"{rank} {shown}"


def draw_svg(height: float, salt: str, plot: Callable[[Figure], None]) -> str:
    """An ``<svg>`` element.

    Args:
        height: inches.
        salt: another one for every picture of a page, so that no two name a part alike.
        plot: fills the figure.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    stream = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": salt}), warnings.catch_warnings():
        # A character that the measuring font lacks is drawn with the reader's.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        plot(figure)
        for axes in figure.axes:
            axes.patch.set_alpha(0)
        figure.savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # Groups are named alike in every picture, and nothing refers to them.
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    numbers = count()
    found: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        if match[2] not in found:
            found[match[2]] = f"{salt}-{next(numbers)}"
        return f"{match[1]}{found[match[2]]}"

    # Shorter names, and no two alike on a page.
    text = re.sub(r'((?:\bid="|href="#|url\(#))([^")]+)', rename, text)
    return text.replace(TEXT, "currentColor")
