"""Raw lines: one sequence a line, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from seqtag.batch import Output, Row, place
from seqtag.data.readers.columns import counted, refuse
from seqtag.data.readers.lines import LINE_ENDS, bad_line, excerpt
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.values import spell, spell_probabilities
from seqtag.data.tokenizers import BETWEEN_WORDS

BETWEEN_ELEMENTS = " "
BETWEEN_NUMBERS = ","
BETWEEN_COLUMNS = "\t"


@dataclass(kw_only=True)
class LinesReader(Reader):
    """One sequence a line, split by the input's tokenizer; an empty line is an empty row.

    There are no columns: ``input`` is not looked at, and there is nothing to read a target from.
    Only further inputs, where there are any, follow after tabs, in their order. Each row is given
    as soon as its line is there, so that a person can type.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.read_target and self.target is not None:
            raise ValueError(
                f"data.target={self.target}: raw lines hold no targets; use data=tsv or another "
                "format, or set data.target=null"
            )
        refuse(
            "raw lines have",
            {"features": self.features, "numeric_features": self.numeric_features},
            "give the rows as tsv, or another format that has columns",
        )

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per line."""
        leading, lines = self._lines(stream, name)
        for line in lines:
            try:
                tokens = self._tokens(line.text)
            except ValueError as error:
                self._fault(bad_line(name, line.number, str(error), line.text))
                continue
            yield Row(
                tokens=tokens,
                target=None,
                file=name,
                line=line.number,
                leading=leading,
                raw=line.raw,
            )
            leading = ""

    def _tokens(self, text: str) -> list[str]:
        if not self.further_input or not text.strip(BETWEEN_WORDS):
            return self.values.elements(text)
        first, *further = text.split(BETWEEN_COLUMNS)
        if len(further) != len(self.further_input):
            raise ValueError(
                f"{counted(1 + len(further))} between tabs, where the input and "
                f"data.further_input={self.further_input} are {1 + len(self.further_input)}"
            )
        return self.values.with_further(self.values.elements(first), further)

    def write(self, row: Row, output: Output) -> str:
        """See ``spell_line``."""
        return spell_line(row, output) + "\n"


def spell_line(row: Row, output: Output) -> str:
    """A line of the prediction alone: one value, or one per element with blanks between.

    Several numbers of one element are joined by commas. Probabilities of the chosen labels follow
    after a tab. Nothing of the input is repeated.

    Raises:
        ValueError: a line cannot hold the prediction.
    """
    value = output.value
    if isinstance(value, list):
        texts = [_spell(element) for element in value]
        if any(set(BETWEEN_ELEMENTS + LINE_ENDS) & set(text) for text in texts):
            raise _unwritable(row, texts)
        text = BETWEEN_ELEMENTS.join(texts)
    else:
        text = "" if value is None else spell(value)
        if set(LINE_ENDS) & set(text):
            raise _unwritable(row, text)
    if output.probabilities:
        if BETWEEN_COLUMNS in text:
            raise _unwritable(row, text)
        text += BETWEEN_COLUMNS + spell_probabilities(output)
    return text


def _spell(element: Any) -> str:
    if isinstance(element, list):
        return BETWEEN_NUMBERS.join(spell(number) for number in element)
    return spell(element)


def _unwritable(row: Row, prediction: Any) -> ValueError:
    return ValueError(
        f"{place(row)}: the prediction {excerpt(str(prediction))} holds a blank, a tab or a line "
        "end and cannot be written as a raw line; write it as jsonl"
    )
