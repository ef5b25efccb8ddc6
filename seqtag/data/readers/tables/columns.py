"""Predictions as a column of a table, of the type that the table has for it where that can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.tables.class_labels import ClassLabels, is_list, plain
from seqtag.data.readers.values import spell

SHARES = pa.list_(pa.struct([("label", pa.string()), ("probability", pa.float64())]))
"""Type of the probabilities of one sequence or element."""
MISFIT = (pa.ArrowException, ValueError, OverflowError)


class Predicted(NamedTuple):
    """The predictions for one column of the rows of a batch."""

    values: dict[int, Any]
    """By place in the batch; rows that keep the value they have are left out."""
    held: pa.Array | None
    """What the table holds there, of the same rows; None where it has no such column."""


class PredictedColumn:
    """Makes arrays of predictions, all of the type that the first ones settle.

    Args:
        name: of the column.
        held: type of the column in the table that was read; None where it has none.
        labels: names of the numbers in that table.
        join: makes one string of a list of labels.
    """

    def __init__(
        self,
        name: str,
        held: pa.DataType | None,
        labels: ClassLabels,
        join: Callable[[list[Any]], str],
    ) -> None:
        self._name, self._labels, self._join = name, labels, join
        self._held = held
        self.type: pa.DataType | None = None

    def settle(self, rows: list[Predicted]) -> pa.DataType:
        """Choose the type by the first rows: that of the table, or else strings or numbers."""
        values = [value for row in rows for value in row.values.values()]
        if not values and self._held is not None:
            self.type = self._held
            return self.type
        # Dictionaries differ from batch to batch, which a file cannot hold.
        held = self._held
        if held is not None and pa.types.is_dictionary(held):
            held = held.value_type
        if held is not None:
            try:
                pa.array([self._fitted(value, held) for value in values], held)
                self.type = held
                return held
            except MISFIT:
                pass  # a number column for labels, or one value for lists: it gets another type
        self.type = _type_of(values)
        return self.type

    def array(self, row: Predicted, count: int) -> pa.Array:
        """The column's next ``count`` values.

        Raises:
            ValueError: the type that was settled cannot hold them.
        """
        assert self.type is not None, "settle() comes first"
        if not row.values and row.held is not None and row.held.type == self.type:
            return row.held
        try:
            return pa.array([self._value(row, index) for index in range(count)], self.type)
        except MISFIT:
            raise ValueError(
                f"the column {self._name} of type {self.type} cannot hold one of "
                f"{excerpt(str(list(row.values.values())))}; write a new one, data.target=null"
            ) from None

    def _value(self, row: Predicted, index: int) -> Any:
        assert self.type is not None, "settle() comes first"
        if index in row.values:
            return self._fitted(row.values[index], self.type)
        if row.held is None:
            return None
        value = row.held[index].as_py()
        if row.held.type == self.type or pa.types.is_dictionary(row.held.type):
            return value
        return self._fitted(self._labels.read(self._name, plain(row.held[index])), self.type)

    def _fitted(self, value: Any, kind: pa.DataType) -> Any:
        """The value as one of the type.

        Raises:
            ValueError: that cannot be.
        """
        if kind == self._held:
            value = self._labels.write(self._name, value)
        return None if value is None else _converted(value, kind, self._join)


def _converted(value: Any, kind: pa.DataType, join: Callable[[list[Any]], str]) -> Any:
    if value is None or isinstance(value, dict):
        return value
    if is_list(kind):
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is no list")
        return [_converted(entry, kind.value_type, join) for entry in value]
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if any(test(kind) for test in strings):
        return join(value) if isinstance(value, list) else spell(value)
    if isinstance(value, str) and pa.types.is_integer(kind):
        if str(int(value)) != value:
            raise ValueError(f"{value!r} is no whole number")
        return int(value)
    if isinstance(value, str) and pa.types.is_floating(kind):
        return float(value)
    if isinstance(value, float) and not pa.types.is_floating(kind):
        raise ValueError(f"{value!r} is no {kind}")
    return value


def _type_of(values: list[Any]) -> pa.DataType:
    depth, leaves = 0, [value for value in values if value is not None]
    while any(isinstance(leaf, list) for leaf in leaves):
        depth += 1
        inner = [leaf for leaf in leaves if isinstance(leaf, list)]
        leaves = [entry for leaf in inner for entry in leaf if entry is not None]
    numbers = leaves and all(isinstance(leaf, int | float) for leaf in leaves)
    kind = pa.float64() if numbers else pa.string()
    if leaves and isinstance(leaves[0], dict):
        kind = SHARES.value_type
    for _ in range(depth):
        kind = pa.list_(kind)
    return kind
