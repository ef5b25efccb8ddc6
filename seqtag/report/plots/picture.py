"""A picture that is drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(NamedTuple):
    """What a PNG file will show.

    Attributes:
        name: of the file.
        draw: makes the figure; matplotlib, which takes a second to import, is imported there.
    """

    name: str
    draw: Callable[[], Figure]

    def write(self, folder: Path) -> None:
        """Write ``NAME.png``."""
        figure = self.draw()
        # Called after it is drawn: the canvas module is matplotlib's too.
        from seqtag.report.plots.style import save

        save(figure, folder / f"{self.name}.png")
