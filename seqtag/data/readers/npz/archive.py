"""The arrays of a ``.npz`` file, read row by row."""

from __future__ import annotations

import lzma
import math
import weakref
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.tables.files import one_line, seekable

SUFFIX = ".npy"
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
DAMAGE = (
    *(OSError, EOFError, ValueError, TypeError, SyntaxError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, OverflowError, MemoryError),
)
"""What Python's and numpy's readers raise where bytes are not what they should be."""


class Member:
    """One array of an archive, read from its first row on.

    Attributes:
        shape: of the array.
        dtype: of its numbers or strings.
    """

    def __init__(self, archive: Archive, key: str) -> None:
        self._name, self._key, self._next = archive.name, key, 0
        try:
            info = archive.file.getinfo(key + SUFFIX)
            self._stream = archive.file.open(info)
            self.shape, self._by_column, self.dtype = HEADERS[npy.read_magic(self._stream)](
                self._stream
            )
            size = math.prod(self.shape) * self.dtype.itemsize
            whole = info.file_size == self._stream.tell() + size
        except (*DAMAGE, KeyError) as error:
            raise self._damaged(one_line(error)) from None
        if self.dtype.hasobject:
            raise ValueError(
                f"{self._name}: the array {key} holds Python objects, which are not read; save "
                "rows of unequal length as one array [total, width] and their lengths as another"
            )
        if not whole:
            raise self._damaged("its size is not that of its shape")
        self._whole: NDArray[Any] | None = None

    def take(self, count: int) -> NDArray[Any]:
        """The next ``count`` rows.

        Raises:
            ValueError: the file is damaged.
        """
        shape = (count, *self.shape[1:])
        if self._by_column and self._whole is None:
            numbers = np.frombuffer(self._bytes(math.prod(self.shape)), self.dtype)
            self._whole = numbers.reshape(self.shape, order="F")
        if self._whole is not None:
            self._next += count
            return self._whole[self._next - count : self._next]
        return np.frombuffer(self._bytes(math.prod(shape)), self.dtype).reshape(shape)

    def _bytes(self, numbers: int) -> bytes:
        size = numbers * self.dtype.itemsize
        try:
            content = self._stream.read(size)
        except DAMAGE as error:
            raise self._damaged(one_line(error)) from None
        if len(content) < size:
            raise self._damaged("it ends too early")
        return content

    def _damaged(self, problem: str) -> ValueError:
        return ValueError(f"{self._name}: the array {self._key} is damaged ({problem})")


class Archive:
    """A ``.npz`` file, open for reading.

    Attributes:
        name: what messages call it.
        file: the zip file.
        keys: names of its arrays.

    Raises:
        ValueError: the bytes are no such file.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        content = seekable(stream, name)
        if content is not stream:
            # The writer still needs it when the last row has been read.
            weakref.finalize(self, content.close)
        try:
            self.file = zipfile.ZipFile(content)
        except DAMAGE as error:
            raise ValueError(f"{name}: no .npz file, or damaged ({one_line(error)})") from None
        files = self.file.namelist()
        self.keys = [file.removesuffix(SUFFIX) for file in files if file.endswith(SUFFIX)]

    def open(self, key: str, setting: str) -> Member:
        """The array of a name.

        Args:
            key: its name.
            setting: of ``data`` that names it, for messages.

        Raises:
            ValueError: there is none, or it is damaged.
        """
        if key not in self.keys:
            there = excerpt(", ".join(self.keys))
            raise ValueError(f"{self.name}: data.{setting}={key}: no such array, there are {there}")
        return Member(self, key)

    def whole(self, key: str) -> NDArray[Any] | None:
        """All of an array; None where it cannot be read."""
        try:
            member = Member(self, key)
            return member.take(member.shape[0]) if member.shape else None
        except ValueError:
            return None
