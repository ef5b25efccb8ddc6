"""What every input field of a data set can say and do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray


class Field(ABC):
    """Turns the elements of a row into numbers, as training taught it.

    Its length is what the embedding must know of it: how many ids there are, or how many numbers
    an element has.

    Attributes:
        reads: which part of a row it encodes, ``tokens`` or ``vectors``.
        dtype: of its numbers on disk.
    """

    reads: ClassVar[str]
    dtype: ClassVar[str]

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the numbers of one element: ``()`` for a single one, else ``(width,)``."""

    @abstractmethod
    def encode(self, sequence: Sequence[Any]) -> NDArray[Any]:
        """The numbers ``[source, *shape]`` of a row's elements."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain values from which the constructor makes an equal one."""
