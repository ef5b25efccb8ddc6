"""Readers with the settings that most tests share, and short ways to run them on bytes."""

from __future__ import annotations

import gzip
from io import BytesIO
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.cmudict import CmudictReader
from seqtag.data.readers.conll import ConllReader
from seqtag.data.readers.conllu import ConlluReader
from seqtag.data.readers.delimited import DelimitedReader
from seqtag.data.readers.files import GZIP
from seqtag.data.readers.first_blank import FirstBlankReader
from seqtag.data.readers.jsonl import JsonlReader
from seqtag.data.readers.parallel import ParallelReader
from seqtag.data.readers.raw import LinesReader
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Characters, Separated, Whitespace

COMMON: dict[str, Any] = {
    "read_target": True,
    "input_tokenizer": Whitespace(),
    "target_tokenizer": None,
    "sequence_tokenizer": None,
    "label_tokenizer": None,
    "references": [],
    "features": [],
    "numeric_features": [],
    "further_input": [],
    "further_tokenizer": Separated(separator=";"),
    "mask": None,
    "missing": "_",
    "skip_lines": 0,
    "encoding": "utf-8",
    "max_line_bytes": 200,
}


def conllu(**changes: Any) -> ConlluReader:
    return ConlluReader(**(COMMON | {"input": "FORM", "target": "UPOS"} | changes))


def conll(**changes: Any) -> ConllReader:
    return ConllReader(**(COMMON | {"input": 0, "target": -1, "separator": None} | changes))


def tsv(**changes: Any) -> DelimitedReader:
    settings = {"input": 0, "target": 1, "separator": "tab", "quoting": False, "header": False}
    return DelimitedReader(**(COMMON | settings | changes))


def csv(**changes: Any) -> DelimitedReader:
    settings = {
        "input": "text",
        "target": "label",
        "separator": "comma",
        "quoting": True,
        "header": True,
    }
    return DelimitedReader(**(COMMON | settings | changes))


def jsonl(**changes: Any) -> JsonlReader:
    return JsonlReader(**(COMMON | {"input": "text", "target": "label"} | changes))


def raw(**changes: Any) -> LinesReader:
    return LinesReader(**(COMMON | {"input": 0, "target": None} | changes))


def labelled(**changes: Any) -> FirstBlankReader:
    return FirstBlankReader(**(COMMON | {"input": 1, "target": 0} | changes))


def cmudict(**changes: Any) -> CmudictReader:
    settings = {
        "input": 0,
        "target": 1,
        "input_tokenizer": Characters(),
        "sequence_tokenizer": Whitespace(),
    }
    return CmudictReader(**(COMMON | settings | changes))


def parallel(**changes: Any) -> ParallelReader:
    settings = {"input": "de", "target": "en", "sequence_tokenizer": Whitespace()}
    return ParallelReader(**(COMMON | settings | changes))


class Told:
    """What a reader reports."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, message: str) -> None:
        self.errors.append(message)

    def warning(self, message: str) -> None:
        self.warnings.append(message)


def stream_of(data: bytes) -> BinaryIO:
    """The bytes as a reader gets them, decompressed where they are those of gzip."""
    stream = BytesIO(data)
    return cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if data.startswith(GZIP) else stream


def read(reader: Reader, data: bytes) -> list[Row]:
    return list(reader.read(stream_of(data), "f"))


def reported(reader: Reader, data: bytes) -> tuple[list[Row], Told]:
    """The rows of a file that is read to its end whatever it holds, and what was told of it."""
    told = Told()
    with reader.reporting(told):
        return read(reader, data), told


def pairs(reader: Reader, data: bytes) -> list[tuple[Any, Any]]:
    """Elements and target of every row."""
    rows = read(reader, data)
    return [(row["vectors"] if "vectors" in row else row["tokens"], row["target"]) for row in rows]


def write(reader: Reader, data: bytes, values: list[Any], probabilities: Any = None) -> str:
    """The file with one prediction per row."""
    rows = read(reader, data)
    chances = probabilities or [None] * len(rows)
    return "".join(
        reader.write(row, Output(value, chance))
        for row, value, chance in zip(rows, values, chances, strict=True)
    )


def write_gold(reader: Reader, data: bytes) -> bytes:
    """The file with every row's own target written into it."""
    rows = read(reader, data)
    text = "".join(reader.write(row, Output(row["target"])) for row in rows)
    return text.encode(reader.encoding)


def word(number: int | str, form: str, upos: str = "X", misc: str = "_") -> str:
    """A line of CoNLL-U."""
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t{misc}\n"
