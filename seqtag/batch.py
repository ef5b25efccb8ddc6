"""The dataclasses that every floor of the package speaks.

Shapes use one set of names everywhere: ``batch``, ``source`` (padded length of the input),
``target``, ``dim``, ``heads``, ``head_dim``, ``labels``, ``width`` (numbers in one vector or
target).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypedDict

import torch
from torch import Tensor

PADDING, UNKNOWN = 0, 1
"""Ids of no symbol, and of a symbol that training never saw."""

WORD, VECTORS, AFFIXES, CHARACTERS = "word", "vectors", "affixes", "characters"
"""Names of the input fields."""

END = 0
"""Id of the end of a target sequence; a decoder also begins with it."""


class Row(TypedDict, total=False):
    """One sequence as a reader gives it: plain strings and numbers, and where it came from."""

    tokens: list[str]
    """The elements of the sequence; empty for an empty row."""
    vectors: list[list[float]]
    """In place of ``tokens`` where the elements are vectors, each of one width."""
    target: Any
    """None (no target), a cell, or one cell per element; a cell is a string, a number, None
    (missing), or a list of those where several target columns are named."""
    references: list[str]
    """All accepted targets of a new sequence, the target first; absent where it is the only one."""
    features: dict[str, list[Any]]
    """What is known of each element beside the input, by column: a category (string), or a number
    or None (missing)."""
    file: str
    line: int
    """Line of the file, from 1, where the row begins."""
    element_lines: list[int]
    """Line of each element, for formats that write one element a line."""
    leading: str
    """Text of the file between the row before and this one (comments, header), kept verbatim."""
    raw: str
    """Text of the row itself, with its line ends, kept verbatim."""


def length(row: Row) -> int:
    """Elements in a row; vectors where it has them, else tokens."""
    return len(row["vectors"] if "vectors" in row else row["tokens"])


def place(row: Row, element: int | None = None) -> str:
    """``file:line`` of a row, or of one of its elements, for messages."""
    line = row.get("line", 0)
    if element is not None and "element_lines" in row:
        line = row["element_lines"][element]
    return f"{row.get('file', 'input')}:{line}"


@dataclass
class Layout:
    """Which cells of a padded batch are real; built once, when the batch is collated.

    Attributes:
        valid: ``[batch, source]``, True where there is an element, False at padding. Every mask
            of the project has this polarity.
        lengths: ``[batch]``, elements per row.
        lengths_cpu: ``[batch]``, the same, always in host memory (packing asks for it there).
        positions: ``[batch, source]``, index of each element in its row, from 0.
    """

    valid: Tensor
    lengths: Tensor
    lengths_cpu: Tensor
    positions: Tensor

    @classmethod
    def of(cls, lengths: Tensor) -> Layout:
        """The layout of rows with these ``lengths [batch]``, each row from the first cell on."""
        source = int(lengths.max()) if len(lengths) else 0
        positions = torch.arange(source).expand(len(lengths), source)
        return cls(
            valid=positions < lengths.unsqueeze(1),
            lengths=lengths,
            lengths_cpu=lengths,
            positions=positions,
        )

    @property
    def has_padding(self) -> bool:
        """Whether any cell is padding, told without waiting for the device."""
        source = self.valid.shape[1]
        return bool((self.lengths_cpu < source).any())

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Layout:
        """A copy on ``device``; ``lengths_cpu`` stays where it is."""
        return Layout(
            valid=self.valid.to(device, non_blocking=non_blocking),
            lengths=self.lengths.to(device, non_blocking=non_blocking),
            lengths_cpu=self.lengths_cpu,
            positions=_shared_row(
                self.positions, lambda x: x.to(device, non_blocking=non_blocking)
            ),
        )

    def pin_memory(self) -> Layout:
        """A copy in page-locked memory, for transfers that overlap with work."""
        return Layout(
            valid=self.valid.pin_memory(),
            lengths=self.lengths.pin_memory(),
            lengths_cpu=self.lengths_cpu,
            positions=_shared_row(self.positions, Tensor.pin_memory),
        )


def _shared_row(positions: Tensor, move: Callable[[Tensor], Tensor]) -> Tensor:
    """Moved without making copies of the one row of memory that all rows of a batch share."""
    if positions.stride(0) or not len(positions):
        return move(positions.contiguous())
    return move(positions[:1].contiguous()).expand_as(positions)


@dataclass
class Target:
    """Gold values of a batch.

    Attributes:
        value: label ids (int64) ``[batch, source]`` or ``[batch]``; ids of a sequence's symbols, or
            of a row's several labels in ascending order, with ``END`` behind them, ``[batch,
            target]``; or numbers in their own units (float32)
            ``[batch, source, width]`` or ``[batch, width]``. A label that training never saw has
            an id of ``spec.classes`` or more. Where ``present`` is False the value is 0.
        present: bool, the shape of ``value``: True where a gold value exists, ``END`` included;
            False at missing targets and at padding.
        references: ids ``[batch, symbols]`` of all accepted target sequences of a row, each with
            ``END`` behind it; None where ``value`` is the only one.
    """

    value: Tensor
    present: Tensor
    references: Tensor | None = None

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Target:
        """A copy on ``device``."""
        return Target(
            value=self.value.to(device, non_blocking=non_blocking),
            present=self.present.to(device, non_blocking=non_blocking),
            references=self.references,
        )

    def pin_memory(self) -> Target:
        """A copy in page-locked memory."""
        return Target(self.value.pin_memory(), self.present.pin_memory(), self.references)


@dataclass
class Batch:
    """Padded rows, ready for a model.

    Not frozen: Lightning and the loader move batches, and a frozen dataclass cannot be moved.

    Attributes:
        inputs: by field, ``word [batch, source]`` (ids, 0 at padding) and/or ``vectors
            [batch, source, width]``; for words also ``affixes [batch, source, features]`` (hashes)
            and ``characters [batch, source, character]`` (ids, 0 behind the end of a word).
        layout: which cells are real.
        target: gold values, or None when there are none (prediction).
        rows: ``[batch]``, index of each row in its corpus, so that any error can name its file
            and line.
    """

    inputs: dict[str, Tensor]
    layout: Layout
    target: Target | None
    rows: Tensor

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """A copy on ``device``, except what must stay in host memory."""
        return Batch(
            inputs={
                name: values.to(device, non_blocking=non_blocking)
                for name, values in self.inputs.items()
            },
            layout=self.layout.to(device, non_blocking),
            target=self.target.to(device, non_blocking) if self.target is not None else None,
            rows=self.rows,
        )

    def pin_memory(self) -> Batch:
        """A copy in page-locked memory (torch's loader skips dataclasses without this)."""
        return Batch(
            inputs={name: values.pin_memory() for name, values in self.inputs.items()},
            layout=self.layout.pin_memory(),
            target=self.target.pin_memory() if self.target is not None else None,
            rows=self.rows,
        )


@dataclass(frozen=True, kw_only=True)
class TargetSpec:
    """What the training split taught about the target; plain values, kept in the checkpoint.

    Attributes:
        labels: label names, or the symbols of target sequences, in the order of their ids; empty
            for numbers.
        counts: how often training has each label.
        unseen: labels that a split has and training does not, in the order of the ids that follow
            ``labels``; empty for the model itself.
        scheme: name of the span scheme as seqeval spells it (``IOB2``, ``IOBES``, ...), or None
            where labels are not spans.
        file_scheme: the scheme of the files, where labels are converted from it to ``scheme`` and
            back; None where they are learnt as they stand.
        sequence: whether a target is a sequence of its own length; its symbols have ids from 1 on,
            since 0 is ``END``.
        multi: whether a target is a set of labels, none included; they too have ids from 1 on.
        typical: of sequences, the symbol most frequent at each place, up to where most have ended;
            of sets, the one that serves best as the answer to every row.
        mean: mean of each number of the target over training, in the target's units.
        deviation: standard deviation of each, 1 where it would be 0.
    """

    labels: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    unseen: tuple[str, ...] = ()
    scheme: str | None = None
    file_scheme: str | None = None
    sequence: bool = False
    multi: bool = False
    typical: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers one target holds; 0 for labels."""
        return len(self.mean)

    @property
    def single(self) -> bool:
        """Whether a target is one label, of a row or of each element."""
        return bool(self.labels) and not self.sequence and not self.multi

    @property
    def classes(self) -> int:
        """How many ids a model can predict: those of the labels, and ``END`` where there is one."""
        return len(self.labels) + self.first

    @property
    def first(self) -> int:
        """The id of the first label: 0, or 1 where that is ``END``."""
        return int(self.sequence or self.multi)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each label; those that training lacks follow the others."""
        names = (*self.labels, *self.unseen)
        return {name: number for number, name in enumerate(names, self.first)}

    def with_unseen(self, unseen: tuple[str, ...]) -> TargetSpec:
        """The spec of a split that has these further labels."""
        return replace(self, unseen=unseen)

    def state(self) -> dict[str, Any]:
        """Plain values for the checkpoint."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TargetSpec:
        """The spec whose ``state()`` this is."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in state.items()
        }
        return cls(**values)


