"""A finished run, read back from its directory."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import yaml
from numpy.typing import NDArray

from seqtag.batch import TargetSpec
from seqtag.evaluation.metrics import Measure, Metric, RankMetric
from seqtag.evaluation.resampling import RankedRows, Rows, SummedRows
from seqtag.tasks.task import Task
from seqtag.training.results import ROWS_FORMAT, ROWS_KEY

CONFIG, METRICS, ENVIRONMENT = "config.yaml", "metrics.json", "environment.json"
PREDICTIONS, EPOCHS, OVERRIDES = "predictions.jsonl", "metrics.csv", "overrides.yaml"

SPLITS = ("test", "dev")

CUT_BY = ("dev_fraction", "dev_seed", "folds", "fold")
"""Keys of ``data`` that say which training rows a split without files of its own is."""

_WIDE = 64
"""Metrics with more statistics than this are kept sparse: a row touches few of them."""


def rows_file(split: str) -> str:
    """Name of the file with the statistics of a split's rows."""
    return f"{split}_rows.parquet"


@dataclass(kw_only=True)
class Record:
    """What a run directory holds.

    Attributes:
        folder: the run directory.
        config: of the run, plain.
        metrics: ``metrics.json``; NaN where a score is not defined.
        environment: ``environment.json``.
        overrides: what the command line said.
        epochs: the rows of ``metrics.csv``; empty without that file.
    """

    folder: Path
    config: dict[str, Any]
    metrics: dict[str, float]
    environment: dict[str, Any]
    overrides: list[str]
    epochs: list[dict[str, float]]

    @property
    def seed(self) -> int:
        """Of the run."""
        return int(self.config["seed"])

    @property
    def fold(self) -> int | None:
        """That it was tested on, from 1."""
        fold: int | None = self.config["data"].get("fold")
        return fold

    @property
    def folds(self) -> int | None:
        """Into how many the data were cut."""
        folds: int | None = self.config["data"].get("folds")
        return folds

    def source(self, split: str) -> tuple[Any, ...] | None:
        """What a split was read from: the digest of its files, and which part of them it is.

        None where the run does not say.
        """
        digest = ((self.environment.get("data") or {}).get(split) or {}).get("sha256")
        if digest is None:
            return None
        whole = self.config["data"].get(split) is not None
        return digest, *(None if whole else self.config["data"].get(key) for key in CUT_BY)

    def splits(self) -> list[str]:
        """The splits whose rows were written."""
        return [split for split in SPLITS if (self.folder / rows_file(split)).is_file()]


@dataclass(kw_only=True)
class RowTable:
    """The rows of a run's split, as ``<split>_rows.parquet`` has them.

    Attributes:
        file: that file.
        split: that it is of.
        rows: index of each row in the split, ascending.
        digests: of each row, the hashes of its input and of its target.
        measures: the measures that the run was scored by, by name.
        selection: name of the one that chose its best epoch.
        floors: what is said of each floor, by name: ``heading`` and ``meaning``.
        spec: what the columns are about.
    """

    file: Path
    split: str
    rows: NDArray[np.int64]
    digests: NDArray[np.str_]
    measures: dict[str, Measure]
    selection: str
    floors: dict[str, dict[str, str]]
    spec: TargetSpec

    @cached_property
    def columns(self) -> frozenset[str]:
        """What the file has a column for."""
        return frozenset(pyarrow.parquet.read_schema(self.file).names)

    def scored(self, measure: str, floor: str | None = None) -> Rows:
        """The rows under a measure, of the run itself or of a floor.

        Raises:
            ValueError: the column is damaged.
        """
        column = measure if floor is None else f"{floor}/{measure}"
        with damage(self.file, column):
            read = pyarrow.parquet.read_table(self.file, columns=[column])[column].combine_chunks()
            lengths = np.diff(read.offsets.to_numpy())
            values = read.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
            kind = self.measures[measure]
            if isinstance(kind, RankMetric):
                cells = values.reshape(-1, kind.width)
                cuts = np.cumsum(lengths)[:-1] // kind.width
                return RankedRows(metric=kind, cells=np.split(cells, cuts) if len(lengths) else [])
            assert isinstance(kind, Metric)
            if read.null_count or (lengths != kind.size).any():
                raise ValueError(f"a row has not the {kind.size} statistics of {measure}")
            statistics: Any = values.reshape(len(self.rows), kind.size)
            if kind.size > _WIDE:
                from scipy.sparse import csr_matrix

                statistics = csr_matrix(statistics)
            return SummedRows(metric=kind, statistics=statistics)


