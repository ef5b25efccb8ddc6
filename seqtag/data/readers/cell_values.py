"""What the cells of a row mean: elements, targets, features, masks; and targets as cells again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqtag.batch import Output, Row, length, place
from seqtag.data.readers.columns import Column
from seqtag.data.readers.lines import excerpt
from seqtag.data.readers.values import parse_number, spell
from seqtag.data.tokenizers import BETWEEN_WORDS, Tokenizer

Cell = str | None
"""A target as text; None where it is missing."""


FURTHER = "+"
"""Stands before an element of a further input column, so that the tag V is not the letter V; the
mark that finite-state morphology puts before its tags."""

UNMASKED, MASKED = "1", "0"
SWITCHES = {UNMASKED: True, MASKED: False}


@dataclass(frozen=True, kw_only=True)
class CellValues:
    """Reads cells and writes them, as a reader's settings say; see ``Reader`` for these."""

    input_tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None
    sequence_tokenizer: Tokenizer | None
    label_tokenizer: Tokenizer | None
    further_tokenizer: Tokenizer
    numeric_features: list[Column]
    mask: Column | None
    missing: str

    def elements(self, text: str) -> list[str]:
        """The elements of an input that is one string."""
        # Blanks around a cell come from the file's layout; as elements they would be noise.
        return self.input_tokenizer.split(text.strip(BETWEEN_WORDS))

    def cell(self, text: str) -> Cell:
        """The target that a cell holds, as it is; None where it is missing."""
        text = text.strip(BETWEEN_WORDS)
        return None if not text or text == self.missing else text

    def cells(self, text: str) -> Cell | list[Cell]:
        """The same, split where it holds a target for each element, or several labels."""
        cell = self.cell(text)
        if cell is not None and self.label_tokenizer is not None:
            return [*self.label_tokenizer.split(cell)]
        if cell is None or self.target_tokenizer is None:
            return cell
        return [
            None if part == self.missing else part for part in self.target_tokenizer.split(cell)
        ]

    def with_further(self, tokens: list[str], texts: list[str]) -> list[str]:
        """The tokens of the input with those of the further columns behind them."""
        more = (part for text in texts for part in self.further_tokenizer.split(text))
        return [*tokens, *(FURTHER + element for element in more)]

    def features(self, cells: dict[Column, Any], count: int) -> dict[str, list[Any]]:
        """What the feature columns say of each of ``count`` elements.

        Args:
            cells: by column, a value for the whole row or a list with one per element.
            count: elements of the row.

        Raises:
            ValueError: a list has another length, or a number is none; the message holds no place.
        """
        found: dict[str, list[Any]] = {}
        for column, value in cells.items():
            entries = value if isinstance(value, list) else [value]
            if len(entries) == 1:
                entries = entries * count
            if len(entries) != count:
                raise ValueError(
                    f"{len(entries)} values of the feature {column} for {count} elements"
                )
            numeric = column in self.numeric_features
            found[str(column)] = [self.feature(entry, numeric, column) for entry in entries]
        return found

    def feature(self, entry: Any, numeric: bool, column: Column) -> Any:
        """One entry of a feature: a category, or a number or None.

        Raises:
            ValueError: it is no number.
        """
        text = "" if entry is None else spell(entry).strip(BETWEEN_WORDS)
        if not numeric:
            return text
        try:
            return None if text in ("", self.missing) else parse_number(text)
        except ValueError as error:
            raise ValueError(f"the feature {column}: {error}") from None

    def masked(self, targets: list[Any], mask: Any) -> list[Any]:
        """The targets, None where the mask, a string or a list of 0 and 1, says so.

        Raises:
            ValueError: it is made of something else, or has another length.
        """
        switches = [SWITCHES.get(str(int(s)) if isinstance(s, bool) else str(s)) for s in mask]
        if None in switches:
            raise ValueError(
                f"data.mask={self.mask} holds {excerpt(str(mask))}; it must be made of "
                f"{MASKED} and {UNMASKED}"
            )
        if len(switches) != len(targets):
            raise ValueError(f"a mask of {len(switches)} for {len(targets)} elements")
        return [t if s else None for t, s in zip(targets, switches, strict=True)]

    def by_element(self, row: Row, output: Output) -> list[tuple[Any, dict[str, float] | None]]:
        """The prediction for each element of the row, with its labels' probabilities.

        Raises:
            ValueError: there is not one for each.
        """
        count = length(row)
        if not isinstance(output.value, list) or len(output.value) != count:
            raise ValueError(
                f"{place(row)}: this format holds one prediction per element, {count} here, and "
                f"the model gives {excerpt(str(output.value))}; write it as tsv or jsonl"
            )
        return list(zip(output.value, output.probabilities or [None] * count, strict=True))

    def combined(self, values: list[Any], count: int) -> Any:
        """The target of a row of ``count`` elements from the values of its columns.

        Args:
            values: of each column, a cell for the row or a list with one per element.
            count: elements of the row.

        Raises:
            ValueError: a list has another length; the message holds no place.
        """
        for value in values:
            own_length = self.sequence_tokenizer or self.label_tokenizer
            if not own_length and isinstance(value, list) and len(value) != count:
                raise ValueError(f"{len(value)} targets for {count} elements")
        if len(values) < 2:
            return next(iter(values), None)
        if not any(isinstance(value, list) for value in values):
            return values
        columns = [[None] * count if value is None else value for value in values]
        if not all(isinstance(column, list) for column in columns):
            raise ValueError("one target has a value per element, another one for the sequence")
        return [list(cells) for cells in zip(*columns, strict=True)]

    def separated(self, value: Any, count: int) -> list[Any]:
        """The values of ``count`` columns from a target or prediction: undoes ``combined``.

        Raises:
            ValueError: they are not so many.
        """
        if count == 1:
            return [value]
        if not value:
            return [None] * count
        values = zip(*value, strict=True) if isinstance(value[0], list) else value
        columns = [list(column) if isinstance(column, tuple) else column for column in values]
        if len(columns) != count:
            raise ValueError(f"a prediction of {len(columns)} values for {count} target columns")
        return columns

    def same(self, target: Any, prediction: Any) -> bool:
        """Whether a target that a file holds is the predicted one, however it is spelled."""
        if self.label_tokenizer and isinstance(target, list) and isinstance(prediction, list):
            return set(target) == set(prediction)  # labels of a sequence have no order
        if self.sequence_tokenizer and isinstance(prediction, str):
            predicted = self.sequence_tokenizer.split(prediction)
            if isinstance(target, str):
                return self.sequence_tokenizer.split(target) == predicted
            return bool(target == predicted)
        return bool(target == prediction)

    def join(self, cells: list[str | int | float | None]) -> str:
        """One string of several cells, such that ``cells`` gives them back.

        Raises:
            ValueError: no string does.
        """
        tokenizer = self.label_tokenizer or self.target_tokenizer
        if tokenizer is None:
            raise ValueError(
                f"a prediction per element ({excerpt(str(cells))}) cannot be written into one cell "
                "while data.target_tokenizer is null; set data/target_tokenizer=whitespace"
            )
        texts = [self.missing if cell is None else spell(cell) for cell in cells]
        joined = tokenizer.join(texts)
        if tokenizer.split(joined) != texts:
            raise ValueError(
                f"the prediction {excerpt(joined)} does not split back into {len(texts)} elements; "
                "set data/target_tokenizer to one that does, or write it as jsonl"
            )
        return joined
