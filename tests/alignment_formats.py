"""How mixed rows are written in each format, to be predicted."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from alignment_rows import MARKERS, SPACED, Mixed, mix_characters, mix_vectors, mix_words
from pyarrow import ipc, parquet

Rows = list[list[object]]


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes:
        option: of the group ``data``.
        ending: of the file's name.
        tasks: that it can be predicted for.
        mix: makes so many rows that it can hold.
        write: gives the bytes of a file; told whether it has a target already.
        settings: further words of the command line.
        reads: kind of the run: words, characters or vectors.
        empty: whether it can hold empty rows; without, they become what stands between two rows.
        bare: whether what is written holds the predictions alone.
    """

    option: str
    ending: str
    tasks: tuple[str, ...]
    mix: Callable[..., Mixed]
    write: Callable[[Rows, bool], bytes]
    settings: tuple[str, ...] = ()
    reads: str = "words"
    empty: bool = True
    bare: bool = False


def conllu(rows: Rows, gold: bool) -> bytes:
    """Each with a comment, a range and an empty node; an empty row is a further blank line."""
    pieces = []
    for number, row in enumerate(rows):
        if row:
            pieces.append(f"# sent_id = {number}\n")
            label = "A" if gold else "_"
            for place, token in enumerate(row, 1):
                if place == 1:
                    pieces.append("1-2\t-DOCSTART-\t_\t_\t_\t_\t_\t_\t_\t_\n" if row[1:] else "")
                pieces.append(f"{place}\t{token}\t_\t{label}\t_\t_\t_\t_\t_\t_\n")
            pieces.append("1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" if not row[1:] else "")
        pieces.append("\n")
    return "".join(pieces).encode()


def conll(rows: Rows, gold: bool) -> bytes:
    """With tabs; an empty row is a further blank line and the border of a document."""
    pieces = []
    for row in rows:
        pieces += [f"{token}\tx{chr(9) + 'A' if gold else ''}\n" for token in row]
        pieces.append("\n" if row else " \t\n-DOCSTART- -X- O\n\n")
    return "".join(pieces).encode()


def conll_blanks(rows: Rows, gold: bool) -> bytes:
    """With blanks, and line ends of Windows."""
    return b"\r\n".join(
        b"".join(f"{token} x  {'A' if gold else 'y'}\r\n".encode() for token in row) for row in rows
    )


def tsv(rows: Rows, gold: bool) -> bytes:
    """With an id before the text; empty rows are blank lines, or lines without text in turn."""
    lines = ["id\ttext" + "\tlabel" * gold]
    for number, row in enumerate(rows):
        cells = [f"id{number}", " ".join(map(str, row)), *(["1"] * gold)]
        lines.append("" if not row and number % 2 else "\t".join(cells))
    return ("\n".join(lines) + "\n").encode()


