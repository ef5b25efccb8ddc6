"""The page on a data set: what is wrong stands last, where a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqtag.data.shares import share
from seqtag.survey.facts import Problem, SplitFacts, Survey
from seqtag.survey.measured import Numbers
from seqtag.survey.remarks import spell_label

LABELS = 20
"""Labels that the page names; the others are counted, and are all in the JSON."""

BAR = 36
"""Cells of the longest bars of a histogram, those of all splits together."""


def print_page(found: Survey) -> None:
    """Print the page to stdout."""
    # Nothing that stands in a file is markup, an emoji's name, or something to be coloured.
    console = Console(markup=False, highlight=False, emoji=False)
    for split in found.splits.values():
        _line(console, f"{split.name:<5} {split.given}{_several_files(split)}")
    for note in found.notes:
        _line(console, note)
    splits = list(found.splits.values())
    console.print()
    if splits:
        _table(console, ["", *found.splits], _counts(splits))
        _table(console, ["elements in a row", *_doubled(found.splits)], _histogram(splits))
    if any(split.measured.labels for split in splits):
        _table(console, [_label_title(found), *_doubled(found.splits)], _labels(found, splits))
    numbers = [(split.name, *pair) for split in splits for pair in _numbers(split)]
    if numbers:
        columns = ["numbers", "column", "count", "mean", "deviation", "smallest", "largest"]
        _table(console, columns, (_number_row(*row) for row in numbers))
    _section(console, "To know", found.remarks)
    _section(console, _counted("warning", found.warnings), _problems(found.warnings))
    _section(console, _counted("error", found.errors), _problems(found.errors))
    if found.error_count:
        _line(console, f"{_number(found.error_count, 'error')}: training would refuse this data.")
    else:
        warnings = sum(problem.count for problem in found.warnings)
        told = f", {_number(warnings, 'warning')}" if warnings else ""
        _line(console, f"No errors{told}: training would take this data.")


def visible(text: str) -> str:
    """The text with everything that could move a cursor written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _line(console: Console, text: str) -> None:
    # Not wrapped: a line with a place in it is one that a program can look for.
    console.print(Text(visible(text)), soft_wrap=True)


