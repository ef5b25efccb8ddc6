"""A data set as training would read it: measured, looked through, and told in one piece."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import seqtag.evaluation
from seqtag.data.cache import digest_settings
from seqtag.datamodule import DataModule
from seqtag.split import Split
from seqtag.survey.facts import LongRowCount, Overlap, Problem, SplitFacts, Survey
from seqtag.survey.measure import hash_rows, measure
from seqtag.survey.measured import SHOWN, Measured
from seqtag.survey.remarks import remark_on_overlap, remark_on_split
from seqtag.survey.repeats import find_overlap
from seqtag.survey.suspicions import suspect_overlap, suspect_split, suspect_training

PLACE = re.compile(r"^.*?:\d+: ", re.DOTALL)
PARTICULAR = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*")
"""What differs between messages of one kind, behind their place."""


def survey(data: DataModule) -> Survey:
    """Measure the splits that a data module has read, and list what is wrong with them.

    What was measured before, of the same rows, is taken from the cache.

    Args:
        data: after ``read_all``; not strict, it may lack splits.
    """

    code, splits, overlaps = _digest_code(), {}, []
    hashes = cache(lambda name: hash_rows(data, data.splits[name]))

    def measured(name: str) -> dict[str, Any]:
        return asdict(measure(data, data.splits[name], hashes(name)))

    def shared(name: str, other: str) -> dict[str, Any] | None:
        overlap = find_overlap(hashes(name), hashes(other))
        return None if overlap is None else asdict(overlap)

    for name, split in data.splits.items():
        key = digest_settings([name, split.key, code])
        kept = data.cache.value(f"measured-{key}", partial(measured, name))
        splits[name] = _facts(data, split, Measured.of_plain(kept))
    for pair in _pairs(list(data.splits)):
        key = digest_settings([[name, data.splits[name].key] for name in pair] + [code])
        kept = data.cache.value(f"overlap-{key}", partial(shared, *pair))
        if kept is not None:
            overlaps.append(Overlap(**kept))
    errors = [line for message in data.faults.errors for line in message.splitlines()]
    target = data.target if data.splits else None
    found = Survey(
        task=type(data.task).__name__,
        sequence=data.task.sequence,
        labels=dict(zip(target.labels, target.counts, strict=True)) if target else {},
        scheme=target.scheme if target else None,
        file_scheme=target.file_scheme if target else None,
        notes=list(data.notes),
        splits=splits,
        overlaps=overlaps,
        errors=group(errors),
        error_count=data.faults.error_count + len(errors) - len(data.faults.errors),
    )
    for facts in splits.values():
        found.remarks.extend(remark_on_split(facts))
    found.remarks.extend(map(remark_on_overlap, overlaps))
    found.warnings.extend(_read_warnings(data))
    found.warnings.extend(Problem(messages=[m], count=1) for m in _suspicions(data, found))
    return found


def group(messages: Iterable[str]) -> list[Problem]:
    """The messages by kind, so that one does not hide another, in the order of their first."""
    kinds: dict[str, list[str]] = {}
    for message in messages:
        kind = PARTICULAR.sub("", PLACE.sub("", message))
        kinds.setdefault(kind, []).append(message)
    return [Problem(messages=found[:SHOWN], count=len(found)) for found in kinds.values()]


def _facts(data: DataModule, split: Split, measured: Measured) -> SplitFacts:
    policy = split.long_rows
    lengths = split.encoded.lengths()
    over = lengths[lengths > policy.limit] - policy.limit
    return SplitFacts(
        name=split.name,
        given=split.given,
        sha256=split.digest,
        counts=dict(split.counts),
        targets=split.counts["elements" if data.task.per_element else "rows"]
        * max(1, split.spec.width),
        measured=measured,
        long_rows=LongRowCount(
            limit=policy.limit,
            rows=len(over),
            elements=int(over.sum()),
            handling="truncate" if policy.truncates else "split" if policy.splits else "error",
        ),
    )


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each split with those before it."""
    for number, name in enumerate(names):
        for other in names[:number]:
            yield name, other


def _digest_code() -> str:
    """SHA-256 of the code that measures: what was kept before it was mended is measured anew."""
    folders = (Path(__file__).parent, Path(seqtag.evaluation.__file__).parent)
    digest = hashlib.sha256()
    for source in sorted(source for folder in folders for source in folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _read_warnings(data: DataModule) -> Iterator[Problem]:
    """What the readers noted; a dev split cut from the training file shares its findings."""
    read = {id(split.findings): (split.given, split.findings) for split in data.splits.values()}
    if data.stream is not None:
        read[id(data.stream.findings)] = (data.stream.given, data.stream.findings)
    for given, findings in read.values():
        yield from group(findings.warnings)
        rest = findings.warning_count - len(findings.warnings)
        if rest:
            yield Problem(messages=[f"{given}: further warnings of its reader"], count=rest)


def _suspicions(data: DataModule, found: Survey) -> Iterator[str]:
    for name, split in found.splits.items():
        yield from suspect_split(split, found, words=data.input_tokenizer.words)
        if name == "train":
            yield from suspect_training(split, found)
    for overlap in found.overlaps:
        yield from suspect_overlap(overlap, found)
