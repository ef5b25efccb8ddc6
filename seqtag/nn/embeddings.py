"""Vectors for the elements of a sequence, whatever they come as."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized
from typing import cast

import torch
from torch import Tensor, nn

from seqtag.batch import PADDING, UNKNOWN, VECTORS, WORD, Layout
from seqtag.nn.features import FEATURE, NUMBER, CategoryEmbedding, NumberEmbedding
from seqtag.nn.linear import unit_linear
from seqtag.nn.padding import zero_padding
from seqtag.nn.spelling import SpellingEmbedding
from seqtag.nn.word_vectors import WORD_VECTORS, VectorTable, WordVectorEmbedding

FEATURES: dict[str, type[CategoryEmbedding] | type[NumberEmbedding]] = {
    FEATURE: CategoryEmbedding,
    NUMBER: NumberEmbedding,
}
"""What makes vectors of a column beside the input, by how the name of its field begins."""


class InputEmbedding(nn.Module):
    """The sum of what is known of each element: vectors of its symbol, its spelling, its features.

    The sum starts at unit variance, whatever it is of: that is the scale of a sinusoidal position,
    and the one that linear layers expect.

    Args:
        vocabularies: by field, what has its size: ``word``, the number of symbols (id 0 padding, 1
            unknown); ``vectors``, the width of the vectors; ``word_vectors``, static vectors;
            ``feature:COLUMN``, the number of categories; ``number:COLUMN``, the width of numbers;
            any other, what its part in ``spelling`` must know.
        dim: width of the elements that come out.
        dropout: share of the numbers set to zero in training.
        word_dropout: share of the symbols read as unknown in training, which is what trains the
            vector of the unknown; their spelling and features stay to be seen.
        spelling: by field, what makes vectors of it, given its vocabulary and ``dim``. Fields
            that ``vocabularies`` lacks are left out: not every symbol is a word. None for none.

    Raises:
        ValueError: ``vocabularies`` has neither symbols nor vectors, or a field that nothing here
            embeds.

    Attributes:
        output_dim: ``dim``.
    """

    def __init__(
        self,
        vocabularies: Mapping[str, Sized],
        *,
        dim: int,
        dropout: float,
        word_dropout: float,
        spelling: Mapping[str, Callable[..., SpellingEmbedding]] | None,
    ) -> None:
        super().__init__()
        spelling = spelling or {}
        columns = [name for name in vocabularies if name.startswith(tuple(FEATURES))]
        known = (WORD, VECTORS, WORD_VECTORS, *columns, *spelling)
        if not {WORD, VECTORS} & vocabularies.keys() or not vocabularies.keys() <= set(known):
            raise ValueError(
                f"the data have {', '.join(vocabularies) or 'nothing'}, and this embedding is made "
                f"of {WORD} or {VECTORS} with {', '.join(spelling) or 'nothing else'} "
                "(embedding.spelling)"
            )
        if not 0 <= word_dropout <= 1:
            raise ValueError(f"embedding.word_dropout is {word_dropout}; it must lie in [0, 1]")
        self.output_dim = dim
        self.word = (
            SymbolEmbedding(len(vocabularies[WORD]), dim=dim, unknown_share=word_dropout)
            if WORD in vocabularies
            else None
        )
        self.vectors = (
            unit_linear(len(vocabularies[VECTORS]), dim) if VECTORS in vocabularies else None
        )
        for name, part in spelling.items():
            if not callable(part):
                raise ValueError(
                    f"embedding.spelling.{name} names no class: embedding/spelling has another "
                    f"option than the one whose {name} this sets"
                )
        parts = {
            name: part(vocabularies[name], dim=dim)
            for name, part in spelling.items()
            if name in vocabularies
        }
        self.spelling = nn.ModuleDict(parts)
        self.word_vectors = (
            WordVectorEmbedding(cast(VectorTable, vocabularies[WORD_VECTORS]), dim=dim)
            if WORD_VECTORS in vocabularies
            else None
        )
        # By number: a column may be called what no module may.
        self.columns = columns
        self.features = nn.ModuleList(
            next(kind for prefix, kind in FEATURES.items() if name.startswith(prefix))(
                len(vocabularies[name]), dim=dim
            )
            for name in columns
        )
        variances = [part.start_variance for part in parts.values()]
        others = (self.word, self.vectors, self.word_vectors, *self.features)
        variances += [1.0 for part in others if part is not None]
        self.scale = sum(variances) ** -0.5
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: dict[str, Tensor], layout: Layout) -> Tensor:
        """Vectors of the elements.

        Args:
            inputs: by field, ids ``[batch, source]`` of symbols, of words with a static vector and
                of categories; any other ``[batch, source, width]``.
            layout: which elements are real.

        Returns:
            ``[batch, source, dim]``, zeros at padding.
        """
        parts: list[Tensor] = []
        if self.word is not None:
            parts.append(self.word(inputs[WORD].masked_fill(~layout.valid, PADDING)))
        if self.vectors is not None:
            # Before the map as well as after: NaN at padding would reach the gradient of weights.
            parts.append(self.vectors(zero_padding(inputs[VECTORS], layout.valid)))
        for name, part in self.spelling.items():
            parts.append(part(inputs[name], layout.valid))
        if self.word_vectors is not None:
            parts.append(self.word_vectors(inputs[WORD_VECTORS], layout.valid))
        for name, part in zip(self.columns, self.features, strict=True):
            parts.append(part(inputs[name], layout.valid))
        total = sum(parts[1:], parts[0]) * self.scale
        return zero_padding(self.dropout(total), layout.valid)


class SymbolEmbedding(nn.Module):
    """A learnt vector for each symbol.

    Weights start small and are multiplied by ``sqrt(dim)`` (Vaswani et al. 2017, section 3.4). The
    product starts at unit variance, and yet the steps of Adam, whose size does not depend on the
    weights, are large beside it: a rare symbol leaves its random start within a few updates.

    Args:
        symbols: how many, with padding (id 0) and unknown (id 1).
        dim: width of a vector.
        unknown_share: share of the symbols read as unknown in training.
    """

    def __init__(self, symbols: int, *, dim: int, unknown_share: float) -> None:
        super().__init__()
        self.unknown_share = unknown_share
        self.scale = math.sqrt(dim)
        self.table = nn.Embedding(symbols, dim, padding_idx=PADDING)
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        with torch.no_grad():
            self.table.weight[PADDING] = 0

    def forward(self, symbols: Tensor) -> Tensor:
        """Vectors ``[batch, source, dim]`` of ``symbols [batch, source]``."""
        if self.training and self.unknown_share > 0:
            hidden = torch.rand(symbols.shape, device=symbols.device) < self.unknown_share
            symbols = symbols.masked_fill(hidden, UNKNOWN)
        vectors: Tensor = self.table(symbols)
        return vectors * self.scale
