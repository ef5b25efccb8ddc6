"""One split, measured in a pass over its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow
from numpy.typing import NDArray

from seqtag.batch import VECTORS, WORD
from seqtag.data.features import Categories
from seqtag.data.inputs import Inputs
from seqtag.data.vocabulary import Vocabulary
from seqtag.datamodule import DataModule
from seqtag.evaluation.conversion import convert
from seqtag.split import Split
from seqtag.survey.columns import any_valid, blocks, floats, integers, sizes
from seqtag.survey.measured import Features, Labels, Measured, Numbers
from seqtag.survey.repeats import Hashes, find_repeats
from seqtag.survey.spans import look_like_spans, measure_spans
from seqtag.survey.tallies import LabelTally, NumberTally, TokenTally, measure_lengths


def measure(data: DataModule, split: Split, hashes: Hashes) -> Measured:
    """Measure a split.

    Args:
        data: that it belongs to.
        split: with its rows.
        hashes: of the same rows.
    """
    columns = split.rows.column_names
    labels, numbers = _targets(data, split)
    spans = (
        measure_spans(
            split.rows,
            lambda row, element: place(split, row, element),
            learnt=split.spec.file_scheme or split.spec.scheme,
        )
        if data.task.per_element and labels is not None and look_like_spans(labels.counts)
        else None
    )
    tokens = None
    if "tokens" in columns:
        tally = TokenTally()
        for (block,) in blocks(split.rows, "tokens"):
            tally.add(block)
        word = data.inputs.fields.get(WORD)
        tokens = tally.facts(
            lambda token: not isinstance(word, Vocabulary) or token in word,
            data.inputs.normalization.each,
        )
    several = 0
    if "references" in columns:
        several = sum(
            int((sizes(block) > 1).sum()) for (block,) in blocks(split.rows, "references")
        )
    return Measured(
        files=_files(split),
        lengths=measure_lengths(hashes.lengths, hashes.place),
        tokens=tokens,
        labels=labels,
        numbers=numbers,
        spans=spans,
        repeats=find_repeats(hashes),
        several_references=several,
        constant_vectors=_constant_vectors(data, split),
        features=list(_features(data.inputs, split)),
    )


def hash_rows(data: DataModule, split: Split) -> Hashes:
    """The hashes, lengths and targets of a split's rows."""
    elements = "vectors" if "vectors" in split.rows.column_names else "tokens"
    lengths: list[NDArray[np.int64]] = []
    scored: list[NDArray[np.bool_]] = []
    for tokens, targets in blocks(split.rows, elements, "target"):
        lengths.append(sizes(tokens))
        # No label at all is a target too, where a row has several.
        there = targets.is_valid().to_numpy(zero_copy_only=False) if data.task.several else None
        scored.append(any_valid(targets) if there is None else there)
    return Hashes(
        name=split.name,
        inputs=integers(split.rows, "input_hash"),
        rows=integers(split.rows, "row_hash"),
        scored=np.concatenate(scored),
        lengths=np.concatenate(lengths),
        place=split.place,
    )


def place(split: Split, row: int, element: int) -> str:
    """``file:line`` of a row, and which of its elements is meant."""
    return f"{split.place(row)} (element {element + 1})"


def _files(split: Split) -> list[str]:
    found: dict[str, None] = {}
    for (block,) in blocks(split.rows, "file"):
        found.update(dict.fromkeys(block.unique().to_pylist()))
    return list(found)


def _targets(data: DataModule, split: Split) -> tuple[Labels | None, list[Numbers]]:
    """The labels of a split, or its numbers."""
    if split.spec.width:
        numbers = NumberTally(split.spec.width)
        for (block,) in blocks(split.rows, "target"):
            numbers.add_targets(block)
        return None, numbers.facts()
    if split.spec.sequence:
        return _symbols(split), []
    tally = LabelTally()
    for (block,) in blocks(split.rows, "target"):
        tally.add(block)
    learnt = tally.counts if split.spec.file_scheme is None else _learnt(split)
    unseen = {label: learnt[label] for label in split.spec.unseen}
    by_element = data.task.per_element

    def where(row: int, element: int) -> str:
        return place(split, row, element) if by_element else split.place(row)

    return tally.facts(unseen, where), []


def _learnt(split: Split) -> Counter[str]:
    """Labels as the model learns them, where that is in another scheme than the files'."""
    assert split.spec.file_scheme is not None
    assert split.spec.scheme is not None
    counts: Counter[str] = Counter()
    for (block,) in blocks(split.rows, "target"):
        for labels in block.to_pylist():
            converted = convert(labels, split.spec.file_scheme, split.spec.scheme)
            counts.update(label for label in converted if label is not None)
    return counts


def _symbols(split: Split) -> Labels:
    """The symbols of target sequences."""
    names = ("", *split.spec.labels, *split.spec.unseen)  # id 0 ends a sequence
    found = np.zeros(len(names), np.int64)
    for row in split.encoded:
        found += np.bincount(row["target"], minlength=len(names))
    counts = dict(zip(names[1:], found[1:].tolist(), strict=True))
    present = {name: count for name, count in counts.items() if count}
    return Labels(
        counts=dict(sorted(present.items(), key=lambda item: (-item[1], item[0]))),
        once={},
        odd={},
        unseen={name: counts[name] for name in split.spec.unseen},
    )


def _constant_vectors(data: DataModule, split: Split) -> list[int]:
    """The numbers of the vectors that never vary."""
    if not data.inputs.reads_vectors or "vectors" not in split.rows.column_names:
        return []
    width = len(data.inputs.fields[VECTORS])
    least, most = np.full(width, np.inf), np.full(width, -np.inf)
    for (block,) in blocks(split.rows, "vectors"):
        vectors = block.flatten()
        if not (sizes(vectors) == width).all():
            return []  # an error, and said there
        values = floats(vectors.flatten()).reshape(-1, width)
        least, most = np.minimum(least, values.min(0)), np.maximum(most, values.max(0))
    return [int(number) for number in np.flatnonzero(least == most)]


def _features(inputs: Inputs, split: Split) -> Iterator[Features]:
    """Each further column of the split."""
    if "features" not in split.rows.column_names:
        return
    known = {name.partition(":")[2]: field for name, field in inputs.fields.items() if ":" in name}
    for number, column in enumerate(split.rows.features["features"]):
        values = (block.field(number) for (block,) in blocks(split.rows, "features"))
        if pyarrow.types.is_floating(split.rows.features["features"][column].feature.pa_type):
            numbers = NumberTally(1)
            for block in values:
                numbers.add(floats(block.flatten())[:, None])
            yield Features(
                column=column, categories=None, unknown=0, numbers=next(iter(numbers.facts()), None)
            )
            continue
        tally = TokenTally()
        for block in values:
            tally.add(block)
        field = known[column]
        assert isinstance(field, Categories)
        names = inputs.normalization.each(list(tally.counts))
        counts = zip(names, tally.counts.values(), strict=True)
        unknown = sum(count for name, count in counts if name not in field)
        yield Features(column=column, categories=len(tally.counts), unknown=unknown, numbers=None)
