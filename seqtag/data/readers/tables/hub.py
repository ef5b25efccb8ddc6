"""Data sets of the Hugging Face Hub, or saved by the library ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from seqtag.batch import Output, Row
from seqtag.data.readers.objects import check_keys, refuse_skipping
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.tables.files import ROWS
from seqtag.data.readers.tables.rows import TableRows
from seqtag.data.readers.writer import Writer

if TYPE_CHECKING:
    from datasets import Dataset

NO_FILES = (
    "data=hub reads splits of a data set, not files; name the file's format, such as data=jsonl"
)


@dataclass(kw_only=True)
class HubReader(Reader):
    """Rows of the splits of a data set; ``data.train`` names a split, such as ``train[:80%]``.

    See ``ObjectRows`` for what the columns may hold. Labels that are numbers with names
    (``ClassLabel``) are read as those names. The line of a row is its number, from 1.

    Args:
        name: of the data set on the Hub; or a folder, written by ``save_to_disk`` or of files that
            ``load_dataset`` reads.
        config: of the data set; None where it has one only.
    """

    reads_files: ClassVar[bool] = False

    name: str | None
    config: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self, "the name of a column")
        refuse_skipping(self)
        if not self.name:
            raise ValueError(
                "data.reader.name is not given: name a data set of the Hub, or a folder"
            )
        self._loaded: dict[str, Dataset] = {}

    def paths(self, given: str) -> list[Path]:
        """None: a split is no file."""
        return []

    def parts(self, given: str) -> list[str]:
        """The split itself."""
        return [given]

    def digest(self, given: str) -> str:
        """The fingerprint that ``datasets`` gives the split."""
        return str(self._load(given)._fingerprint)

    def read_all(self, given: str) -> Iterator[Row]:
        """Yield the rows of a split, of which some at a time are in memory."""
        split = self._load(given)
        schema = split.features.arrow_schema
        rows = TableRows(self, schema, f"{self.name}:{given}", table=None)
        for table in split.with_format("arrow").iter(batch_size=ROWS):
            for batch in table.to_batches():
                yield from rows.of(batch)

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Not for data sets: they are no files."""
        raise ValueError(f"{name}: {NO_FILES}")

    def write(self, row: Row, output: Output) -> str:
        """Not for data sets: they are no text."""
        raise ValueError(NO_FILES)

    def writer(self, stream: BinaryIO) -> Writer:
        """Not for data sets: they are no files."""
        raise ValueError(NO_FILES)

    def _load(self, split: str) -> Dataset:
        if split not in self._loaded:
            # The library takes a second to import, and most formats do without.
            from seqtag.data.readers.tables.hub_data import load_split

            assert self.name, "checked at the start"
            self._loaded[split] = load_split(self.name, self.config, split)
        return self._loaded[split]
