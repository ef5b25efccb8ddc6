"""Parallel text: files of which each holds one side of every row, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.cell_reader import CellReader
from seqtag.data.readers.columns import Column
from seqtag.data.readers.files import find_files, open_stream
from seqtag.data.readers.lines import Line, bad_line, excerpt, split_line_end
from seqtag.data.readers.raw import LinesReader, spell_line
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import BETWEEN_WORDS

COMPRESSED = ".gz"


class ParallelRow(Row, total=False):
    """A row of aligned files."""

    answer: str
    """The line of the target's file, as it stands there."""


@dataclass(kw_only=True)
class ParallelReader(CellReader):
    """Rows over several files: ``PATH/train`` with the columns de and en is train.de and train.en.

    A column is an ending of the files' names, after the convention of Moses and OpenNMT; ``.gz``
    may follow it. Line n of every file belongs to row n, so all have as many lines. An empty line
    of the input's file is an empty row, one of the target's a missing target. What is written is
    the target's file.

    A single stream, as ``predict`` gets one, is the input's file alone and read as raw lines are.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        targets = [] if self.target is None else [self.target]
        others = [column for columns in self._other_columns().values() for column in columns]
        columns = [self.input, *targets, *others]
        for column in columns:
            if not isinstance(column, str) or not column:
                raise ValueError(
                    f"data.input={self.input} data.target={self.target}: {column!r} is no ending; "
                    "parallel files need an ending each, such as data.input=de data.target=en"
                )
        twice = next((column for column in columns if columns.count(column) > 1), None)
        if twice is not None:
            raise ValueError(
                f"data: the ending {twice!r} is named twice; each has a file of its own"
            )

    def paths(self, given: str) -> list[Path]:
        """All files that a common part of names, a folder or a pattern stands for."""
        return [path for group in self._groups(given) for path in group.values()]

    def parts(self, given: str) -> list[str]:
        """The common part of the names of each row of files."""
        return self._prefixes(given)

    def _groups(self, given: str) -> list[dict[Column, Path]]:
        """The files of each column, for every file of the input."""
        return [
            {column: _side(prefix, column) for column in self._columns()}
            for prefix in self._prefixes(given)
        ]

    def _prefixes(self, given: str) -> list[str]:
        ending = f".{self.input}"
        endings = (ending, ending + COMPRESSED)
        path = Path(given).expanduser()
        sources = [path for end in endings for path in _existing(given + end)]
        if not sources and path.is_dir():
            sources = [file for file in find_files(given) if file.name.endswith(endings)]
            if not sources:
                raise ValueError(f"{given}: this folder holds no file that ends in {ending}")
        if not sources and path.is_file() and given.endswith(endings):
            raise ValueError(
                f"{given}: name what the files have in common, {given[: given.rindex(ending)]}, "
                f"without the ending {ending}"
            )
        if not sources:
            raise _missing(f"{given}{ending}")
        return sorted({str(path).removesuffix(COMPRESSED).removesuffix(ending) for path in sources})

    def _columns(self) -> list[Column]:
        """All endings that are read, the input's first."""
        targets = [self.target] if self.read_target and self.target is not None else []
        others = [column for columns in self._other_columns().values() for column in columns]
        return cast(list[Column], [self.input, *targets, *others])

    def read_all(self, given: str) -> Iterator[Row]:
        """Yield the rows of all files that stand for a split, line by line."""
        for group in self._groups(given):
            with ExitStack() as stack:
                streams = [stack.enter_context(open_stream(str(p))) for p in group.values()]
                yield from self._aligned(group, streams)

    @contextmanager
    def opened(self, part: str) -> Iterator[Iterator[Row]]:
        """The rows of the files that have this beginning in common."""
        yield self.read_all(part)

    def _aligned(self, files: dict[Column, Path], streams: list[BinaryIO]) -> Iterator[Row]:
        sides = [
            self._every_line(stream, str(path))
            for path, stream in zip(files.values(), streams, strict=True)
        ]
        name = str(next(iter(files.values())))
        answer = list(files).index(self.target) if self.target in files else None
        leading = "" if answer is None else sides[answer][0]
        number = self.skip_lines
        for lines in zip_longest(*(side for _, side in sides)):
            if None in lines:
                rests = [side for _, side in sides]
                self._fault(_unequal(list(files.values()), lines, rests, number))
                return
            source = lines[0]
            number = source.number
            if not all(line.readable for line in lines):
                continue
            row = ParallelRow(target=None, file=name, line=number, leading="", raw=source.raw)
            cells = {column: line.text for column, line in zip(files, lines, strict=True)}
            blank = not source.text.strip(BETWEEN_WORDS)
            if answer is not None:
                row["answer"] = leading + lines[answer].raw
                self._warn_of_blank(name, number, blank, lines[answer].text)
            try:
                self._fill(row, {} if blank else cells)
            except ValueError as error:
                self._fault(bad_line(name, number, str(error), source.text))
                continue
            leading = ""
            yield row

    def _warn_of_blank(self, name: str, number: int, blank: bool, answer: str) -> None:
        if blank != (not answer.strip(BETWEEN_WORDS)):
            empty, other = ("input", "target") if blank else ("target", "input")
            self._warn(name, number, f"the {empty}'s line is empty, the {other}'s is not")

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per line of the input's file."""
        settings = {field.name: getattr(self, field.name) for field in fields(Reader)}
        lines = LinesReader(**{**settings, "target": None})
        with nullcontext() if self._report is None else lines.reporting(self._report):
            yield from lines.read(stream, name)

    def write(self, row: Row, output: Output) -> str:
        """A line of the target's file: the prediction, spelled as in raw lines."""
        answer = cast(ParallelRow, row).get("answer")
        if answer is None:
            return spell_line(row, output) + "\n"
        if output.probabilities is None and self.values.same(row["target"], output.value):
            return answer
        return spell_line(row, output) + split_line_end(answer)[1]


def _existing(pattern: str) -> list[Path]:
    """The files that a path or pattern names; none is no error."""
    try:
        return [path for path in find_files(pattern) if path.is_file()]
    except ValueError:
        return []


def _side(prefix: str, column: Column) -> Path:
    """The file of one column: the plain one, else the compressed one."""
    for path in (Path(f"{prefix}.{column}"), Path(f"{prefix}.{column}{COMPRESSED}")):
        if path.is_file():
            return path
    raise _missing(f"{prefix}.{column}")


def _missing(path: str) -> ValueError:
    return ValueError(f"{path}: no such file (a relative path starts at {Path.cwd()})")


def _unequal(
    paths: list[Path], lines: tuple[Line | None, ...], rests: list[Iterator[Line]], number: int
) -> ValueError:
    """The error for files of other lengths, whose lines are counted to the end."""
    counts = [
        number if line is None else line.number + sum(1 for _ in rest)
        for line, rest in zip(lines, rests, strict=True)
    ]
    path, surplus = next((p, n) for p, n in zip(paths, lines, strict=True) if n is not None)
    has = " and ".join(f"{p} has {c}" for p, c in zip(paths, counts, strict=True))
    return ValueError(
        f"{path}:{surplus.number}: a line without its counterpart: {has} lines: "
        f"{excerpt(surplus.text)}"
    )