@dataclass
class Prediction:
    """What a head says of a batch.

    Attributes:
        value: label ids ``[batch, source]`` or ``[batch]``, always below ``spec.classes``; ids of
            a sequence's symbols, or of several labels in ascending order, ``[batch, target]``,
            ``END`` from their end on; or numbers in the target's own units, ``[batch, source,
            width]`` or ``[batch, width]``.
        probabilities: of every label, ``[batch, source, labels]`` or ``[batch, labels]``; of the
            whole sequence, ``[batch]``, or of each candidate, ``[batch, n_best]``; None for
            numbers.
        complete: of sequences, bool ``[batch]``: False where the search ended it at its limit.
        candidates: of sequences, ids ``[batch, n_best, target]`` of the best that the search has
            found, ``END`` from the end of each on, best first: the first is ``value``. Where there
            are fewer, the first stands again in the last places, with probability 0. None where
            the search looks for one alone.
    """

    value: Tensor
    probabilities: Tensor | None = None
    complete: Tensor | None = None
    candidates: Tensor | None = None


@dataclass(frozen=True)
class Output:
    """The prediction for one row, as a user reads it.

    Attributes:
        value: a label, a list of labels, a number, a list of numbers, or a sequence joined to one
            string, for the row; or a list with one label or number per element. None, or an empty
            list, for an empty row.
        probabilities: label to probability, one mapping for the row (for a sequence, of those
            that were found, best first) or a list with one per element; None where not asked for,
            and for numbers.
    """

    value: Any
    probabilities: Any = None
