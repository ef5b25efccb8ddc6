"""One JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from seqtag.batch import Output, Row
from seqtag.data.readers.beside import PREDICTED, Beside, fresh_names, spell_place
from seqtag.data.readers.lines import bad_line, split_line_end
from seqtag.data.readers.members import parse_object, set_member
from seqtag.data.readers.objects import ObjectRows, check_keys
from seqtag.data.readers.reader import Reader
from seqtag.data.readers.values import NUMBER_FORMAT


@dataclass(kw_only=True)
class JsonlReader(Reader):
    """One object a line; the input, the target and other columns are keys of it.

    See ``ObjectRows`` for what their values may be.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self, "a key of the JSON objects")

    def read(self, stream: BinaryIO, name: str) -> Iterator[Row]:
        """Yield one row per line, as soon as the line is there."""
        leading, lines = self._lines(stream, name)
        objects = ObjectRows(self)
        for line in lines:
            row = Row(target=None, file=name, line=line.number, leading=leading, raw=line.raw)
            leading = ""
            try:
                objects.fill(row, parse_object(line.text))
            except ValueError as error:
                self._fault(bad_line(name, line.number, str(error), line.text))
                continue
            yield row

    def beside(self, rows: Iterable[Row]) -> Beside:
        """A further key of each object."""
        texts = (split_line_end(row["raw"])[0] for row in rows)
        # Few lines need to be parsed for it: a key may also be spelled with escapes.
        likely = (text for text in texts if PREDICTED in text or "\\u" in text)
        taken = {key for text in likely for key in parse_object(text)}
        names = fresh_names(self.target, taken)
        writer = replace(self, target=[*names], references=[], mask=None).writer
        return Beside(spell_place("key", names), writer)

    def write(self, row: Row, output: Output) -> str:
        """The line with the prediction as the target's value; other keys stay as they are.

        Probabilities of all labels, where there are any, go to the key ``probabilities``.
        """
        text, end = split_line_end(row["raw"])
        changes = ObjectRows(self).changes(row, output, parse_object(text))
        for key, value in changes.items():
            text = set_member(text, key, _rounded(value))
        return row["leading"] + text + end


def _rounded(value: Any) -> Any:
    """The value with every number as ``NUMBER_FORMAT`` writes it."""
    if isinstance(value, float):
        return float(format(value, NUMBER_FORMAT))
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return value
