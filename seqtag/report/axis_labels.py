"""What is written along the axes of a picture of tokens, and how much room it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from seqtag.report.lettering import stacked

DOTS_PER_INCH = 150
NUMBERS = 8
"""About so many stand along an axis that is too long for its tokens."""


@dataclass(frozen=True)
class Label:
    """A text at one cell of an axis.

    Attributes:
        cell: its number from 0.
        text: perhaps of several lines.
        upright: False where it is turned by 90 degrees.
        width: in inches, as it stands.
        height: likewise.
    """

    cell: float
    text: str
    upright: bool
    width: float
    height: float


class Ruler:
    """Measures texts.

    Args:
        font: arguments of matplotlib's texts.
    """

    def __init__(self, font: dict[str, Any]) -> None:
        self.font = font
        self.figure = Figure(dpi=DOTS_PER_INCH)  # hinting rounds otherwise at other sizes
        FigureCanvasAgg(self.figure)

    def measure(self, text: str) -> tuple[float, float]:
        """Width and height in inches."""
        artist = self.figure.text(0, 0, text, parse_math=False, **self.font)
        box = artist.get_window_extent()
        artist.remove()
        return box.width / DOTS_PER_INCH, box.height / DOTS_PER_INCH


def axis_labels(
    tokens: Sequence[str], cell: float, longest: int, ruler: Ruler, *, across: bool
) -> list[Label]:
    """What is written along an axis.

    Along the x axis all is upright where each token is as narrow as its cell. Else tokens are
    turned, but for single characters, and for words of wide characters, which are read from top to
    bottom as they stand.

    Args:
        tokens: legible ones, a cell each.
        cell: inches from one to the next.
        longest: an axis of more cells than these has numbers here and there.
        ruler: of the font.
        across: whether it is the x axis.
    """
    if len(tokens) > longest:
        step = _step(len(tokens))
        cells = [0, *range(step - 1, len(tokens), step)] if step > 1 else range(len(tokens))
        numbered = [(float(index), str(index + 1)) for index in cells]
        return [Label(where, text, True, *ruler.measure(text)) for where, text in numbered]
    sizes = {text: ruler.measure(text) for text in tokens}
    upright = not across or all(width <= cell for width, _ in sizes.values())
    labels = []
    for where, text in enumerate(tokens):
        column = None if upright else stacked(text)
        if upright:
            label = Label(where, text, True, *sizes[text])
        elif column is not None:
            label = Label(where, column, True, *ruler.measure(column))
        else:
            label = Label(where, text, False, *reversed(sizes[text]))
        labels.append(label)
    return labels


def _step(count: int) -> int:
    """The distance between numbers of an axis, such that they are few and round."""
    least = count / NUMBERS
    power = 10 ** math.floor(math.log10(least)) if least >= 1 else 1
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least))
