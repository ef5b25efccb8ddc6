"""The rows of a split, before they are numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from datasets import Dataset as Table

from seqtag.data.cache import Part
from seqtag.data.corpus import iterate
from seqtag.data.findings import Findings
from seqtag.data.windows import LongRows
from seqtag.nn.search import Search

CHANGED = "the files have changed since they were read first; start again"


@dataclass(frozen=True)
class ReadRows:
    """Rows of a split, or part of them, before they are encoded.

    Attributes:
        rows: ``tokens`` or ``vectors``, the parsed ``target``, ``references`` and ``features``
            where there are any, ``file`` and ``line``, and two hashes: ``input_hash`` of what the
            model reads, ``row_hash`` of that with the target.
        given: what the config names, a file or several.
        digest: SHA-256 of the files.
        key: of everything that the rows depend on.
        empty: rows that hold nothing and were left out.
        findings: what is wrong with the files.
        part: of the files' rows, in words; None where it is all of them, or what a cut left.
    """

    rows: Table
    given: str
    digest: str
    key: str
    empty: int
    findings: Findings
    part: str | None = None

    @property
    def vectors(self) -> bool:
        """Whether elements are vectors rather than tokens."""
        return "vectors" in self.rows.column_names

    def iterate(self) -> Iterator[Any]:
        """Yield the rows as plain mappings."""
        return iterate(self.rows)

    def targets(self) -> Iterator[Any]:
        """Yield every target, and the others that are as right."""
        columns = [name for name in ("target", "references") if name in self.rows.column_names]
        return _targets(iterate(self.rows.select_columns(columns)))


@dataclass(frozen=True)
class StreamedRows:
    """Rows of a split that are read from its files whenever they are asked for.

    Attributes:
        parts: read the files.
        given: what the config names, a file or several.
        digest: SHA-256 of the files.
        key: of everything that the rows depend on.
        vectors: whether elements are vectors rather than tokens.
        counts: ``rows``, ``elements``, ``longest``, ``empty``, of a first pass.
        longest_at: ``file:line`` of the longest row.
        longest_targets: of target sequences, the symbols of the longest by the input's length.
        findings: what is wrong with the files.
    """

    parts: Sequence[Part]
    given: str
    digest: str
    key: str
    vectors: bool
    counts: dict[str, int]
    longest_at: str
    longest_targets: dict[int, int]
    findings: Findings

    def iterate(self, order: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the rows as plain mappings.

        Args:
            order: of the parts; None for their own.

        Raises:
            ValueError: the files are no longer what they were at the first pass.
        """
        rows = 0
        for part in range(len(self.parts)) if order is None else order:
            counts: dict[str, Any] = {}
            for row in self.parts[part](counts):
                rows += 1
                yield row
            if counts["error_count"]:
                raise ValueError(f"{counts['errors'][0]} ({CHANGED})")
        if rows != self.counts["rows"]:
            raise ValueError(
                f"{self.given}: {rows:,} rows, and {self.counts['rows']:,} before ({CHANGED})"
            )

    def targets(self) -> Iterator[Any]:
        """Yield every target, and the others that are as right."""
        return _targets(self.iterate())

    def check(self, *, long_rows: LongRows, search: Search | None, max_tokens: int) -> None:
        """Refuse rows over a limit, as ``Split.check`` does.

        Args:
            long_rows: what is done with rows over the limit.
            search: what limits the length of target sequences; None where there are none.
            max_tokens: cells that the largest row may need.

        Raises:
            ValueError: a row or a target sequence is over its limit.
        """
        if refusal := long_rows.refusal(self.counts["longest"]):
            raise ValueError(f"{self.longest_at}: {refusal}")
        for length, symbols in self.longest_targets.items():
            read = length if long_rows.refuses else min(length, long_rows.limit)
            most = search.limit(read) if search is not None else symbols
            most = min(most, max_tokens - 1)
            if symbols > most:
                raise ValueError(
                    f"{self.given}: a target of {symbols} symbols for an input of {length} is "
                    f"longer than the {most} that search and batching.max_tokens allow; raise "
                    "search.max_length (or search.length_factor, search.length_extra)"
                )

    def describe(self, *, buffer: int) -> str:
        """The counts in one line, and what streaming gives up."""
        return (
            f"train: {self.counts['rows']:,} rows, {self.counts['elements']:,} elements, longest "
            f"{self.counts['longest']:,}, read anew in every epoch ({self.given}); shuffled "
            f"{buffer:,} rows at a time; without a training split on disk there are no floors of "
            "words or n-grams, nothing is said of repeated rows, no row is named by its line in an "
            "error during training, and a run goes on from the end of an epoch alone"
        )


