"""Everything that an evaluation says of a split: on the terminal, and in files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from seqtag.datamodule import DataModule
from seqtag.evaluation.metrics import Measure
from seqtag.floors.floor import ConstantFloor
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.lengths import by_length, by_source
from seqtag.report.analyses.reliability import reliability
from seqtag.report.analyses.table import Table
from seqtag.report.plots.bars import draw_bars
from seqtag.report.plots.picture import Picture
from seqtag.training.results import ScoredSplit


class Evaluation:
    """The tables and pictures of a scored split.

    Args:
        data: with the split.
        scored: what the model gives on it.
        analysis: that has seen every batch.
        selection: name of the score that is drawn by length.
    """

    def __init__(
        self, data: DataModule, scored: ScoredSplit, analysis: Analysis, *, selection: str
    ) -> None:
        self._analysis = analysis
        measures = data.task.metrics(scored.split.spec)
        lengths = scored.split.encoded.lengths()[scored.table["row"]]
        self._lengths = by_length(
            lengths,
            scored.table,
            measures,
            first=selection,
            per_element=data.task.per_element,
        )
        self.tables: list[Table] = [*analysis.tables(), self._lengths]
        self._remarks = list(analysis.remarks())
        if data.task.sequence:
            self._by_source(data, scored, measures, first=selection)
        self.pictures: list[Picture] = [*analysis.pictures(), self._picture_by_length(selection)]
        for table, picture in reliability(scored, measures):
            self.tables.append(table)
            self.pictures.append(picture)

    def content(self) -> dict[str, Any]:
        """All of it as plain values."""
        return self._analysis.facts() | {table.name: table.plain() for table in self.tables}

    def show(self) -> None:
        """Print the tables, rounded."""
        for table in self.tables:
            table.show()
        for line in self._remarks:
            print(line)

    def write_tables(self, folder: Path) -> None:
        """Write a CSV file for each table, in full precision."""
        for table in self.tables:
            table.write(folder)

    def write_pictures(self, folder: Path) -> None:
        """Write a PNG file for each picture."""
        for picture in self.pictures:
            picture.write(folder)

    def _by_source(
        self, data: DataModule, scored: ScoredSplit, measures: Mapping[str, Measure], *, first: str
    ) -> None:
        seen = data.seen_in_training(scored.split.name)
        if seen is None:
            self._remarks.append(
                "whether training has an input as a whole is not known: its files are not there"
            )
            return
        rows = scored.table["row"]
        self.tables.append(by_source(seen[rows], scored.table, measures, first=first))

    def _picture_by_length(self, selection: str) -> Picture:
        columns = dict(
            zip(self._lengths.columns, zip(*self._lengths.rows, strict=True), strict=True)
        )
        scores = {selection: columns[selection]}
        floor = f"{ConstantFloor.name}/{selection}"
        if floor in columns:
            scores[floor.replace("/", " ")] = columns[floor]
        draw = partial(
            draw_bars,
            columns["length"],
            scores,
            columns["rows"],
            across="length of the row, in elements",
            counted="rows",
        )
        return Picture("by_length", draw)
