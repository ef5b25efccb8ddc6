"""Numpy archives of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import Beside, fresh_names, spell_place
from seqtag.data.readers.npz.archive import Archive, Member
from seqtag.data.readers.npz.ragged import NUMBERS, TEXTS, Layout
from seqtag.data.readers.npz.writer import NpzRow, NpzWriter
from seqtag.data.readers.objects import ObjectRows, check_keys, read_columns, refuse_skipping
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.writer import Writer

LENGTHS = "lengths"


@dataclass(kw_only=True)
class NpzReader(Reader):
    """Arrays of a ``.npz`` file: the input's ``[rows, elements, width]``, the target's ``[rows]``.

    Rows of unequal length are padded, or follow one another in ``[total, width]``; either way
    another array holds their lengths. Other columns are ``[rows]``, or have a value per element:
    ``[rows, elements]`` where the input is padded, else ``[total]``. The line of a row is its
    number, from 1. Arrays of Python objects are refused.

    Args:
        lengths: name of the array with the elements of each row; None where all are as long.
    """

    lengths: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self, "the name of an array")
        refuse_skipping(self)

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield the rows, one of which is in memory at a time."""
        try:
            archive = Archive(stream, name)
            layout, members = self._open(archive)
        except ValueError as error:
            self._fault(error)
            return
        objects = ObjectRows(self)
        for index in range(len(layout.lengths)):
            row = NpzRow(
                target=None,
                file=name,
                line=index + 1,
                leading="",
                raw="",
                archive=archive,
                layout=layout,
            )
            values = {
                column: layout.take(member, index, per_element=per_element)
                for column, (member, per_element) in members.items()
            }
            try:
                objects.fill(row, values)
            except ValueError as error:
                self._fault(ValueError(f"{name}:{index + 1}: {error}"))
                continue
            yield row

    def _open(self, archive: Archive) -> tuple[Layout, dict[str, tuple[Member, bool]]]:
        """The archive's layout; and its arrays, with whether they hold a value per element."""
        if self.lengths is None and LENGTHS in archive.keys:
            raise ValueError(
                f"{archive.name}: the array {LENGTHS} is not used; say data.reader.lengths="
                f"{LENGTHS} if it holds the elements of each row"
            )
        input = str(self.input)
        member = archive.open(input, "input")
        if member.dtype.kind not in NUMBERS:
            raise ValueError(
                f"{archive.name}: data.input={input} holds {member.dtype}; only vectors of "
                "numbers are read from .npz files"
            )
        layout = Layout.of(archive, input, member, self.lengths)
        members = {input: (member, True)}
        for column, setting in read_columns(self).items():
            if column != input:
                members[column] = self._column(archive, layout, column, setting)
        return layout, members

    def _column(
        self, archive: Archive, layout: Layout, column: str, setting: str
    ) -> tuple[Member, bool]:
        member = archive.open(column, setting)
        where = f"{archive.name}: data.{setting}={column}"
        if member.dtype.kind not in NUMBERS + TEXTS:
            raise ValueError(
                f"{where} holds {member.dtype}; save numbers, or strings (astype(str))"
            )
        per_element = layout.per_element(member.shape)
        whole = setting == "target" and self.target_tokenizer is None
        if per_element is None or (per_element and whole):
            wanted = "one value per row" if whole else "one value per row or per element"
            raise ValueError(
                f"{where} has the shape {member.shape} where {wanted} is expected, for "
                f"{len(layout.lengths)} rows (several columns: save each as an array of its own)"
            )
        return member, per_element

    def write(self, row: Row, output: Output) -> str:
        """Not for archives: they are no text."""
        raise AssertionError("archives are written by writer()")

    def beside(self, rows: Iterable[Row]) -> Beside:
        """A further array of the archive."""
        first = next(iter(rows), None)
        taken = [] if first is None else cast(NpzRow, first)["archive"].keys
        names = fresh_names(self.target, taken)
        writer = replace(self, target=[*names], references=[], mask=None).writer
        return Beside(spell_place("array", names), writer)

    def writer(self, stream: BinaryIO) -> Writer:
        """Writes the archive with the prediction as the target's array, or as ``prediction``.

        Probabilities go to ``probabilities``, in the order of ``probability_labels``.
        """
        return NpzWriter(stream, self)
