"""Lines that are JSON objects: parsed strictly, and changed without touching the rest."""

from __future__ import annotations

import json
import re
from typing import Any

WHITESPACE = re.compile(r"[ \t\r\n]*")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
DECODER = json.JSONDecoder()


def parse_object(text: str) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        ValueError: the line is not one JSON object, a key comes twice, a number is none of
            JSON's, or a string is not Unicode; the message holds no place.
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse)
        if SURROGATE.search(text):
            _check_unicode(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, character {error.pos + 1})") from None
    except RecursionError:
        raise ValueError("not readable: lists or objects are nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object in braces")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} comes twice")
    return members


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number; write null where a value is missing")


def _check_unicode(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a string holds half of a surrogate pair, which is not text") from None


def set_member(text: str, key: str, value: Any) -> str:
    """The line with another value for a key, which is added last where there is none.

    Args:
        text: a line that ``parse_object`` takes.
        key: of the object.
        value: plain data; numbers must be finite.
    """
    spelled = json.dumps(value, ensure_ascii=False, allow_nan=False)
    spans, end = _find_members(text)
    if key in spans:
        start, stop = spans[key]
        return text[:start] + spelled + text[stop:]
    comma = ", " if spans else ""
    return f"{text[:end]}{comma}{json.dumps(key, ensure_ascii=False)}: {spelled}{text[end:]}"


def _find_members(text: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Where the value of each key stands, and where the last one, or else the brace, ends."""
    spans: dict[str, tuple[int, int]] = {}
    end = text.index("{") + 1
    index = _after_blanks(text, end)
    while text[index] != "}":
        key, index = DECODER.raw_decode(text, index)
        # A key is followed by a colon, a value by a comma or the brace.
        start = _after_blanks(text, _after_blanks(text, index) + 1)
        _, end = DECODER.raw_decode(text, start)
        spans[key] = (start, end)
        index = _after_blanks(text, end)
        if text[index] == ",":
            index = _after_blanks(text, index + 1)
    return spans, end


def _after_blanks(text: str, index: int) -> int:
    match = WHITESPACE.match(text, index)
    assert match is not None
    return match.end()
