"""From files to rows on disk, from those to what training learns of them, and to numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from datasets import Features, List, Value

from seqtag.batch import VECTORS, TargetSpec, length, place
from seqtag.data.cache import Cache, Part, Stored, digest_settings, merged
from seqtag.data.findings import Findings
from seqtag.data.inputs import Inputs
from seqtag.data.progress import watched
from seqtag.data.readers.files import open_stream
from seqtag.data.readers.reader import Reader
from seqtag.evaluation.conversion import count_repairs
from seqtag.preparation.parts import HASHES, FilePart, RowsPart
from seqtag.preparation.rows import ReadRows, StreamedRows
from seqtag.tasks.task import Task

FILES = ("train", "dev", "test")
"""Keys of ``data`` that name files."""

NOT_READ = (
    *FILES,
    "train_rows",
    "folds",
    "fold",
    "dev_fraction",
    "dev_seed",
    "too_long",
    "max_length",
    "processes",
    "streaming",
    "stream_buffer",
)
"""Keys of ``data`` that do not change what a file is read as."""

ROWS_PER_PART = 20_000
"""Rows that a process encodes at least; fewer are not worth starting one."""


class Preparation:
    """Reads, learns and encodes, each only where it has not been done before.

    Args:
        task: what targets mean.
        reader: of the files.
        cache: where what is made is kept.
        config: with the nodes ``data``, ``task`` and ``embedding``.
    """

    def __init__(
        self, *, task: Task, reader: Reader, cache: Cache, config: Mapping[str, Any]
    ) -> None:
        self._task, self._reader, self._cache = task, reader, cache
        self._data: Mapping[str, Any] = config["data"]
        self._spelling = tuple(config["embedding"].get("spelling") or ())
        # Not the task's metrics: they change no table.
        self._settings = {
            "data": {name: v for name, v in self._data.items() if name not in NOT_READ},
            "task": {"_target_": config["task"]["_target_"]},
        }

    def read(self, name: str) -> ReadRows:
        """The rows of the files that ``data.<name>`` names.

        Errors in them are found, not raised.

        Raises:
            ValueError: there is no such file, or no row in it.
        """
        given, digest, key = self._identify(name)
        columns = self._columns(name, given, key)
        features = Features(
            {
                columns["elements"]: List(
                    List(Value("float64")) if columns["elements"] == VECTORS else Value("string")
                ),
                "target": self._target_feature(),
                **({"references": List(Value("string"))} if columns["references"] else {}),
                **(
                    {"features": {str(c): List(Value(kind)) for c, kind in self._extra().items()}}
                    if self._extra()
                    else {}
                ),
                "file": Value("string"),
                "line": Value("int64"),
                **{name: Value("int64") for name in HASHES},
            }
        )
        stored = self._cache.table(f"rows-{key}", features, self._parts(given, tuple(features)))
        findings = Findings.of_counts(stored.counts)
        if not len(stored.table):
            findings.raise_errors()
            raise ValueError(f"{given} (data.{name}) has no rows")
        return ReadRows(stored.table, given, digest, key, stored.counts["empty"], findings)

    def stream(self, name: str) -> StreamedRows:
        """The rows of a split, read from its files each time; one pass finds what is wrong.

        Raises:
            ValueError: there is no such file, or no row in it.
        """
        given, digest, key = self._identify(name)
        columns = self._columns(name, given, key)
        optional = {"references": columns["references"], "features": bool(self._extra())}
        wanted = [name for name, there in optional.items() if there]
        parts = self._parts(given, (columns["elements"], "target", *wanted, "file", "line"))
        counts: dict[str, Any] = self._cache.value(
            f"pass-{key}", lambda: _survey(parts, self._task)
        )
        findings = Findings.of_counts(counts)
        if not counts["rows"]:
            findings.raise_errors()
            raise ValueError(f"{given} (data.{name}) has no rows")
        return StreamedRows(
            parts=parts,
            given=given,
            digest=digest,
            key=key,
            vectors=columns["elements"] == VECTORS,
            counts={size: counts[size] for size in ("rows", "elements", "longest", "empty")},
            longest_at=counts.get("longest_at", ""),
            longest_targets={int(n): most for n, most in counts["targets"].items()},
            findings=findings,
        )

    def _identify(self, name: str) -> tuple[str, str, str]:
        """What the config names, its content, and the key of everything the rows depend on."""
        given = str(self._data[name])
        digest = self._digest(given)
        names = self._reader.parts(given)  # the same content may have come under other names
        return given, digest, digest_settings([digest, given, names, self._settings])

    def _parts(self, given: str, columns: tuple[str, ...]) -> list[Part]:
        title = f"reading {Path(given).name}"
        return [
            FilePart(self._reader, self._task, piece, columns, title)
            for piece in self._reader.parts(given)
        ]

    def _digest(self, given: str) -> str:
        own = self._reader.digest(given)
        if own is not None:
            return own
        digests = [self._cache.digest(path) for path in self._existing(given)]
        return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()

    def _existing(self, given: str) -> list[Path]:
        for path in (paths := self._reader.paths(given)):
            if not path.is_file():
                next(self._reader.read_all(str(path)), None)  # says what is wrong with it
                raise ValueError(f"{path}: not a file")
        return paths

    def _columns(self, name: str, given: str, key: str) -> dict[str, Any]:
        columns = self._cache.value(f"columns-{key}", lambda: self._first_columns(given))
        if columns is None:
            raise ValueError(f"{given} (data.{name}) has no rows")
        found: dict[str, Any] = columns
        return found

    def _first_columns(self, given: str) -> dict[str, Any] | None:
        """What the first row with elements holds; None where there is no such row."""
        findings = Findings()
        with self._reader.reporting(findings), suppress(ValueError):
            for row in self._reader.read_all(given):
                if length(row):
                    return {
                        "elements": VECTORS if VECTORS in row else "tokens",
                        "references": self._reader.several_references,
                    }
        findings.raise_errors()
        next(self._reader.read_all(given), None)  # a file that cannot be read on says why
        return None

    def _extra(self) -> dict[Any, str]:
        kinds = dict.fromkeys(self._data["features"], "string")
        return kinds | dict.fromkeys(self._data["numeric_features"], "float64")

    def _target_feature(self) -> Any:
        target: Any = Value("string")
        if self._task.numeric:
            target = List(Value("float64"))
        elif self._task.several:
            target = List(Value("string"))
        return List(target) if self._task.per_element else target

    def fit_inputs(self, train: ReadRows | StreamedRows, *, words: bool) -> Inputs:
        """Vocabularies and scales of the training rows."""

        def fit() -> Inputs:
            return Inputs.fit(
                watched(train.iterate(), "counting symbols", None),
                vectors=train.vectors,
                words=words,
                spelling=self._spelling,
                data=self._data,
            )

        if self._data["word_vectors"] is not None:
            return fit()  # the vectors themselves are no part of the state
        files = []
        if (vocabulary := self._data["vocabulary"]) is not None:
            open_stream(vocabulary).close()  # says what is wrong with it
            files.append(self._cache.digest(Path(vocabulary)))
        key = digest_settings([train.key, words, self._spelling, files])
        kept: dict[str, Any] = self._cache.value(f"inputs-{key}", lambda: _plain(fit()))
        inputs = Inputs.from_state(kept["state"])
        inputs.notes = list(kept["notes"])
        return inputs

    def fit_target(self, train: ReadRows | StreamedRows) -> TargetSpec:
        """What the training targets teach."""
        key = f"target-{digest_settings([train.key, self._settings])}"
        kept = self._cache.value(key, lambda: self._task.fit(train.targets).state())
        return TargetSpec.from_state(kept)

    def describe_conversion(self, train: ReadRows | StreamedRows, spec: TargetSpec) -> str | None:
        """What is to be said of span labels that are learnt in another scheme than the files'."""
        if spec.file_scheme is None:
            return None
        scheme = spec.file_scheme
        key = f"repairs-{digest_settings([train.key, self._settings])}"
        rows, elements = self._cache.value(key, lambda: count_repairs(train.targets(), scheme))
        repaired = f"; {rows:,} rows ({elements:,} elements) broke it and are repaired"
        return (
            f"span labels are converted from {scheme} to {spec.scheme}, and written back"
            f"{repaired if rows else ''}"
        )

    def extend(self, read: ReadRows | StreamedRows, spec: TargetSpec) -> TargetSpec:
        """The spec with the labels that a split has and training lacks."""
        key = f"unseen-{digest_settings([read.key, spec.state(), self._settings])}"
        kept = self._cache.value(key, lambda: self._task.extend(spec, read.targets()).state())
        return TargetSpec.from_state(kept)

    def encode(self, read: ReadRows, inputs: Inputs, spec: TargetSpec) -> tuple[str, Stored]:
        """The numbers of the rows, and the key of everything that they depend on.

        Errors are among the counts, as ``Findings`` has them.
        """
        number = Value("float32") if spec.width else Value("int32")
        references = "references" in read.rows.column_names
        features = Features(
            {
                **{name: List(Value(field.dtype)) for name, field in inputs.fields.items()},
                "target": List(number),
                "present": List(Value("uint8")),
                **({"references": List(number)} if references else {}),
            }
        )
        key = digest_settings([read.key, inputs.state(), spec.state(), self._settings])
        count = len(read.rows)
        pieces = max(1, min(self._data["processes"], count // ROWS_PER_PART))
        cuts = [count * piece // pieces for piece in range(pieces + 1)]
        parts: Sequence[Part] = [
            RowsPart(read.rows, inputs, self._task, spec, begin, end)
            for begin, end in pairwise(cuts)
        ]
        return key, self._cache.table(f"encoded-{key}", features, parts)


def _survey(parts: Sequence[Part], task: Task) -> dict[str, Any]:
    """What one pass over the rows counts; ``targets`` has the longest by the input's length."""
    total: dict[str, Any] = {"rows": 0, "elements": 0, "longest": 0}
    targets: dict[str, int] = {}
    noted: list[dict[str, Any]] = []
    for part in parts:
        noted.append({})
        for row in cast(Iterable[Any], part(noted[-1])):
            total["rows"] += 1
            elements = length(row)
            total["elements"] += elements
            if elements > total["longest"]:
                total |= {"longest": elements, "longest_at": place(row)}
            if task.sequence:
                accepted = row.get("references") or [row["target"] or ""]
                most = max(len(task.target_tokenizer.split(target)) for target in accepted)
                targets[str(elements)] = max(targets.get(str(elements), 0), most)
    return total | {"targets": targets} | merged(noted)


def _plain(inputs: Inputs) -> dict[str, Any]:
    return {"state": inputs.state(), "notes": inputs.notes}
