"""Static word vectors as part of an input."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding

from seqtag.batch import PADDING
from seqtag.nn.linear import unit_linear

WORD_VECTORS = "word_vectors"
"""Name of the input field with the ids of words that have a static vector."""


class VectorTable(Protocol):
    """What must be known of word vectors: how many ids, how wide, and the numbers themselves."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """Numbers in each vector."""

    @property
    def table(self) -> NDArray[np.float32] | None:
        """``[ids, width]``, zeros in rows 0 (padding) and 1 (unknown); None where a checkpoint is
        to give the numbers."""


class WordVectorEmbedding(nn.Module):
    """A linear map of vectors that are looked up and not trained.

    The table is a buffer, which a checkpoint keeps beside the weights.

    Args:
        vectors: the table, or its size.
        dim: width of the vectors that come out.
    """

    def __init__(self, vectors: VectorTable, *, dim: int) -> None:
        super().__init__()
        given: Any = vectors.table
        table = (
            torch.zeros(len(vectors), vectors.width) if given is None else torch.from_numpy(given)
        )
        self.register_buffer("table", table)
        self.table: Tensor
        self.project = unit_linear(vectors.width, dim)

    def forward(self, symbols: Tensor, valid: Tensor) -> Tensor:
        """Vectors ``[batch, source, dim]``; the bias at padding and at unknown words.

        Args:
            symbols: ids ``[batch, source]``; anything at padding.
            valid: bool ``[batch, source]``, True where there is a word.
        """
        found = embedding(symbols.masked_fill(~valid, PADDING), self.table)
        projected: Tensor = self.project(found)
        return projected