def _section(console: Console, title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if not lines:
        return
    _line(console, title)
    for line in lines:
        _line(console, f"  {line}")
    console.print()


def _table(console: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for number, name in enumerate(columns):
        bars = number and not name
        table.add_column(
            Text(visible(name)),
            justify="left" if bars or not number else "right",
            overflow="fold",
            no_wrap=bool(bars),
        )
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)
    console.print()


def _doubled(names: Iterable[str]) -> list[str]:
    """Each name with a column of its own for what stands behind the number."""
    return [column for name in names for column in (name, "")]


def _several_files(split: SplitFacts) -> str:
    files = split.measured.files
    return f" ({len(files):,} files)" if len(files) > 1 else ""


def _counts(splits: Sequence[SplitFacts]) -> Iterator[list[str]]:
    """What is counted of each split, line by line; lines that say nothing are left out."""
    measured = [split.measured for split in splits]
    counts = [split.counts for split in splits]
    tokens = [m.tokens for m in measured]
    yield ["rows", *(f"{c['rows']:,}" for c in counts)]
    yield ["elements", *(f"{c['elements']:,}" for c in counts)]
    if all(tokens):
        yield ["types", *(f"{t.types:,}" for t in tokens if t)]
        yield ["unknown elements", *(share(c["unknown"], c["elements"]) for c in counts)]
        yield ["unknown types", *(share(t.unknown_types, t.types) for t in tokens if t)]
        if any(t.with_blanks for t in tokens if t):
            yield ["elements with blanks", *(f"{t.with_blanks:,}" for t in tokens if t)]
    yield ["mean length", *(f"{m.lengths.mean:.1f}" for m in measured)]
    for name in measured[0].lengths.quantiles:
        yield [f"{name} hold up to", *(f"{m.lengths.quantiles[name]:g}" for m in measured)]
    yield ["longest", *(f"{m.lengths.longest:,}" for m in measured)]
    if any(c["empty"] for c in counts):
        yield ["empty rows left out", *(f"{c['empty']:,}" for c in counts)]
    missing = (share(split.counts["missing"], split.targets) for split in splits)
    yield ["missing targets", *missing]
    yield ["repeated inputs", *(f"{m.repeats.rows:,}" for m in measured)]
    yield ["inputs with several targets", *(f"{m.repeats.conflicts:,}" for m in measured)]
    if any(m.several_references for m in measured):
        yield ["with several references", *(f"{m.several_references:,}" for m in measured)]
    for number, feature in enumerate(measured[0].features):
        if feature.categories is not None:
            of_splits = [m.features[number] for m in measured]
            yield [f"categories of {feature.column}", *(f"{f.categories:,}" for f in of_splits)]


def _histogram(splits: Sequence[SplitFacts]) -> Iterator[list[str]]:
    found = [
        {first: (last, rows) for first, last, rows in split.measured.lengths.histogram}
        for split in splits
    ]
    most = [max(rows for _, rows in bins.values()) for bins in found]
    ends = sorted({(first, last) for bins in found for first, (last, _) in bins.items()})
    for first, last in ends:
        row = [f"{first:,}" if first == last else f"{first:,} to {last:,}"]
        for bins, longest in zip(found, most, strict=True):
            rows = bins.get(first, (last, 0))[1]
            row += [f"{rows:,}", _bar(rows, longest, BAR // len(splits))]
        yield row


def _bar(part: int, whole: int, cells: int) -> str:
    return "#" * max(round(cells * part / whole), int(part > 0))


def _label_title(found: Survey) -> str:
    kind = "symbols" if found.sequence else "labels"
    scheme = f", {found.file_scheme or found.scheme}" if found.scheme else ""
    learnt = f", learnt as {found.scheme}" if found.file_scheme else ""
    return f"{len(found.labels):,} {kind}{scheme}{learnt}"


def _labels(found: Survey, splits: Sequence[SplitFacts]) -> Iterator[list[str]]:
    """The most frequent labels, and all others in one line."""
    counts = [split.measured.labels.counts if split.measured.labels else {} for split in splits]
    names = list(dict.fromkeys(label for of_split in counts for label in of_split))
    totals = [max(1, sum(of_split.values())) for of_split in counts]
    shown = names[:LABELS]

    def cells(numbers: Iterable[int]) -> list[str]:
        pairs = zip(numbers, totals, strict=True)
        return [cell for n, total in pairs for cell in (f"{n:,}", share(n, total) if n else "")]

    for name in shown:
        yield [spell_label(name), *cells(of_split.get(name, 0) for of_split in counts)]
    if rest := names[LABELS:]:
        others = (sum(of_split.get(name, 0) for name in rest) for of_split in counts)
        yield [f"({len(rest):,} others)", *cells(others)]


def _numbers(split: SplitFacts) -> Iterator[tuple[str, Numbers]]:
    measured = split.measured
    for number, numbers in enumerate(measured.numbers, 1):
        yield (f"target {number}" if len(measured.numbers) > 1 else "target"), numbers
    for feature in measured.features:
        if feature.numbers is not None:
            yield feature.column, feature.numbers


def _number_row(split: str, column: str, numbers: Numbers) -> list[str]:
    values = (numbers.mean, numbers.deviation, numbers.minimum, numbers.maximum)
    return [split, column, f"{numbers.count:,}", *(f"{value:.5g}" for value in values)]


def _problems(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        yield from problem.messages
        if (rest := problem.count - len(problem.messages)) > 0:
            yield f"  and {rest:,} more of this kind"


def _counted(word: str, problems: Iterable[Problem]) -> str:
    count = sum(problem.count for problem in problems)
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _number(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"
