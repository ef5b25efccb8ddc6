"""Readers with the settings that most tests share, and short ways to run them on bytes."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from seqtag.batch import Output, Row
from seqtag.data.readers.conll import ConllReader
from seqtag.data.readers.conllu import ConlluReader
from seqtag.data.readers.delimited import DelimitedReader
from seqtag.data.readers.jsonl import JsonlReader
from seqtag.data.readers.raw import LinesReader
from seqtag.data.readers.reader import Reader
from seqtag.data.tokenizers import Whitespace

COMMON: dict[str, Any] = {
    "read_target": True,
    "input_tokenizer": Whitespace(),
    "target_tokenizer": None,
    "sequence_tokenizer": None,
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


def read(reader: Reader, data: bytes) -> list[Row]:
    return list(reader.read(BytesIO(data), "f"))


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
