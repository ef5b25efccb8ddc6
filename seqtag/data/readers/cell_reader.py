"""Rows that a file holds as one text per column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqtag.batch import Row, length
from seqtag.data.readers.cell_values import MASKED
from seqtag.data.readers.columns import Column, listed
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.values import parse_number
from seqtag.data.tokenizers import BETWEEN_WORDS, WORD


@dataclass(kw_only=True)
class CellReader(Reader):
    """What formats share whose rows are a text in each column.

    Blanks around a text are not part of it. With several input columns each holds one number per
    element, split by the input's tokenizer. With a target tokenizer a target, and a feature, holds
    one per element; an empty one holds none for the whole row.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._targets = listed(self.target)

    def _other_columns(self) -> dict[str, list[Column]]:
        """Columns that are read beside the input's and the target's, by key of ``data``."""
        others = {
            "features": self.features,
            "numeric_features": self.numeric_features,
            "further_input": self.further_input,
        }
        if self.read_target:
            others["references"] = self.references
            others["mask"] = listed(self.mask)
        return others

    def _fill(self, row: Row, cells: Mapping[Column, str]) -> None:
        """Give a row what its texts say.

        Args:
            row: gets its elements, its target, and what else is read.
            cells: the text of every column that is read; none for an empty row.

        Raises:
            ValueError: the texts do not fit each other; the message holds no place.
        """
        if isinstance(self.input, list):
            row["vectors"] = self._vectors([cells.get(column, "") for column in self.input])
        else:
            tokens = self.values.elements(cells.get(self.input, ""))
            if self.further_input:
                texts = [cells.get(column, "") for column in self.further_input]
                tokens = self.values.with_further(tokens, texts)
            row["tokens"] = tokens
        count = length(row)
        if self.features or self.numeric_features:
            columns = (*self.features, *self.numeric_features)
            row["features"] = self.values.features(
                {column: self._values(cells.get(column, "")) for column in columns}, count
            )
        row["target"] = self._target(cells, count) if self.read_target else None
        if self.read_target and self.references:
            references = self._accepted(row["target"], cells)
            if len(references) > 1:
                row["references"] = references

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        columns = [
            [parse_number(number) for number in self.values.elements(text)] for text in texts
        ]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise ValueError(f"input columns of {sorted(lengths)} numbers; they must be as long")
        return [list(numbers) for numbers in zip(*columns, strict=True)]

    def _values(self, text: str) -> str | list[str]:
        """What a feature says: one value for the row, or one per element."""
        text = text.strip(BETWEEN_WORDS)
        if not text or self.target_tokenizer is None:
            return text
        return self.target_tokenizer.split(text)

    def _target(self, cells: Mapping[Column, str], count: int) -> Any:
        values = [self.values.cells(cells[column]) for column in self._targets if column in cells]
        target = self.values.combined(values, count)
        if self.mask is not None and self.mask in cells:
            kept = self.values.masked(target or [None] * count, _switches(cells[self.mask]))
            return kept if target else target
        return target

    def _accepted(self, target: Any, cells: Mapping[Column, str]) -> list[str]:
        """All targets that are right, the row's own first, each once."""
        found = [self.values.cell(cells.get(column, "")) for column in self.references]
        others = [cell for cell in found if cell is not None]
        if target is None and others:
            raise ValueError(f"a further target, {others[0]!r}, where the target itself is missing")
        return list(dict.fromkeys([target, *others]))

    def _with_masked(self, value: Any, cells: Mapping[Column, str], count: int) -> Any:
        """A prediction with the file's own targets where it has none and the mask says 0."""
        if self.mask is None or self.mask not in cells or not isinstance(value, list):
            return value
        texts = [cells[column] for column in self._targets if column in cells]
        try:
            own = self.values.combined([self.values.cells(text) for text in texts], count)
        except ValueError:
            return value
        switches = _switches(cells[self.mask])
        if not isinstance(own, list) or not len(own) == len(switches) == len(value):
            return value
        masked = [v is None and s == MASKED for v, s in zip(value, switches, strict=True)]
        return [o if m else v for o, v, m in zip(own, value, masked, strict=True)]

    def _holds(self, texts: list[str], row: Row, value: Any) -> bool:
        """Whether the target's columns already have this value; their spelling then stays."""
        try:
            cells = [self.values.cells(text) for text in texts]
            return self.values.same(self.values.combined(cells, length(row)), value)
        except ValueError:
            # Without read_target a target that no model could learn from is of no concern.
            return False


def _switches(text: str) -> str:
    """The marks of a mask, which stand one after the other or between blanks."""
    return "".join(WORD.findall(text))
