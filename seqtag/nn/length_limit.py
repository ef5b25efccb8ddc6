"""How long an output may become."""

from __future__ import annotations

import math

from seqtag.batch import Layout
from seqtag.nn.decoders.decoder import Decoder

LONGEST = 2**31
"""No output is longer, whatever the limit says: it could not be counted."""


class LengthLimit:
    """Most symbols of an output, an end among them counted, by the length of the input.

    Args:
        max_length: most symbols of any output; None leaves it to the input's length.
        length_factor: without ``max_length``, symbols for each element of the input ...
        length_extra: ... and so many more.

    Raises:
        ValueError: the limit allows no symbol, or is negative.
    """

    def __init__(self, *, max_length: int | None, length_factor: float, length_extra: int) -> None:
        if max_length is not None and max_length < 1:
            raise ValueError(f"search.max_length is {max_length}; it must be at least 1")
        if not 0 < length_factor + length_extra < math.inf or min(length_factor, length_extra) < 0:
            raise ValueError(
                f"search.length_factor={length_factor} and search.length_extra={length_extra}: "
                "neither may be negative or infinite, nor both be 0"
            )
        self.max_length = max_length
        self.length_factor, self.length_extra = length_factor, length_extra

    def __call__(self, length: int) -> int:
        """The limit for an input of so many elements."""
        if self.max_length is not None:
            return self.max_length
        return max(1, min(int(self.length_factor * length) + self.length_extra, LONGEST))

    def of(self, decoder: Decoder, layout: Layout) -> list[int]:
        """The limit of each row of a batch, which is never beyond what the decoder can make."""
        longest = LONGEST if decoder.longest is None else decoder.longest
        return [min(self(length), longest) for length in layout.lengths_cpu.tolist()]
