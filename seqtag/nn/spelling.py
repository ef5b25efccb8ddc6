"""Vectors for the spelling of words, so that a word training never saw is not just unknown."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from seqtag.batch import PADDING
from seqtag.nn.linear import unit_linear
from seqtag.nn.padding import zero_padding

WHOLE = 3
"""Columns that tell of a word as a whole: its form, shape and length."""


class SpellingEmbedding(nn.Module, ABC):
    """A vector for each word from its spelling.

    Attributes:
        start_variance: variance of the numbers that come out before any training.
    """

    start_variance: float

    @abstractmethod
    def forward(self, spelling: Tensor, valid: Tensor) -> Tensor:
        """Vectors of the words.

        Args:
            spelling: ``[batch, source, features]``, whole numbers; anything at padding.
            valid: bool ``[batch, source]``, True where there is a word.

        Returns:
            ``[batch, source, dim]``; at padding anything but NaN.
        """


class AffixEmbedding(SpellingEmbedding):
    """Looked-up vectors of a word's form, shape, length and affixes, side by side, projected.

    All share one table, in which a hash chooses the place (Weinberger et al. 2009): affixes that
    collide share a vector, and no vocabulary of affixes is kept. The table starts at zero: an affix
    that training never met adds nothing, unless its place is that of one which it did. With 16,384
    places and the 33,000 affixes of 200,000 words of English most places are taken; ``buckets``
    makes more of them.

    Args:
        features: its length is the number of hashes of a word: lower-cased form, shape, length,
            prefixes of 1 to n characters, suffixes of 1 to n.
        dim: width of the vectors that come out.
        buckets: places in the table.
        width: numbers in each place.
        prefixes: the longest prefix that is looked up; 0 for none.
        suffixes: the longest suffix; 0 for none.
        dropout: share of the affixes hidden in training, each by itself, as if training had never
            met it. Else the form of a word says all, and its affixes are left with what it left.

    Raises:
        ValueError: longer affixes are asked for than there are, or no table at all.
    """

    start_variance = 0.0

    def __init__(
        self,
        features: Sized,
        *,
        dim: int,
        buckets: int,
        width: int,
        prefixes: int,
        suffixes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        longest = (len(features) - WHOLE) // 2
        if not (0 <= prefixes <= longest and 0 <= suffixes <= longest):
            raise ValueError(
                f"prefixes={prefixes} and suffixes={suffixes}: affixes have 0 to {longest} "
                "characters"
            )
        if buckets < 1 or width < 1:
            raise ValueError(f"buckets={buckets} and width={width}: both must be at least 1")
        if not 0 <= dropout < 1:
            raise ValueError(
                f"embedding.spelling.affixes.dropout is {dropout}; it must lie in [0, 1)"
            )
        at_start, at_end = WHOLE, WHOLE + longest
        columns = [
            *range(WHOLE),
            *range(at_start, at_start + prefixes),
            *range(at_end, at_end + suffixes),
        ]
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        self.columns: Tensor
        self.hidden_share = dropout
        self.scale = math.sqrt(width)  # as in SymbolEmbedding
        self.table = nn.Embedding(buckets, width)
        nn.init.zeros_(self.table.weight)
        self.project = unit_linear(len(columns) * width, dim)

    def forward(self, spelling: Tensor, valid: Tensor) -> Tensor:
        """See the base class."""
        places = spelling.index_select(-1, self.columns) % self.table.num_embeddings
        found: Tensor = self.table(places)
        if self.training and self.hidden_share > 0:
            hidden = torch.rand(places.shape, device=places.device) < self.hidden_share
            found = found.masked_fill(hidden.unsqueeze(-1), 0)
        # [batch, source, columns, width] -> [batch, source, columns * width]
        projected: Tensor = self.project(found.flatten(-2) * self.scale)
        return projected


class CharacterCNN(SpellingEmbedding):
    """Convolutions over the characters of a word, the largest value of each over its positions.

    After dos Santos and Zadrozny 2014, "Learning character-level representations for
    part-of-speech tagging". A window that reaches beyond an end of the word sees zeros there, so
    that it can tell an end.

    Args:
        characters: its length is the number of ids, with padding (0) and unknown (1).
        dim: width of the vectors that come out.
        character_dim: width of a character's vector.
        kernels: characters that a window spans, one convolution each.
        filters: numbers that each convolution gives.

    Raises:
        ValueError: there is no kernel, or a size is less than 1.
    """

    start_variance = 1.0

    def __init__(
        self,
        characters: Sized,
        *,
        dim: int,
        character_dim: int,
        kernels: Sequence[int],
        filters: int,
    ) -> None:
        super().__init__()
        if not kernels or min(kernels) < 1 or filters < 1 or character_dim < 1:
            raise ValueError(
                f"character_dim={character_dim}, kernels={list(kernels)} and filters={filters}: "
                "there must be a kernel, and all must be at least 1"
            )
        self.scale = math.sqrt(character_dim)  # as in SymbolEmbedding
        self.table = nn.Embedding(len(characters), character_dim, padding_idx=PADDING)
        nn.init.normal_(self.table.weight, std=character_dim**-0.5)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(character_dim, filters, kernel, padding=kernel // 2) for kernel in kernels
        )
        self.norm = nn.LayerNorm(filters * len(kernels))
        self.project = unit_linear(filters * len(kernels), dim)

    def forward(self, spelling: Tensor, valid: Tensor) -> Tensor:
        """See the base class."""
        batch, source, _ = spelling.shape
        spelling = spelling.masked_fill(~valid.unsqueeze(-1), PADDING)
        written = spelling != PADDING
        longest = max(1, int(written.any(0).any(0).sum()))
        # [batch, source, character] -> [words, character]
        spelling = spelling[..., :longest].flatten(0, 1)
        written = written[..., :longest].flatten(0, 1)
        # [words, character, character_dim] -> [words, character_dim, character]
        x = zero_padding(self.table(spelling) * self.scale, written).transpose(1, 2)
        shown = written.unsqueeze(1)
        # Zero is the least that relu gives, so that zeros at padding are never the largest.
        # A convolution of even width has one window more than there are characters.
        pooled = [
            torch.where(shown, relu(convolve(x)[..., :longest]), 0).amax(-1)
            for convolve in self.convolutions
        ]
        projected: Tensor = self.project(self.norm(torch.cat(pooled, dim=-1)))
        return projected.view(batch, source, self.project.out_features)
