"""Single values of an object, checked for what they must be."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import isfinite
from types import NoneType
from typing import Any

from seqtag.data.readers.columns import Column
from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.reader import Reader

ELEMENTS = "give a string, a list of strings (tokens), or a list of lists of numbers (vectors)"
KINDS = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
    list: "a list",
    dict: "an object",
}
SCALARS = (str, int, float, bool, NoneType)
Members = Mapping[str, Any]
"""The values of one object by key: strings, numbers, booleans, None, and lists of those."""


def read_member(members: Members, key: Column, setting: str) -> Any:
    """The value of a key.

    Args:
        members: of the object.
        key: that is looked for.
        setting: of ``data`` that names it, for the message.

    Raises:
        ValueError: the object has no such key.
    """
    if key not in members:
        names = excerpt(", ".join(members))
        raise ValueError(f"data.{setting}={key}: no such key, the object has {names}")
    return members[str(key)]


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    return KINDS.get(type(value), f"a {type(value).__name__}")


def read_feature(members: Members, key: Column, reader: Reader) -> Any:
    """The value of a feature, or the list of one per element.

    Raises:
        ValueError: it is not made of single values.
    """
    numeric = key in reader.numeric_features
    value = read_member(members, key, "numeric_features" if numeric else "features")
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, SCALARS):
            raise ValueError(f"the feature {key}: {kind_of(entry)} where one value is expected")
    if isinstance(value, list):
        return [_spelled(entry, numeric) for entry in value]
    return _spelled(value, numeric)


def _spelled(value: Any, numeric: bool) -> Any:
    """JSON's spelling of true and false, not Python's; 1 and 0 among numbers."""
    if isinstance(value, bool):
        return int(value) if numeric else str(value).lower()
    return value


def read_mask(value: Any) -> Any:
    """A string or list of switches.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(value, str | list):
        raise ValueError(f"the mask is {kind_of(value)}; give a string or a list of 0 and 1")
    return value


def read_texts(members: Members, key: Column) -> list[str]:
    """The references that a key holds; an empty string or null is none.

    Raises:
        ValueError: one is no string.
    """
    value = read_member(members, key, "references")
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if not isinstance(text, str | NoneType):
            raise ValueError(f"data.references={key}: {kind_of(text)} where a string is expected")
    return [text for text in texts if text]


def check_token(element: Any, number: int) -> str:
    """An element that is a string.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(element, str):
        raise ValueError(f"element {number} is {kind_of(element)}; {ELEMENTS}")
    return element


def check_vector(element: Any, number: int, width: int) -> list[float]:
    """An element that is a list of ``width`` finite numbers.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(element, list):
        raise ValueError(f"element {number} is {kind_of(element)} where the file has vectors")
    if len(element) != width:
        raise ValueError(
            f"element {number} has {len(element)} numbers where the file's first has {width}"
        )
    # Nearly always these are floats, and where one is not finite the sum is not either.
    if set(map(type, element)) == {float} and isfinite(sum(element)):
        return element
    try:
        return [check_finite(entry) for entry in element]
    except ValueError as error:
        raise ValueError(f"element {number}: {error}") from None


def check_finite(value: Any) -> float:
    """A finite number.

    Raises:
        ValueError: it is none.
    """
    if type(value) not in (int, float):
        raise ValueError(f"{kind_of(value)} where a number is expected")
    if value != value:
        raise ValueError("NaN where a number is expected")
    # JSON has no largest number: 1e999 becomes infinite, and so would an integer as long.
    if abs(value) > sys.float_info.max:
        raise ValueError("an infinite number, or one too large for this machine")
    return float(value)
