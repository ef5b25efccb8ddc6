"""A comparison in files: a page that opens without a network, and the same for programs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seqtag.comparison.comparison import Comparison, Pair
from seqtag.evaluation.significance import LEVEL
from seqtag.report.comparison.data import spell_csv, spell_json
from seqtag.report.comparison.markdown import spell_markdown
from seqtag.report.comparison.numbers import defined, spell_interval, spell_number, spell_p
from seqtag.report.comparison.plots import draw_plots
from seqtag.report.comparison.tables import (
    cost_columns,
    environment_rows,
    floors,
    join,
    other_columns,
    other_metrics,
    pair_columns,
    places_of,
    ranks_of,
    score_columns,
    setting_columns,
    spoken_of,
    told_apart,
    told_apart_by_seeds,
    words_at_once,
)
from seqtag.report.comparison.terminal import headline
from seqtag.report.comparison.text import WHOSE, counted
from seqtag.report.lettering import plain
from seqtag.training.run_directory import replace_file

if TYPE_CHECKING:
    from seqtag.report.comparison.attention import AttentionPicture, NoPicture


OPEN = 8
"""Contenders whose verdicts, and pairs whose examples, stand open; the same."""


@dataclass(frozen=True)
class MatrixCell:
    """How the contender of a row stands against that of a column.

    Attributes:
        text: the difference, with its sign.
        kind: ``better``, ``worse``, the same with ``-rows`` where the rows say so and the seeds
            do not, or ``alike``.
        title: the numbers.
    """

    text: str
    kind: str
    title: str


@dataclass(frozen=True)
class Part:
    """A piece of what a contender said, and whether it is not what the gold value has there."""

    text: str
    wrong: bool


def write_report(
    comparison: Comparison, folder: Path, attention: AttentionPicture | NoPicture | None
) -> Path:
    """Write ``report.html``, ``report.md``, ``results.csv`` and ``results.json``.

    Each file is there whole or not at all.

    Args:
        comparison: all that is said.
        folder: made where it is not there.
        attention: a picture, why there is none, or None where none was asked for.

    Returns:
        The path of ``report.html``.
    """
    contents = {
        "results.json": spell_json(comparison),
        "results.csv": spell_csv(comparison),
        "report.md": spell_markdown(comparison),
        "report.html": _page(comparison, attention).encode("utf-8", "backslashreplace"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        replace_file(folder / name, content)
    return folder / "report.html"


def _page(comparison: Comparison, attention: AttentionPicture | NoPicture | None) -> str:
    from jinja2 import Environment, StrictUndefined

    from seqtag.report.comparison.attention import AttentionPicture

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {"plain": plain, "counted": counted}
    script = _template("comparison.js")
    settings = setting_columns(comparison)
    of_floors = len(floors(comparison))
    counts = counted(len(comparison.contenders) - of_floors, "contender")
    return environment.from_string(_template("comparison.html.jinja")).render(
        comparison=comparison,
        counts=f"{counts} and {counted(of_floors, 'floor')}" if of_floors else counts,
        headline=headline(comparison),
        style=Markup(_template("comparison.css")),
        script=Markup(script),
        # No other script may run, whatever a name or an input holds.
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        main=join(score_columns(comparison), cost_columns(comparison)),
        others=other_columns(comparison, intervals=True) if other_metrics(comparison) else None,
        pairs=pair_columns(comparison),
        settings=settings if settings.rows and len(settings.columns) > settings.names else None,
        matrix=_matrix(comparison),
        floors=floors(comparison),
        plots=[(plot, Markup(plot.svg)) for plot in draw_plots(comparison)],
        ranks=ranks_of(comparison),
        spoken=spoken_of(comparison),
        words=words_at_once(comparison),
        whose=WHOSE,
        open=OPEN,
        level=LEVEL,
        environment=environment_rows(comparison.environment),
        picture=_data_uri(attention.png) if isinstance(attention, AttentionPicture) else None,
        attention=attention,
        parts=_parts,
        own_score=_own_score(comparison),
    )


def _matrix(comparison: Comparison) -> dict[str, list[MatrixCell | None]]:
    """Of every contender that was tested, how it stands against each of them, by name.

    None stands on the diagonal, for two floors, and where a score is not defined.
    """
    places = places_of(comparison, comparison.metric)
    cells: dict[tuple[str, str], MatrixCell] = {}
    for pair in comparison.pairs:
        if not defined(pair.difference):
            continue
        better, worse = _kinds(pair)
        title = (
            f"{pair.first} before {pair.second}: {spell_number(pair.difference, places)} "
            f"{spell_interval(pair.low, pair.high, places)}, corrected p {spell_p(pair.corrected)}"
        )
        text = spell_number(pair.difference, places)
        cells[pair.first, pair.second] = MatrixCell(f"+{text}", better, title)
        cells[pair.second, pair.first] = MatrixCell(f"\N{MINUS SIGN}{text}", worse, title)
    tested = {name for two in cells for name in two}
    names = [one.name for one in comparison.contenders if one.name in tested]
    return {row: [cells.get((row, column)) for column in names] for row in names}


def _kinds(pair: Pair) -> tuple[str, str]:
    if not told_apart(pair):
        return "alike", "alike"
    end = "" if told_apart_by_seeds(pair) else "-rows"
    return f"better{end}", f"worse{end}"


def _parts(said: str, gold: str) -> list[Part]:
    """What was said, cut into the parts that are right and those that are not.

    Only where both have as many parts between blanks, as labels of the same elements have.
    """
    words, right = plain(said).split(" "), plain(gold).split(" ")
    if len(words) != len(right):
        return [Part(plain(said), wrong=False)]
    return [Part(word, word != other) for word, other in zip(words, right, strict=True)]


def _own_score(comparison: Comparison) -> Any:
    places = places_of(comparison, comparison.metric)

    def spell(scores: Sequence[float]) -> str:
        return " and ".join(spell_number(score, places) for score in scores)

    return spell


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


@cache
def _template(name: str) -> str:
    return files("seqtag.report").joinpath("templates", name).read_text(encoding="utf-8")
