"""Numpy archives with predictions."""

from __future__ import annotations

import shutil
import zipfile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from seqtag.batch import Output, Row, place
from seqtag.data.readers.columns import listed
from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.npz.archive import SUFFIX, Archive
from seqtag.data.readers.npz.ragged import Layout
from seqtag.data.readers.objects import PREDICTION, PROBABILITIES
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.values import spell
from seqtag.data.readers.writer import Writer

LABELS = "probability_labels"


class NpzRow(Row, total=False):
    """A row that knows its archive, so that the other arrays can be written with it."""

    archive: Archive
    layout: Layout


class NpzWriter(Writer):
    """Collects the predictions, and writes them with the other arrays at the end.

    Args:
        stream: takes the bytes.
        reader: whose settings say where the prediction stands.
    """

    def __init__(self, stream: BinaryIO, reader: Reader) -> None:
        self._stream, self._reader = stream, reader
        self._keys = [str(key) for key in listed(reader.target) or [PREDICTION]]
        self._values: list[list[Any]] = []
        self._shares: list[Any] = []
        self._held: dict[str, NDArray[Any]] = {}
        self._archive: Archive | None = None
        self._layout = Layout(np.zeros(0, np.int64), None)

    def add(self, row: Row, output: Output) -> None:
        """See the base class."""
        self._archive = cast(NpzRow, row)["archive"]
        self._layout = cast(NpzRow, row)["layout"]
        if row["line"] != len(self._values) + 1:
            raise ValueError(f"{place(row)}: an archive is written whole, and a row is missing")
        one_value = self._reader.target_tokenizer is None and len(self._keys) == 1
        if one_value and isinstance(output.value, list):
            raise ValueError(
                f"{place(row)}: an array holds one value per row, not {excerpt(str(output.value))};"
                " write it as jsonl"
            )
        self._values.append(self._reader.values.separated(output.value, len(self._keys)))
        self._shares.append(output.probabilities)

    def close(self) -> None:
        """Write the archive; the file that was read is still open."""
        if self._archive is not None:
            for key in set(self._keys) & set(self._archive.keys):
                # A target that cannot be read, such as one of objects, is written over.
                if (held := self._archive.whole(key)) is not None:
                    self._held[key] = held
            with zipfile.ZipFile(self._stream, "w", zipfile.ZIP_DEFLATED) as file:
                self._copy(self._archive, file)
                for number, key in enumerate(self._keys):
                    _write(file, key, self._column([v[number] for v in self._values], key))
                if any(shares is not None for shares in self._shares):
                    self._write_shares(file)
        self._stream.flush()

    def _copy(self, archive: Archive, file: zipfile.ZipFile) -> None:
        """Write the arrays that no prediction stands in, byte for byte."""
        replaced = {key + SUFFIX for key in self._keys}
        if any(shares is not None for shares in self._shares):
            replaced |= {PROBABILITIES + SUFFIX, LABELS + SUFFIX}
        for info in archive.file.infolist():
            if info.filename in replaced:
                continue
            copy = zipfile.ZipInfo(info.filename, info.date_time)
            copy.compress_type = info.compress_type
            with archive.file.open(info) as old, file.open(copy, "w", force_zip64=True) as new:
                shutil.copyfileobj(old, new)

    def _column(self, values: list[Any], key: str) -> NDArray[Any]:
        """The array of the predictions of one column."""
        held = self._held.get(key)
        if not any(isinstance(value, list) for value in values):
            before = held if held is not None and held.shape == (len(values),) else None
            empty = (self._layout.lengths == 0).tolist()
            return _array(values, before, self._reader.missing, empty)
        cells: list[Any] = []
        for value, length in zip(values, self._layout.lengths.tolist(), strict=True):
            cells.extend([None] * length if value is None else value)
        before = None
        if held is not None and held.shape[:2] == (len(values), self._layout.padded):
            before = held[np.arange(held.shape[1]) < self._layout.lengths[:, None]]
        elif held is not None and self._layout.padded is None and len(held) == len(cells):
            before = held
        flat = _array(cells, before, self._reader.missing, [False] * len(cells))
        fill = np.nan if flat.dtype.kind == "f" else self._reader.missing
        return self._layout.spread(flat, fill if flat.dtype.kind in "fU" else 0, held)

    def _write_shares(self, file: zipfile.ZipFile) -> None:
        rows = self._shares
        per_element = any(isinstance(shares, list) for shares in rows)
        if per_element:
            rows = [entry for shares in rows for entry in shares or []]
        given = [shares for shares in rows if shares]  # an empty row has none
        labels = list(given[0]) if given else []
        if any(list(shares) != labels for shares in given):  # sequences: each has its own
            made = np.array([np.nan if not s else next(iter(s.values())) for s in rows])
            _write(file, PROBABILITIES, made)
            return
        lacking = dict.fromkeys(labels, np.nan)
        made = np.array([[(shares or lacking)[k] for k in labels] for shares in rows])
        made = made.reshape(len(rows), len(labels))
        _write(
            file, PROBABILITIES, self._layout.spread(made, np.nan, None) if per_element else made
        )
        _write(file, LABELS, np.array([str(label) for label in labels], dtype=np.str_))


def _write(file: zipfile.ZipFile, key: str, values: NDArray[Any]) -> None:
    with file.open(key + SUFFIX, "w", force_zip64=True) as stream:
        npy.write_array(stream, values, allow_pickle=False)


def _array(
    values: list[Any], held: NDArray[Any] | None, missing: str, empty: list[bool]
) -> NDArray[Any]:
    """Predictions as an array of the type that ``held`` has, where that can be.

    A value that is None keeps what ``held`` has at its place, unless its row is ``empty``: that
    would be taken for its answer.
    """
    given = [value for value in values if value is not None]
    texts = any(isinstance(value, str) for value in given)
    if held is not None:
        new = [
            old if value is None and not nothing else value
            for value, old, nothing in zip(values, held.tolist(), empty, strict=True)
        ]
        lacks = None in new
        if (texts or not given) and held.dtype.kind == "U":
            made = np.array([missing if v is None else v for v in new], dtype=np.str_)
            return made.astype(held.dtype) if made.dtype.itemsize <= held.dtype.itemsize else made
        if held.dtype.kind == "f" and not texts:
            return np.array([np.nan if v is None else v for v in new], dtype=held.dtype)
        if held.dtype.kind in "iu" and not lacks and all(str(v) == str(_whole(v)) for v in given):
            return np.array([int(value) for value in new], dtype=held.dtype)
    if texts or not given:
        return np.array([missing if v is None else spell(v) for v in values], dtype=np.str_)
    if any(isinstance(value, list) for value in given):
        width = len(given[0])
        rows = [[np.nan] * width if value is None else value for value in values]
        return np.array(rows, dtype=np.float64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _whole(value: Any) -> int | None:
    try:
        return int(value) if isinstance(value, str | int) else None
    except ValueError:
        return None
