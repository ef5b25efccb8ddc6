"""One JSON object a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Any, BinaryIO, cast

from seqtag.batch import Output, Row
from seqtag.data.readers.columns import Column, listed
from seqtag.data.readers.lines import bad_line, excerpt, split_line_end
from seqtag.data.readers.members import parse_object, set_member
from seqtag.data.readers.reader import Reader, element_count
from seqtag.data.readers.values import NUMBER_FORMAT

PREDICTION = "prediction"
PROBABILITIES = "probabilities"
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


@dataclass(kw_only=True)
class JsonlReader(Reader):
    """One object a line; the input and the target are keys of it.

    The input is a string, which the tokenizer splits; a list of strings, the tokens; or a list of
    vectors, each a list of numbers. The target is a string, a number or null, or a list with one
    of those, or a list of numbers, per element. Several target keys make a target of several
    numbers per sequence, or per element where each holds a list.

    An empty list is a row without tokens, unless a row with vectors came before.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, columns in (("input", [self.input]), ("target", listed(self.target))):
            for column in columns:
                if not isinstance(column, str):
                    raise ValueError(f"data.{key}={column}: it must be a key of the JSON objects")

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per line, as soon as the line is there."""
        leading, lines = self._lines(stream, name)
        # Width of the file's vectors: None before the first element, 0 where elements are tokens.
        width: int | None = None
        for line in lines:
            row = Row(target=None, file=name, line=line.number, leading=leading, raw=line.raw)
            leading = ""
            try:
                members = parse_object(line.text)
                width = self._fill(row, members, width)
            except ValueError as error:
                raise bad_line(name, line.number, str(error), line.text) from None
            yield row

    def _fill(self, row: Row, members: dict[str, Any], width: int | None) -> int | None:
        elements = _member(members, str(self.input), "input")
        if isinstance(elements, str):
            elements = self._elements(elements)
        if not isinstance(elements, list):
            raise ValueError(f"data.input={self.input} is {_kind(elements)}; {ELEMENTS}")
        if elements and width is None:
            width = len(elements[0]) if isinstance(elements[0], list) else 0
        if width:
            row["vectors"] = [_vector(element, n, width) for n, element in enumerate(elements, 1)]
        else:
            row["tokens"] = [_token(element, n) for n, element in enumerate(elements, 1)]
        if self.read_target:
            row["target"] = self._target(members, listed(self.target), len(elements))
        return width

    def _target(self, members: dict[str, Any], keys: list[Column], count: int) -> Any:
        return self._combined([self._value(_member(members, key, "target")) for key in keys], count)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._cells(value)
        if isinstance(value, list):
            return [self._entry(entry) for entry in value]
        return _number(value)

    def _entry(self, entry: Any) -> Any:
        if isinstance(entry, str):
            return entry if self.sequence_tokenizer else self._cell(entry)
        if isinstance(entry, list):
            return [_number(number) for number in entry]
        return _number(entry)

    def write(self, row: Row, output: Output) -> str:
        """The line with the prediction as the target's value; other keys stay as they are.

        Probabilities of all labels, where there are any, go to the key ``probabilities``.
        """
        text, end = split_line_end(row["raw"])
        members = parse_object(text)
        keys = listed(self.target) or [PREDICTION]
        if not self._holds(members, keys, row, output.value):
            for key, value in zip(keys, self._separated(output.value, len(keys)), strict=True):
                if isinstance(members.get(str(key)), str) and isinstance(value, list):
                    value = self._join(value)
                elif self.sequence_tokenizer and isinstance(members.get(str(key)), list):
                    value = self.sequence_tokenizer.split(value or "")
                text = set_member(text, str(key), _rounded(value))
        if output.probabilities is not None:
            text = set_member(text, PROBABILITIES, _rounded(output.probabilities))
        return row["leading"] + text + end

    def _holds(self, members: dict[str, Any], keys: list[Column], row: Row, value: Any) -> bool:
        """Whether the line already has this target; then its spelling stays as it is."""
        try:
            return self._same(self._target(members, keys, element_count(row)), value)
        except ValueError:
            # Without read_target a target that no model could learn from is of no concern.
            return False


def _member(members: dict[str, Any], key: Column, setting: str) -> Any:
    if key not in members:
        names = excerpt(", ".join(members))
        raise ValueError(f"data.{setting}={key}: no such key, the object has {names}")
    return members[str(key)]


def _kind(value: Any) -> str:
    return KINDS[type(value)]


def _token(element: Any, number: int) -> str:
    if not isinstance(element, str):
        raise ValueError(f"element {number} is {_kind(element)}; {ELEMENTS}")
    return element


def _vector(element: Any, number: int, width: int) -> list[float]:
    if not isinstance(element, list):
        raise ValueError(f"element {number} is {_kind(element)} where the file has vectors")
    if len(element) != width:
        raise ValueError(
            f"element {number} has {len(element)} numbers where the file's first has {width}"
        )
    try:
        return [_finite(entry) for entry in element]
    except ValueError as error:
        raise ValueError(f"element {number}: {error}") from None


def _finite(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{_kind(value)} where a number is expected")
    # JSON has no largest number: 1e999 becomes infinite, and so would an integer as long.
    if abs(value) > sys.float_info.max:
        raise ValueError("a number too large for this machine")
    return float(value)


def _number(value: Any) -> int | float | None:
    if value is not None:
        _finite(value)
    return cast(int | float | None, value)


def _rounded(value: Any) -> Any:
    """The value with every number as ``NUMBER_FORMAT`` writes it."""
    if isinstance(value, float):
        return float(format(value, NUMBER_FORMAT))
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return value
