"""What the measurements say, on one page: a verdict, a plot and a table for each claim."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from seqtag.claims.claim import Claim, Row, Verdict
from seqtag.claims.job import Measured
from seqtag.training.run_directory import replace_file, write_json

SIZE = (8.0, 4.5)
"""Inches of a plot."""

DOTS_PER_INCH = 130

INTERVALS = (
    "Intervals are of 95 per cent (Student's t over the seeds); one seed has none, and is taken as "
    "it is."
)


@dataclass(frozen=True)
class Report:
    """A claim that was measured.

    Attributes:
        name: of the claim's yaml.
        claim: the claim.
        verdict: what the rows say.
        rows: of all seeds.
        circumstances: of the measurement, such as the machine.
        columns: of the table.
        table: means over seeds with their intervals, as text.
        svg: the plot.
        png: the same.
    """

    name: str
    claim: Claim
    verdict: Verdict
    rows: list[Row]
    circumstances: dict[str, str]
    columns: tuple[str, ...]
    table: list[tuple[str, ...]]
    svg: str
    png: bytes

    @property
    def held(self) -> str:
        """Whether the claim held, in a word or two."""
        return "held" if self.verdict.held else "did not hold"

    @property
    def measured(self) -> str:
        """Seeds and circumstances, to read."""
        named = (f"{name} {value}" for name, value in self.circumstances.items())
        return f"Seeds {', '.join(map(str, self.claim.seeds))}; {'; '.join(named)}."


def make_report(name: str, claim: Claim, measured: Measured) -> Report:
    """Judge, draw and tabulate the rows of all seeds of a claim."""
    rows = measured.rows
    svg, png = _draw(claim, rows)
    intervals = {measure: claim.intervals(rows, measure) for measure in claim.measures}
    combinations = list(dict.fromkeys(tuple(row[key] for key in claim.keys) for row in rows))
    table = [
        (
            *map(str, combination),
            *(
                found[combination].spell() if combination in found else "-"
                for found in intervals.values()
            ),
        )
        for combination in combinations
    ]
    columns = (*claim.keys, *claim.measures)
    return Report(
        name, claim, claim.verdict(rows), rows, measured.circumstances, columns, table, svg, png
    )


def _draw(claim: Claim, rows: Sequence[Row]) -> tuple[str, bytes]:
    import matplotlib

    # A backend of its own: no window, and no state left in pyplot.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # The same picture gives the same file, so that a repeated measurement shows what changed.
    with matplotlib.rc_context({"svg.hashsalt": "seqtag", "svg.fonttype": "none"}):
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        claim.plot(figure, rows)
        vector, pixels = io.StringIO(), io.BytesIO()
        figure.savefig(vector, format="svg", metadata={"Date": None})
        figure.savefig(pixels, format="png", dpi=DOTS_PER_INCH)
    return vector.getvalue(), pixels.getvalue()


def write_report(report: Report, folder: Path) -> None:
    """Write ``table.csv`` (every row of every seed), ``plot.svg`` and ``plot.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        ["seed", *report.columns],
        extrasaction="ignore",
        lineterminator="\n",
    )
    writer.writeheader()
    writer.writerows(report.rows)
    replace_file(folder / "table.csv", text.getvalue().encode())
    replace_file(folder / "plot.svg", report.svg.encode())
    replace_file(folder / "plot.png", report.png)


def write_page(reports: Sequence[Report], folder: Path) -> Path:
    """Write ``page.html``, which opens without a network, ``page.md`` and ``verdicts.json``.

    Args:
        reports: in the order of the page.
        folder: that of the claims' own folders, or the own folder of the only one.

    Returns:
        The path of ``page.html``.
    """
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = files("seqtag.claims").joinpath("page.html.jinja").read_text(encoding="utf-8")
    html = environment.from_string(template).render(
        reports=reports, intervals=INTERVALS, picture=_picture
    )
    page = folder / "page.html"
    replace_file(page, html.encode())
    replace_file(folder / "page.md", _markdown(reports, folder).encode())
    verdicts = [
        {"name": r.name, "held": r.held, "line": r.verdict.line, "measured": r.measured}
        for r in reports
    ]
    write_json(folder / "verdicts.json", verdicts)
    return page


def _picture(report: Report) -> Markup:
    """The plot to stand in a page: without the XML declaration, which only a file may have."""
    return Markup(report.svg[report.svg.index("<svg") :])


def _markdown(reports: Sequence[Report], folder: Path) -> str:
    lines = [
        "# The claims, measured",
        "",
        "| claim | held | |",
        "|---|---|---|",
        *(f"| [`{r.name}`](#{r.name}) | {r.held} | {r.verdict.line} |" for r in reports),
        "",
        INTERVALS,
    ]
    for report in reports:
        lines += [
            "",
            f"## {report.name}",
            "",
            f"**{report.claim.title}** {report.held.capitalize()}: {report.verdict.line}",
            "",
            f"{report.verdict.paragraph} {report.measured}",
            "",
            f"![{report.name}]({'' if folder.name == report.name else report.name + '/'}plot.png)",
            "",
            f"| {' | '.join(report.columns)} |",
            f"|{'---|' * len(report.columns)}",
            *(f"| {' | '.join(cells)} |" for cells in report.table),
        ]
    return "\n".join(lines) + "\n"
