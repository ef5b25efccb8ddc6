"""How a row that is too long to be read in one piece is read all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

OVERLAP = 0.25
"""Share of a window that it has in common with the next one."""

POLICIES = ("error", "split", "truncate")


TRUNCATION = "only its beginning with data.too_long=truncate"


class Window(NamedTuple):
    """A stretch of a row: elements ``start`` to ``stop`` are read, ``first`` to ``last`` count."""

    start: int
    stop: int
    first: int
    last: int


def cut(length: int, limit: int) -> list[Window]:
    """Windows of at most ``limit`` elements over a row; each element counts in exactly one.

    Neighbours overlap, and the border lies in the middle of what they share, so that what counts
    has context on both sides.
    """
    if length <= limit:
        return [Window(0, length, 0, length)]
    overlap = int(limit * OVERLAP)
    starts = [*range(0, length - limit, limit - overlap), length - limit]
    borders = [
        0,
        *((left + limit + right) // 2 for left, right in pairwise(starts)),
        length,
    ]
    return [
        Window(start, start + limit, first, last)
        for start, first, last in zip(starts, borders[:-1], borders[1:], strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class LongRows:
    """What is done with rows over a limit.

    Args:
        limit: elements that are read in one piece.
        budget: cells that are read at once.
        per_element: whether every element has a target, and so needs an answer.
        splits: whether longer rows are read in overlapping windows.
        truncates: whether only their beginning is read.
    """

    limit: int
    budget: int
    per_element: bool
    splits: bool
    truncates: bool

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, per_element: bool) -> LongRows:
        """What a run's config says.

        Args:
            config: with the nodes ``data`` and ``batching``.
            per_element: whether every element has a target.

        Raises:
            ValueError: there is no such policy, it does not serve the task, or the limit is none.
        """
        policy, limit = config["data"]["too_long"], config["data"]["max_length"]
        most = config["batching"]["max_tokens"]
        if policy is None:
            policy = "split" if per_element else "error"
        if policy not in POLICIES:
            raise ValueError(f"data.too_long={policy}: it is one of {', '.join(POLICIES)}, or null")
        if policy == "split" and not per_element:
            raise ValueError(
                "data.too_long=split: only tasks with a target for every element can be read in "
                "pieces; use error or truncate"
            )
        if limit is None:
            limit = most
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
            raise ValueError(
                f"data.max_length={limit}: it must be null or a whole number from 1 to "
                f"batching.max_tokens={most}"
            )
        return cls(
            limit=limit,
            budget=most,
            per_element=per_element,
            splits=policy == "split",
            truncates=policy == "truncate",
        )

    @property
    def refuses(self) -> bool:
        """Whether longer rows are an error."""
        return not self.splits and not self.truncates

    def refusal(self, length: int) -> str | None:
        """Why a row of so many elements cannot be read; None where it can, if not in one piece."""
        if length <= self.limit or not self.refuses:
            return None
        return (
            f"a sequence of {length} elements is over the limit of {self.limit} (data.max_length, "
            "else batching.max_tokens); raise that, shorten the sequence, or read "
            f"{'it in windows with data.too_long=split' if self.per_element else TRUNCATION}"
        )

    def training_windows(self, length: int) -> list[Window]:
        """What is learnt of a row: all of it, in windows or not, or its beginning."""
        if self.truncates and length > self.limit:
            return [Window(0, self.limit, 0, self.limit)]
        return cut(length, self.limit) if self.splits else [Window(0, length, 0, length)]
