"""Time series of several channels, one series a line: the ``.ts`` format of the UCR/UEA archive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row, length, place
from seqtag.data.readers.columns import listed
from seqtag.data.readers.lines import BLANKS, Line, bad_line, excerpt, split_line_end
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.ts.header import COMMENT, DATA, KEY, TsHeader, TsRow, split_header
from seqtag.data.readers.ts.writer import TsWriter
from seqtag.data.readers.values import parse_number, spell
from seqtag.data.readers.writer import Writer

CHANNELS, LABEL = "channels", "label"
MISSING_VALUES = frozenset({"?", "nan"})
"""How the archive spells a value that is not there, in lower case."""


UNWRITABLE = frozenset(":\r\n")


@dataclass(kw_only=True)
class TsReader(Reader):
    """A series a line: channels with ``:`` between, their values with ``,``, the label last.

    A row's vectors hold at each time the values of all channels, or of those that ``data.input``
    numbers. Comments and ``@`` lines are kept, and so is everything between two series. The label
    is that of the last ``:``, where the header says that there is one; for a task with a target
    for each element it is split by the target tokenizer.

    Args:
        fill: number in place of values that are missing (``?`` or ``NaN``); None: they are errors.
    """

    fill: float | None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._chosen: list[int] = []
        if isinstance(self.input, list):
            self._chosen = [column for column in self.input if isinstance(column, int)]
        wrong = (
            len(self._chosen) < len(self.input)
            if isinstance(self.input, list)
            else (self.input != CHANNELS)
        )
        if wrong or min(self._chosen, default=0) < 0:
            raise ValueError(
                f"data.input={self.input}: give {CHANNELS}, for all of them, or a list of their "
                "numbers, from 0"
            )
        if listed(self.target) not in ([LABEL], []):
            raise ValueError(f"data.target={self.target}: a .ts file has {LABEL}, or null for none")
        for key in ("features", "numeric_features", "further_input", "references", "mask"):
            if columns := getattr(self, key):
                raise ValueError(f"data.{key}={columns}: a .ts file has channels and a label only")

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per series, as soon as the next one is there."""
        leading, lines = self._lines(stream, name)
        kept, header = self._read_header(lines, name)
        if header is None:
            return
        leading += kept
        channels: int | None = None
        length: int | None = None
        held: TsRow | None = None
        for line in lines:
            if _is_between(line):
                # Before the first series it belongs to the header, else to the series before.
                if held is None:
                    leading += line.raw
                else:
                    held["raw"] += line.raw
                continue
            if held is not None:
                yield held
                held = None
            row = TsRow(
                target=None,
                file=name,
                line=line.number,
                leading=leading,
                raw=line.raw,
                header=header,
            )
            try:
                count = self._fill_row(row, line.text, header, channels)
            except ValueError as error:
                self._fault(bad_line(name, line.number, str(error), line.text))
                continue
            leading = ""
            channels = count
            length = len(row["vectors"]) if length is None else length
            if header.equal_length and len(row["vectors"]) != length:
                problem = f"a series of {len(row['vectors'])} values where the first has {length}"
                self._warn(name, line.number, f"@equalLength true, and {problem}")
            held = row
        if held is not None:
            yield held

    def _read_header(self, lines: Iterator[Line], name: str) -> tuple[str, TsHeader | None]:
        """The verbatim lines up to ``@data`` and what they say; None where that cannot be used."""
        found: dict[str, str] = {}
        kept: list[str] = []
        for line in lines:
            kept.append(line.raw)
            if _is_between(line):
                continue
            key, value = split_header(line.text)
            try:
                if not line.text.strip(BLANKS).startswith(KEY):
                    raise ValueError(f"a series before the line {KEY}{DATA}")
                if key == DATA:
                    return "".join(kept), self._checked(TsHeader.of(found))
            except ValueError as error:
                self._fault(bad_line(name, line.number, str(error), line.text))
                return "", None
            found[key] = value
        if kept:
            self._fault(ValueError(f"{name}: no line {KEY}{DATA}; a .ts file has its series there"))
        return "", None

    def _checked(self, header: TsHeader) -> TsHeader:
        if self.read_target and self.target is not None and not header.labelled:
            raise ValueError(
                "the file has no labels (neither @classLabel true NAMES nor @targetLabel true); "
                "set data.target=null, or name a file with labels"
            )
        return header

    def _fill_row(self, row: Row, text: str, header: TsHeader, channels: int | None) -> int:
        """Put a series into its row; how many channels it has."""
        parts = text.strip(BLANKS).split(":")
        label = parts.pop() if header.labelled else ""
        if not parts:
            raise ValueError("one part where channels and a label are expected, with : between")
        if len(parts) != (channels or header.dimensions or len(parts)):
            there = "the first series has" if channels else "@dimensions says"
            raise ValueError(f"{len(parts)} channels where {there} {channels or header.dimensions}")
        series = [self._values(part, number) for number, part in enumerate(parts)]
        for number, values in enumerate(series):
            if len(values) != len(series[0]):
                raise ValueError(
                    f"channel {number} has {len(values)} values and channel 0 has "
                    f"{len(series[0])}; all channels of a series are of one length"
                )
        if max(self._chosen, default=0) >= len(series):
            raise ValueError(f"data.input={self.input}: the series has {len(series)} channels")
        chosen = [series[number] for number in self._chosen] or series
        row["vectors"] = [list(values) for values in zip(*chosen, strict=True)]
        if self.read_target and self.target is not None:
            target = self.values.combined([self.values.cells(label)], len(row["vectors"]))
            if unnamed := header.unnamed(self._names(target)):
                raise ValueError(f"the label {unnamed[0]!r} is none of those of @classLabel")
            row["target"] = target
        return len(parts)

    def _values(self, part: str, number: int) -> list[float]:
        if not part.strip(BLANKS):
            return []
        if "(" in part:
            raise ValueError(
                "values with timestamps, (time,value), are not read; give values at even steps"
            )
        return [self._number(cell.strip(BLANKS), number) for cell in part.split(",")]

    def _number(self, text: str, channel: int) -> float:
        if text.lower() in MISSING_VALUES:
            if self.fill is None:
                raise ValueError(
                    f"channel {channel} has a missing value ({text}); data.reader.fill=0.0 puts "
                    "that number in its place"
                )
            return self.fill
        try:
            return parse_number(text)
        except ValueError as error:
            raise ValueError(f"channel {channel}: {error}") from None

    def write(self, row: Row, output: Output) -> str:
        """The series with the prediction as its label, where the header already names it.

        ``writer`` gives a header that names all labels.
        """
        header = cast(TsRow, row)["header"]
        text = self._relabelled(row, output)
        if header.unnamed(self._names(output.value)) or not header.labelled:
            raise ValueError(
                f"{place(row)}: the header has no @classLabel {excerpt(str(output.value))}"
            )
        return row["leading"] + text

    def writer(self, stream: BinaryIO) -> Writer:
        """Writes the series behind a header that names all their labels."""
        return TsWriter(stream, spell=self._relabelled, names=self._names, encoding=self.encoding)

    def _relabelled(self, row: Row, output: Output) -> str:
        """The verbatim lines of a series, with the prediction as its label."""
        if output.probabilities is not None:
            raise ValueError(
                f"{place(row)}: a .ts file has no place for probabilities; write it as jsonl"
            )
        first, newline, rest = row["raw"].partition("\n")
        text, end = split_line_end(first + newline)
        if cast(TsRow, row)["header"].labelled:
            text, _, label = text.rpartition(":")
            if self._held(label, row, output.value):
                return row["raw"]
        # No element, and no label of several, are written as what is missing.
        value = None if output.value == [] else output.value
        written = (
            self.values.join(value)
            if isinstance(value, list)
            else spell(self.missing if value is None else value)
        )
        if self.values.cells(written) != (
            value if isinstance(value, list | None) else spell(value)
        ) or (UNWRITABLE & set(written)):
            raise ValueError(f"{place(row)}: {excerpt(written)} cannot be a label of a .ts file")
        return f"{text}:{written}{end}{rest}"

    def _held(self, label: str, row: Row, value: Any) -> bool:
        """Whether the series already has this label; then its spelling stays as it is."""
        try:
            return self.values.same(
                self.values.combined([self.values.cells(label)], length(row)), value
            )
        except ValueError:
            return False

    def _names(self, value: Any) -> list[str]:
        """The labels in a target or prediction; numbers are none."""
        cells = value if isinstance(value, list) else [value]
        return [cell for cell in cells if isinstance(cell, str)]


def _is_between(line: Line) -> bool:
    text = line.text.strip(BLANKS)
    return not text or text.startswith(COMMENT)