@contextmanager
def damage(file: Path, what: str = "") -> Iterator[None]:
    """Turn whatever reading a damaged file raises into one line that names the file."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError) as error:
        where = f"{file} ({what})" if what else str(file)
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"cannot read {where}: {reason[:200]}") from error


def is_run(folder: Path) -> bool:
    """Whether a folder is a run directory: finished or not, or with scores and no longer whole."""
    begun = (folder / CONFIG).is_file() and (folder / OVERRIDES).is_file()
    scored = (folder / METRICS).is_file() and any(
        (folder / rows_file(split)).is_file() for split in SPLITS
    )
    return begun or scored


def find_runs(paths: Sequence[str | Path]) -> tuple[list[Path], dict[str, str]]:
    """The finished runs that paths name, and those left out.

    Args:
        paths: run directories, checkpoints in one, and folders that are searched for runs.

    Returns:
        Directories of finished runs, each once; and of the others, why they are left out.

    Raises:
        ValueError: a path is not there or has no run in it, or no run is finished.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        given = path.expanduser()
        if not given.exists():
            raise ValueError(f"{path}: no such run or folder of runs")
        start = given if given.is_dir() else given.parent
        runs = [start] if is_run(start) else sorted(_search(start))
        if not runs:
            raise ValueError(f"{path} is no run, nor are there runs in it")
        found |= dict.fromkeys(run.resolve() for run in runs)
    skipped = {
        str(run): f"not finished: it has no {METRICS}"
        for run in found
        if not (run / METRICS).is_file()
    }
    finished = [run for run in found if str(run) not in skipped]
    if not finished:
        raise ValueError(
            f"no finished run in {', '.join(map(str, paths))}: of {len(found)} that are there none "
            f"has a {METRICS}"
        )
    return finished, skipped


def _search(folder: Path) -> Iterator[Path]:
    """Run directories at any depth; there are none inside another or in hidden folders."""
    for child in folder.iterdir():
        if child.is_dir() and not child.name.startswith("."):
            if is_run(child):
                yield child
            else:
                yield from _search(child)


def read_record(folder: Path) -> Record:
    """A run directory.

    Raises:
        ValueError: a file is missing or damaged; the message names it.
    """
    with damage(folder / CONFIG):
        config = yaml.load((folder / CONFIG).read_text(encoding="utf-8"), _Loader)
        if (
            not isinstance(config, dict)
            or not isinstance(config.get("data"), dict)
            or not isinstance(config.get("seed"), int)
        ):
            raise ValueError("it is not the config of a run")
    with damage(folder / OVERRIDES):
        overrides = yaml.safe_load((folder / OVERRIDES).read_text(encoding="utf-8")) or []
    with damage(folder / METRICS):
        metrics = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        if not isinstance(metrics, dict):
            raise ValueError("it does not hold scores by name")
        metrics = {n: float("nan") if v is None else float(v) for n, v in metrics.items()}
    environment = {}
    if (folder / ENVIRONMENT).is_file():
        with damage(folder / ENVIRONMENT):
            environment = dict(json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8")))
    epochs = []
    if (folder / EPOCHS).is_file():
        with damage(folder / EPOCHS), (folder / EPOCHS).open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                epochs.append({name: float(value) for name, value in row.items() if value})
    return Record(
        folder=folder,
        config=config,
        metrics=metrics,
        environment=environment,
        overrides=[str(override) for override in overrides],
        epochs=epochs,
    )


def read_rows(record: Record, split: str) -> RowTable:
    """The rows of a run's split.

    Raises:
        ValueError: the file is missing, damaged or of another version.
    """
    file = record.folder / rows_file(split)
    if not file.is_file():
        raise ValueError(f"it has no scores of {split} ({rows_file(split)})")
    with damage(file):
        metadata: Mapping[bytes, bytes] = pyarrow.parquet.read_schema(file).metadata or {}
        if ROWS_KEY not in metadata:
            raise ValueError("it does not say what its columns mean; train or evaluate anew")
        meaning = json.loads(metadata[ROWS_KEY])
        if meaning["format"] != ROWS_FORMAT:
            raise ValueError(f"it is of format {meaning['format']}, not {ROWS_FORMAT}")
        spec = TargetSpec.from_state(meaning["spec"])
        table = pyarrow.parquet.read_table(file, columns=["row", "source", "gold"])
        digests = [table[name].to_numpy().astype(str) for name in ("source", "gold")]
        rows = table["row"].to_numpy()
        if len(rows) and (np.diff(rows) <= 0).any():
            raise ValueError("its rows are not in order")
        names = pyarrow.parquet.read_schema(file).names
    with damage(record.folder / CONFIG):
        measures = Task.from_config(record.config).metrics(spec)
    return RowTable(
        file=file,
        split=split,
        rows=rows,
        digests=np.stack(digests, axis=1).reshape(-1, 2),
        measures={name: measure for name, measure in measures.items() if name in names},
        selection=meaning["selection"],
        floors=meaning["floors"],
        spec=spec,
    )


# The C parser is some ten times as fast, and not everywhere.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
