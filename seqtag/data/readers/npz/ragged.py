"""How the rows of an archive, of unequal length, stand in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.data.readers.npz.archive import Archive, Member

NUMBERS, TEXTS = "biuf", "U"
"""Kinds of arrays that are read: numbers and booleans, and strings."""


@dataclass(frozen=True)
class Layout:
    """Where the elements of each row are.

    Attributes:
        lengths: ``[rows]``, elements of each.
        padded: elements of every row with those that stand for none; None where the elements of
            all rows follow one another, ``[total, ...]``.
    """

    lengths: NDArray[np.int64]
    padded: int | None

    @classmethod
    def of(cls, archive: Archive, input: str, member: Member, lengths: str | None) -> Layout:
        """The layout of an archive.

        Args:
            archive: the file.
            input: name of the input's array.
            member: that array: ``[rows, elements, width]``, or ``[total, width]`` with lengths.
            lengths: name of the array with the length of each row; None where all are as long.

        Raises:
            ValueError: the arrays do not fit together.
        """
        shape = member.shape
        where = f"{archive.name}: data.input={input} has the shape {shape}"
        if len(shape) not in (2, 3) or (len(shape) == 2 and lengths is None):
            raise ValueError(
                f"{where}; give [rows, elements, width], or [total, width] with the array of the "
                "rows' lengths, data.reader.lengths=NAME (single numbers: X[..., None])"
            )
        if not all(shape[1:]):
            raise ValueError(f"{where}, so its elements have no numbers")
        if lengths is None:
            return cls(np.full(shape[0], shape[1], np.int64), shape[1])
        found = _lengths(archive, lengths)
        if len(shape) == 2:
            if (total := int(found.sum())) != shape[0]:
                raise ValueError(f"{where}, and the lengths in {lengths} have the sum {total}")
            return cls(found, None)
        if len(found) != shape[0] or found.max(initial=0) > shape[1]:
            raise ValueError(
                f"{where}, and {lengths} has {len(found)} lengths of up to {found.max(initial=0)}"
            )
        return cls(found, shape[1])

    def per_element(self, shape: tuple[int, ...]) -> bool | None:
        """Whether an array of this shape holds a value per element; None where it does not fit."""
        rows = len(self.lengths)
        if self.padded is not None:
            if len(shape) > 1 and shape[:2] == (rows, self.padded):
                return True
        elif len(shape) and shape[0] == self.lengths.sum() and (shape[0] != rows or len(shape) > 1):
            return True
        return False if shape == (rows,) else None

    def take(self, member: Member, row: int, *, per_element: bool) -> Any:
        """What an array holds for the next row, which is number ``row`` from 0."""
        if not per_element:
            return member.take(1)[0].item()
        length = int(self.lengths[row])
        if self.padded is None:
            return member.take(length).tolist()
        return member.take(1)[0, :length].tolist()

    def spread(self, flat: NDArray[Any], fill: Any, held: NDArray[Any] | None) -> NDArray[Any]:
        """An array with a value per element, ``[total, ...]``, as the archive would hold it.

        Args:
            flat: the values.
            fill: stands where a row has no element.
            held: array of the file that has the values at such places; None to take ``fill``.
        """
        if self.padded is None:
            return flat
        shape = (len(self.lengths), self.padded, *flat.shape[1:])
        if held is not None and held.shape == shape and held.dtype == flat.dtype:
            made = held.copy()
        else:
            made = np.full(shape, fill, flat.dtype)
        made[np.arange(self.padded) < self.lengths[:, None]] = flat
        return made


def _lengths(archive: Archive, key: str) -> NDArray[np.int64]:
    member = archive.open(key, "reader.lengths")
    if len(member.shape) != 1 or member.dtype.kind not in "iu":
        raise ValueError(
            f"{archive.name}: data.reader.lengths={key}: whole numbers [rows] are wanted, not "
            f"{member.dtype} {member.shape}"
        )
    found = member.take(member.shape[0])
    if len(found) and (found.min() < 0 or found.max() > 2**40):
        raise ValueError(f"{archive.name}: data.reader.lengths={key} holds {found.min()}")
    return found.astype(np.int64)