def take_fold(
    train: ReadRows, fold: int, folds: int, *, seed: int
) -> tuple[ReadRows, ReadRows, str]:
    """Training rows without one of the parts that they are cut into, and that part.

    The parts are drawn by a permutation that depends on the seed alone. No two share a row, all of
    them together are the rows, and their sizes differ by one at most.

    Args:
        train: the rows.
        fold: which part is taken, from 1 on.
        folds: how many there are.
        seed: of the permutation.

    Returns:
        What stays, what is taken, and what is to be said of it.

    Raises:
        ValueError: there are fewer rows than parts.
    """
    rows = len(train.rows)
    if folds > rows:
        raise ValueError(
            f"{train.given} has {rows:,} rows: too few for data.folds={folds}, each with one"
        )
    parts = np.array_split(np.random.default_rng(seed).permutation(rows), folds)
    taken = parts.pop(fold - 1)
    note = (
        f"no data.test: {len(taken)} of the {rows} rows of {train.given} are the test split "
        f"(data.fold={fold} of data.folds={folds}, data.dev_seed={seed})"
    )
    key = f"{train.key}-fold-{fold}-{folds}-{seed}"
    kept = replace(
        train, rows=train.rows.select(np.sort(np.concatenate(parts))), key=f"{key}-train"
    )
    part = replace(train, rows=train.rows.select(np.sort(taken)), key=f"{key}-test", empty=0)
    return kept, replace(part, part=f"fold {fold} of {folds}"), note


def check_folds(data: Mapping[str, Any]) -> bool:
    """Whether the test split is a part of the training rows.

    Args:
        data: the node of a config.

    Raises:
        ValueError: the keys of folds do not go together with each other or the rest.
    """
    folds, fold = (data.get(key) for key in ("folds", "fold"))  # an older run has neither
    if folds is None and fold is None:
        return False
    if folds is None:
        raise ValueError(f"data.fold={fold}: of how many? give data.folds too, such as 5")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ValueError(f"data.folds={folds}: it must be null or a whole number of 2 or more")
    if fold is None:
        raise ValueError(
            f"data.folds={folds}: which one is the test split? give data.fold, 1 to {folds} "
            f"(compare folds={folds} trains on each)"
        )
    if isinstance(fold, bool) or not isinstance(fold, int) or not 1 <= fold <= folds:
        raise ValueError(
            f"data.fold={fold}: it must be a whole number from 1 to data.folds={folds}"
        )
    if data["test"] is not None:
        raise ValueError(
            f"data.folds={folds} makes a test split of training rows, and data.test names one: "
            "leave one of them null"
        )
    if data["streaming"]:
        raise ValueError(
            f"data.folds={folds}: rows that are never stored cannot be cut; leave data.streaming "
            "off"
        )
    return True


def cut_dev(train: ReadRows, fraction: float, *, seed: int) -> tuple[ReadRows, ReadRows, str]:
    """Training rows in two, by a permutation that depends on the seed alone.

    Args:
        train: the rows.
        fraction: share of them that becomes the dev split.
        seed: of the permutation.

    Returns:
        What stays, what is cut off, and what is to be said of it.

    Raises:
        ValueError: the fraction is none, or leaves nothing.
    """
    rows = train.rows
    if not 0 < fraction < 1:
        raise ValueError(f"data.dev_fraction is {fraction}; it must lie between 0 and 1")
    size = max(1, round(fraction * len(rows)))
    if size >= len(rows):
        raise ValueError(
            f"{train.given} has {len(rows)} rows: too few to cut a dev split from; "
            "name one, data.dev=FILE"
        )
    order = np.random.default_rng(seed).permutation(len(rows))
    note = (
        f"no data.dev: {size} of the {len(rows)} rows of {train.given} are the dev split "
        f"(data.dev_fraction={fraction}, data.dev_seed={seed})"
    )
    parts = {"train": np.sort(order[size:]), "dev": np.sort(order[:size])}
    kept, cut = (
        replace(train, rows=rows.select(part), key=f"{train.key}-{fraction}-{seed}-{name}")
        for name, part in parts.items()
    )
    return kept, replace(cut, empty=0), note


def draw(train: ReadRows, size: int, *, seed: int) -> tuple[ReadRows, str]:
    """So many training rows, drawn by a seed; a larger draw holds a smaller one.

    Returns:
        The rows, and what is to be said of them.

    Raises:
        ValueError: there are not so many.
    """
    rows = len(train.rows)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= rows:
        raise ValueError(
            f"data.train_rows is {size}; it must be null or a whole number from 1 to the "
            f"{rows:,} training rows"
        )
    drawn = np.random.default_rng(seed).permutation(rows)[:size]
    taken = train.rows.select(np.sort(drawn))
    note = f"training on {size:,} of {rows:,} rows (data.train_rows)"
    return replace(train, rows=taken, key=f"{train.key}-drawn-{size}-{seed}"), note


def _targets(rows: Iterator[Any]) -> Iterator[Any]:
    for row in rows:
        if row.get("references"):
            yield from row["references"]
        else:
            yield row["target"]