def comma_separated(rows: Rows, gold: bool) -> bytes:
    """Quoted where it must be, with a tab or a line end between some words."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow(["text", "other", *(["label"] * gold)])
    for number, row in enumerate(rows):
        blank = (" ", "\t", "\n", "  ")[number % 4]
        if row or number % 2:
            lines.writerow([blank.join(map(str, row)), "a,b", *(["1"] * gold)])
        else:
            written.write("\r\n")
    return written.getvalue().encode()


def jsonl(rows: Rows, gold: bool) -> bytes:
    """As lists; without a line end behind the last."""
    made = [
        {"n": number, "text": row, **({"label": None} if gold else {})}
        for number, row in enumerate(rows)
    ]
    return "\n".join(
        json.dumps(o, ensure_ascii=number % 2 == 0) for number, o in enumerate(made)
    ).encode()


def jsonl_strings(rows: Rows, gold: bool) -> bytes:
    """As strings."""
    made = ({"text": " ".join(map(str, row)), "n": [number]} for number, row in enumerate(rows))
    return "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in made).encode()


def lines(rows: Rows, gold: bool) -> bytes:
    """An input a line."""
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


def labelled(rows: Rows, gold: bool) -> bytes:
    """A label before each text."""
    return "".join("1 " + " ".join(map(str, r)) + "\n" if r else "\n" for r in rows).encode()


def cmudict(rows: Rows, gold: bool) -> bytes:
    """A word a line; an empty row is a comment and a blank line. The number tells words apart."""
    pieces = [";;; a comment\n"]
    for number, row in enumerate(rows):
        word = "".join(map(str, row))
        pieces.append(f"{word} A B # {number}\n" if row else "## nothing\n\n")
        if row and number % 3 == 0:
            pieces.append(f"{word}(2) B\n")
    return "".join(pieces).encode()


def label_strings(rows: Rows, gold: bool) -> bytes:
    """Id, sequence, labels, mask."""
    made = ((n, "".join(map(str, row)), len(row)) for n, row in enumerate(rows))
    return "".join(
        f"p{n}\t{text}\t{'A' * size if gold else ''}\t{'01'[n % 2] * size}\n"
        if size or n % 2
        else "\n"
        for n, text, size in made
    ).encode()


def table(rows: Rows, gold: bool) -> pa.Table:
    """With lists, and a number for each row."""
    columns = {"n": list(range(len(rows))), "text": rows}
    return pa.table(columns | ({"label": [None] * len(rows)} if gold else {}))


def parquet_file(rows: Rows, gold: bool) -> bytes:
    """In groups of rows."""
    written = io.BytesIO()
    parquet.write_table(table(rows, gold), written, row_group_size=700)
    return written.getvalue()


def arrow_file(rows: Rows, gold: bool) -> bytes:
    """Strings, in batches of unequal size."""
    texts = pa.table({"text": [" ".join(map(str, row)) for row in rows]})
    written = io.BytesIO()
    with ipc.new_file(written, texts.schema) as file:
        for start in range(0, len(rows), 333):
            file.write_table(texts.slice(start, 333))
    return written.getvalue()


def npz(rows: Rows, gold: bool) -> bytes:
    """All elements in one array, and the lengths."""
    written = io.BytesIO()
    flat = np.array([vector for row in rows for vector in row]).reshape(-1, 2)
    lengths = np.array([len(row) for row in rows])
    held = {"y": np.full(len(rows), "A")} if gold else {}
    np.savez_compressed(written, X=flat, lengths=lengths, n=np.arange(len(rows)), **held)
    return written.getvalue()


def ts(rows: Rows, gold: bool) -> bytes:
    """Two channels, with comments between."""
    pieces = ["# series\n@problemName x\n@dimensions 2\n@classLabel true A B C D E\n@data\n"]
    for number, row in enumerate(rows):
        channels = [",".join(str(vector[c]) for vector in row) for c in (0, 1)]
        pieces.append(f"{':'.join(channels)}:A\n" + (f"# {number}\n" if number % 5 == 0 else ""))
    return "".join(pieces).encode()


def _spaced(count: int, **how: object) -> Mixed:
    return mix_words(count, extra=[*SPACED, *MARKERS], **how)  # type: ignore[arg-type]


def _spaced_tokens(count: int, **how: object) -> Mixed:
    return mix_words(count, extra=SPACED, **how)  # type: ignore[arg-type]


def _marked(count: int, **how: object) -> Mixed:
    return mix_words(count, extra=["-DOCSTART-", "###"], **how)  # type: ignore[arg-type]


def _letters(count: int, **how: object) -> Mixed:
    return mix_characters(count, blanks=False, **how)  # type: ignore[arg-type]


def _letters_and_blanks(count: int, **how: object) -> Mixed:
    return mix_characters(count, blanks=True, **how)  # type: ignore[arg-type]


ELEMENTS = ("tagging", "token_regression")
SEQUENCES = ("classification", "multi_label", "regression", "seq2seq")
EVERY = ELEMENTS + SEQUENCES
NAMED = ("data.input=text", "data.target=label")

FORMATS = {
    "conllu": Format("conllu", "conllu", ELEMENTS, _spaced, conllu, empty=False),
    "conll": Format("conll", "conll", ELEMENTS, _spaced_tokens, conll, empty=False),
    "conll with blanks": Format(
        "conll",
        "txt",
        ELEMENTS,
        mix_words,
        conll_blanks,
        ("data.reader.separator=blank",),
        empty=False,
    ),
    "tsv": Format("tsv", "tsv", EVERY, _marked, tsv),
    "csv": Format("csv", "csv", EVERY, _marked, comma_separated),
    "jsonl": Format("jsonl", "jsonl", EVERY, _spaced, jsonl),
    "jsonl of strings": Format("jsonl", "json", ("tagging", "multi_label"), _marked, jsonl_strings),
    "lines": Format("lines", "txt", EVERY, _marked, lines, bare=True),
    "parallel": Format("parallel", "de", ("tagging", "classification"), _marked, lines, bare=True),
    "labelled": Format("labelled", "txt", ("classification", "regression"), _marked, labelled),
    "label_strings": Format(
        "label_strings", "tsv", ("tagging",), _letters_and_blanks, label_strings, reads="characters"
    ),
    "cmudict": Format(
        "cmudict", "dict", ("seq2seq",), _letters, cmudict, reads="characters", empty=False
    ),
    "parquet": Format("table", "parquet", EVERY, _spaced, parquet_file),
    "arrow": Format("table", "arrow", EVERY, _marked, arrow_file),
    "npz": Format(
        "npz",
        "npz",
        ("tagging", "token_regression", "classification", "regression"),
        mix_vectors,
        npz,
        ("data.reader.lengths=lengths",),
        reads="vectors",
    ),
    "ts": Format("ts", "ts", ("tagging", "classification"), mix_vectors, ts, reads="vectors"),
    "jsonl of vectors": Format(
        "jsonl",
        "jsonl",
        ("token_regression", "multi_label", "seq2seq"),
        mix_vectors,
        jsonl,
        reads="vectors",
    ),
}
