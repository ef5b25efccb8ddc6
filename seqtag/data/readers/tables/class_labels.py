"""Labels that tables hold as numbers, with their names beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

BOOLEANS = ("false", "true")
UNLABELLED = -1
"""How ``datasets`` marks a row without a label."""


class ClassLabels:
    """The names of the numbers in a table's columns.

    They stand in the metadata that ``datasets`` writes, as features of the type ``ClassLabel``,
    alone or in lists; -1 is a label that is missing. Columns of booleans are labels ``false`` and
    ``true``.

    Args:
        names: by column.
    """

    def __init__(self, names: Mapping[str, tuple[str, ...]]) -> None:
        self._names = names

    @classmethod
    def of(cls, schema: pa.Schema) -> ClassLabels:
        """The names that a table's schema holds."""
        features = _features(schema)
        found: dict[str, tuple[str, ...]] = {}
        for field in schema:
            names = _names(features.get(field.name))
            kind = innermost(field.type)
            if names and pa.types.is_integer(kind):
                found[field.name] = names
            elif pa.types.is_boolean(kind):
                found[field.name] = BOOLEANS
        return cls(found)

    def read(self, column: str, value: Any) -> Any:
        """A value of the column with names in place of numbers.

        Raises:
            ValueError: a number has no name; the message holds no place.
        """
        names = self._names.get(column)
        return value if names is None else _named(value, names, column)

    def write(self, column: str, value: Any) -> Any:
        """The inverse of ``read``.

        Raises:
            ValueError: there is no such name; the message holds no place.
        """
        names = self._names.get(column)
        return value if names is None else _numbered(value, names, column)

    def __contains__(self, column: str) -> bool:
        return column in self._names


def innermost(kind: pa.DataType) -> pa.DataType:
    """What a list holds, or a list of lists; another type is itself."""
    while is_list(kind):
        kind = kind.value_type
    return kind


def is_list(kind: pa.DataType) -> bool:
    """Whether values of this type are lists, of whatever kind."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    views = (pa.types.is_list_view, pa.types.is_large_list_view)
    return any(test(kind) for test in (*tests, *views))


def plain(scalar: pa.Scalar) -> Any:
    """A value out of Arrow as JSON would hold it."""
    if is_list(scalar.type) and is_list(scalar.type.value_type) and scalar.is_valid:
        vectors = _vectors(scalar.values)
        if vectors is not None:
            return vectors
    return _without_decimals(scalar.as_py())


def _vectors(lists: pa.Array) -> list[list[float]] | None:
    """Lists of floats, many times as fast as ``as_py``; None where they are not all as long."""
    if not len(lists) or lists.null_count or not pa.types.is_floating(lists.type.value_type):
        return None
    numbers = lists.flatten()
    width, rest = divmod(len(numbers), len(lists))
    if numbers.null_count or rest:
        return None
    fixed = pa.types.is_fixed_size_list(lists.type)
    if not fixed and (lists.value_lengths().to_numpy() != width).any():
        return None
    found: list[list[float]] = numbers.to_numpy().reshape(len(lists), width).tolist()
    return found


def _without_decimals(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_decimals(entry) for entry in value]
    return float(value) if isinstance(value, Decimal) else value


def _features(schema: pa.Schema) -> Mapping[str, Any]:
    """What ``datasets`` wrote of the columns, if it did; any other text there is not ours."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _names(feature: Any) -> tuple[str, ...]:
    while True:
        if isinstance(feature, list) and len(feature) == 1:
            feature = feature[0]
        elif isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
            names = feature.get("names")
            return tuple(map(str, names)) if isinstance(names, list) else ()
        elif isinstance(feature, dict) and "feature" in feature:
            feature = feature["feature"]
        else:
            return ()


def _named(value: Any, names: tuple[str, ...], column: str) -> Any:
    if isinstance(value, list):
        return [_named(entry, names, column) for entry in value]
    if value is None or (value == UNLABELLED and names is not BOOLEANS):
        return None
    if not 0 <= value < len(names):
        raise ValueError(f"the column {column} holds {value}, and its labels are {len(names)}")
    return names[value]


def _numbered(value: Any, names: tuple[str, ...], column: str) -> Any:
    if isinstance(value, list):
        return [_numbered(entry, names, column) for entry in value]
    if value is None:
        return None
    if value not in names:
        raise ValueError(f"the column {column} has no label {value!r}; its labels are {names}")
    number = names.index(value)
    return bool(number) if names is BOOLEANS else number
