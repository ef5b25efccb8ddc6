"""Files as people have them: what exactly is read, and what exactly is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import read, reported, write_gold
from data.readers.odd import Odd
from data.readers.odd_conll import CONLL
from data.readers.odd_conllu import CONLLU
from data.readers.odd_delimited import DELIMITED
from data.readers.odd_others import OTHERS
from seqtag.batch import Row
from seqtag.data.readers.files import GZIP
from seqtag.data.readers.parallel import ParallelReader
from seqtag.data.readers.raw import LinesReader

TABLE = [*CONLLU, *CONLL, *DELIMITED, *OTHERS]


def content(row: Row) -> tuple[Any, ...]:
    further = {key: row[key] for key in ("features", "references") if key in row}  # type: ignore[literal-required]
    elements = row["vectors"] if "vectors" in row else row["tokens"]
    return (elements, row["target"], further) if further else (elements, row["target"])


@pytest.mark.parametrize("odd", TABLE, ids=[odd.name for odd in TABLE])
def test_an_odd_file_is_read_to_its_end_and_every_fault_is_told(odd: Odd) -> None:
    if odd.raises is not None:
        with pytest.raises(ValueError, match="f:") as error:
            reported(odd.reader, odd.data)
        assert str(error.value) == odd.raises
        return
    rows, told = reported(odd.reader, odd.data)
    assert told.errors == odd.errors
    assert told.warnings == odd.warnings
    assert [content(row) for row in rows] == odd.rows


@pytest.mark.parametrize("odd", TABLE, ids=[odd.name for odd in TABLE])
def test_without_a_report_the_first_fault_ends_the_reading(odd: Odd) -> None:
    first = odd.raises or next(iter(odd.errors), None)
    if first is None:
        rows = read(odd.reader, odd.data)
        assert [content(row) for row in rows] == odd.rows
        answers = isinstance(odd.reader, (LinesReader, ParallelReader))
        if rows and not answers and not odd.data.startswith(GZIP):
            assert write_gold(odd.reader, odd.data) == odd.data
        return
    with pytest.raises(ValueError, match="f:") as error:
        read(odd.reader, odd.data)
    assert str(error.value) == first


def test_names_are_used_once() -> None:
    names = [odd.name for odd in TABLE]
    assert len(set(names)) == len(names) > 60
