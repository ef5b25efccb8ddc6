"""Rows from objects of plain values, for every format whose columns hold more than text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from seqtag.batch import Output, Row, length
from seqtag.data.readers.cell_values import FURTHER
from seqtag.data.readers.columns import Column, listed
from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.object_values import (
    ELEMENTS,
    Members,
    check_finite,
    check_token,
    check_vector,
    kind_of,
    read_feature,
    read_mask,
    read_member,
    read_texts,
)
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.values import spell

PREDICTION = "prediction"
PROBABILITIES = "probabilities"


def check_keys(reader: Reader, kind: str) -> None:
    """Refuse columns without a name.

    Args:
        reader: whose columns these are.
        kind: what the format calls a column.

    Raises:
        ValueError: a column is a number, or the input a list of columns.
    """
    settings: dict[str, Iterable[Any]] = {
        "input": [reader.input],
        "target": listed(reader.target),
        "references": reader.references,
        "features": reader.features,
        "numeric_features": reader.numeric_features,
        "further_input": reader.further_input,
        "mask": listed(reader.mask),
    }
    for setting, columns in settings.items():
        for column in columns:
            if not isinstance(column, str):
                raise ValueError(f"data.{setting}={column}: it must be {kind}")


def read_columns(reader: Reader) -> dict[str, str]:
    """The keys that a reader looks at, each with the setting that names it."""
    settings: dict[str, list[Column]] = {
        "input": listed(reader.input),
        "target": listed(reader.target) if reader.read_target else [],
        "references": reader.references if reader.read_target else [],
        "mask": listed(reader.mask) if reader.read_target else [],
        "features": reader.features,
        "numeric_features": reader.numeric_features,
        "further_input": reader.further_input,
    }
    return {str(key): setting for setting, keys in settings.items() for key in keys}


def refuse_skipping(reader: Reader) -> None:
    """Refuse to pass over lines of a format that has none.

    Raises:
        ValueError: ``data.skip_lines`` is set.
    """
    if reader.skip_lines:
        raise ValueError(
            f"data.skip_lines={reader.skip_lines}: this format has rows and no lines; leave it at 0"
        )


class ObjectRows:
    """Makes rows of the objects of one file, and says what a prediction changes in an object.

    The input is a string, which the tokenizer splits; a list of strings, the tokens; or a list of
    vectors, each a list of numbers. The target is a string, a number or null, or a list with one
    of those, or a list of numbers, per element. Several target keys make a target of several
    numbers per sequence, or per element where each holds a list. A number that is spelled like
    ``data.missing`` is missing. Features are one value, or a list with one per element; a mask is
    a list or a string of 0 and 1; references are a string or a list of strings.

    An empty list is a row without tokens, unless a row with vectors came before.

    Args:
        reader: whose settings say which key is what.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        read = (*reader.features, *reader.numeric_features, *reader.further_input)
        if both := [key for key in listed(reader.target) if key in read]:
            raise ValueError(
                f"data.target={both[0]} is among data.features, data.numeric_features or "
                "data.further_input too; a model must not read what it is to predict"
            )
        # Width of the file's vectors: None before the first element, 0 where elements are tokens.
        self._width: int | None = None

    def fill(self, row: Row, members: Members) -> None:
        """Put what the object says into its row.

        Raises:
            ValueError: a key is not there, or its value is of the wrong kind; the message holds
                no place.
        """
        reader = self._reader
        self._fill_input(row, members)
        count = length(row)
        columns = [*reader.features, *reader.numeric_features]
        if columns:
            cells = {column: read_feature(members, column, reader) for column in columns}
            row["features"] = reader.values.features(cells, count)
        if not reader.read_target:
            return
        target = self._target(members, listed(reader.target), count)
        if reader.mask is not None and isinstance(target, list):
            target = reader.values.masked(
                target, read_mask(read_member(members, reader.mask, "mask"))
            )
        row["target"] = target
        if others := [text for key in reader.references for text in read_texts(members, key)]:
            accepted = list(dict.fromkeys([self._first(target), *others]))
            if len(accepted) > 1:
                row["references"] = accepted

    def changes(self, row: Row, output: Output, members: Members) -> dict[str, Any]:
        """The keys that get another value where a row's prediction is written, with the value.

        A target that the object already has is not among them.

        Raises:
            ValueError: the object cannot hold the prediction.
        """
        reader = self._reader
        keys = listed(reader.target) or [PREDICTION]
        changed: dict[str, Any] = {}
        if not self._holds(members, keys, row, output.value):
            values = reader.values.separated(output.value, len(keys))
            for key, value in zip(keys, values, strict=True):
                held = members.get(str(key))
                # An empty set of labels stays a list: an empty string would be a missing one.
                joined = value or not reader.label_tokenizer
                if isinstance(held, str) and isinstance(value, list) and joined:
                    value = reader.values.join(value)
                elif reader.sequence_tokenizer and isinstance(held, list):
                    value = reader.sequence_tokenizer.split(value or "")
                changed[str(key)] = value
        if output.probabilities is not None:
            changed[PROBABILITIES] = output.probabilities
        return changed

    def _fill_input(self, row: Row, members: Members) -> None:
        reader = self._reader
        elements = read_member(members, str(reader.input), "input")
        if isinstance(elements, str):
            elements = reader.values.elements(elements)
        if not isinstance(elements, list):
            raise ValueError(f"data.input={reader.input} is {kind_of(elements)}; {ELEMENTS}")
        if elements and self._width is None:
            self._width = len(elements[0]) if isinstance(elements[0], list) else 0
        if not self._width:
            further = [t for key in reader.further_input for t in self._further(members, key)]
            tokens = [check_token(element, n) for n, element in enumerate(elements, 1)]
            row["tokens"] = [*tokens, *(FURTHER + element for element in further)]
            return
        if reader.further_input:
            raise ValueError(
                f"data.further_input={reader.further_input}: only tokens can follow the input's "
                "elements, and these are vectors; name the columns in data.features"
            )
        row["vectors"] = [
            check_vector(element, n, self._width) for n, element in enumerate(elements, 1)
        ]

    def _further(self, members: Members, key: Column) -> list[str]:
        value = read_member(members, key, "further_input")
        if isinstance(value, str):
            return self._reader.further_tokenizer.split(value)
        if isinstance(value, list):
            return [check_token(element, n) for n, element in enumerate(value, 1)]
        if value is None:
            return []
        raise ValueError(f"data.further_input={key} is {kind_of(value)}; give a string or a list")

    def _first(self, target: Any) -> str:
        """The target as the first of the references."""
        if isinstance(target, str):
            return target
        tokenizer = self._reader.sequence_tokenizer
        assert tokenizer is not None, "only sequences have references"
        if isinstance(target, list) and all(isinstance(symbol, str) for symbol in target):
            joined = tokenizer.join(target)
            if tokenizer.split(joined) == target:
                return joined
        found = "missing" if target is None else excerpt(str(target))
        raise ValueError(
            f"data.target={self._reader.target} is {found} where there are references; give it as "
            "a string"
        )

    def _target(self, members: Members, keys: list[Column], count: int) -> Any:
        values = [self._value(read_member(members, key, "target")) for key in keys]
        return self._reader.values.combined(values, count)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._reader.values.cells(value)
        if isinstance(value, list):
            return [self._entry(entry) for entry in value]
        return self._number(value)

    def _entry(self, entry: Any) -> Any:
        if isinstance(entry, str):
            # A symbol, or one of several labels, is what it is; only a cell can be missing.
            whole = self._reader.sequence_tokenizer or self._reader.label_tokenizer
            return entry if whole else self._reader.values.cell(entry)
        if isinstance(entry, list):
            return [self._number(number) for number in entry]
        return self._number(entry)

    def _number(self, value: Any) -> int | float | None:
        number = type(value) in (int, float)
        if value is None or (number and spell(value) == self._reader.missing):
            return None
        check_finite(value)
        return cast(int | float, value)

    def _holds(self, members: Members, keys: list[Column], row: Row, value: Any) -> bool:
        """Whether the object already has this target; then its spelling stays as it is."""
        try:
            target = self._target(members, keys, length(row))
            return self._reader.values.same(target, value)
        except ValueError:
            # Without read_target a target that no model could learn from is of no concern.
            return False
