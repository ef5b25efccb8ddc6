"""The splits of a data set, read, encoded and batched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset as Table
from datasets import Features, List, Value
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, Dataset

from seqtag.batch import Batch, TargetSpec, place
from seqtag.configuration import build
from seqtag.data.collation import collate
from seqtag.data.corpus import (
    EncodedRows,
    digest_file,
    digest_settings,
    iterate,
    store,
)
from seqtag.data.inputs import Inputs, length
from seqtag.data.readers.lines import open_stream
from seqtag.data.sampler import Batching, BudgetSampler
from seqtag.data.source import build_reader
from seqtag.data.tokenizers import Tokenizer
from seqtag.nn.search import Search
from seqtag.split import Split
from seqtag.tasks.task import Task

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class _Read:
    """Rows of a file, or part of them, before they are encoded."""

    rows: Table
    path: Path
    digest: str
    key: str
    empty: int


class DataModule(LightningDataModule):
    """Reads splits as a run's config says and hands out batches.

    Args:
        config: with the nodes ``task``, ``data``, ``batching`` and ``seed``.
        inputs: vocabularies and scales; None takes them from the training split.
        target: what training taught about targets; None takes it from the training split.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        inputs: Inputs | None = None,
        target: TargetSpec | None = None,
    ) -> None:
        super().__init__()
        self.task = Task.from_config(config)
        self.splits: dict[str, Split] = {}
        self.notes: list[str] = []
        self._data: Mapping[str, Any] = config["data"]
        self._batching = Batching.from_config(config)
        self._seed: int = config["seed"]
        self._spelling = tuple(config["embedding"].get("spelling") or ())
        self._search = (
            build(config["search"], kinds=(Search,), name="search") if "search" in config else None
        )
        # Not the task's metrics: they change no table.
        self._settings = {
            "data": _without_paths(self._data),
            "task": {"_target_": config["task"]["_target_"]},
        }
        self._reader = build_reader(
            self._data,
            per_element=self.task.per_element,
            sequence=self.task.sequence,
            read_target=True,
        )
        self._folder = Path(config["cache"]).expanduser()
        self._inputs, self._target = inputs, target

    @property
    def input_tokenizer(self) -> Tokenizer:
        """What splits an input that comes as one string."""
        return self._reader.input_tokenizer

    @property
    def inputs(self) -> Inputs:
        """Vocabularies and scales of the training split."""
        assert self._inputs is not None, "read_all() or a checkpoint gives these"
        return self._inputs

    @property
    def target(self) -> TargetSpec:
        """What the training targets taught."""
        assert self._target is not None, "read_all() or a checkpoint gives this"
        return self._target

    def read_all(self, *, test: bool) -> None:
        """Read train and dev, which is cut from train where none is named; and test if asked.

        Raises:
            ValueError: a file cannot be read, a split is empty, a sequence is too long.
        """
        if self._data["train"] is None:
            raise ValueError("data.train is not given: name the training file, data.train=FILE")
        wanted = SPLITS if test else SPLITS[:-1]
        read = {name: self._read(name) for name in wanted if self._data[name] is not None}
        if "dev" not in read:
            read["train"], read["dev"] = self._cut(read["train"])
        if self._data["train_rows"] is not None:
            read["train"] = self._draw(read["train"], self._data["train_rows"])
        train = read["train"].rows
        if self._inputs is None:
            words = self.input_tokenizer.words
            self._inputs = Inputs.fit(
                iterate(train),
                vectors="vectors" in train.column_names,
                min_frequency=self._data["min_frequency"],
                spelling=self._spelling if words else (),
            )
        if self._target is None:
            self._target = self.task.fit(lambda: (row["target"] for row in iterate(train)))
        for name in SPLITS:
            if name in read:
                self.splits[name] = self._encode(name, read[name])

    def read_split(self, name: str) -> Split:
        """Read one split with the vocabularies given at the start.

        Raises:
            ValueError: as for ``read_all``.
        """
        if self._data[name] is not None:
            read = self._read(name)
        elif name == "dev" and self._data["train"] is not None:
            _, read = self._cut(self._read("train"))
        else:
            raise ValueError(f"this run has no {name} split: name a file, data.{name}=FILE")
        self.splits[name] = self._encode(name, read)
        return self.splits[name]

    def batches(self, name: str, *, shuffle: bool) -> DataLoader[Batch]:
        """A loader over a split: shuffled for training, or sorted by length."""
        split, trainer = self.splits[name], self.trainer
        sampler = BudgetSampler(
            split.sizes(),
            batching=self._batching,
            seed=self._seed,
            shuffle=shuffle,
            rank=trainer.global_rank if trainer else 0,
            ranks=trainer.world_size if trainer else 1,
        )
        if trainer:
            # Lightning sets the epoch too, but only after workers have begun to load a resumed
            # one; at this moment its own count of epochs is one behind, its steps are right.
            steps = -(-len(sampler) // trainer.accumulate_grad_batches)
            sampler.set_epoch(trainer.global_step // max(1, steps))
        workers = self._batching.num_workers
        # The sampler gives lists of rows, so that the set's item is a whole batch; it stands as
        # ``sampler`` since that is where Lightning looks for set_epoch.
        return DataLoader(
            _Batches(split.encoded, list(self.inputs.fields), self.task),
            sampler=sampler,
            batch_size=None,
            # Of its own, since a loader draws a seed at each start: the random numbers of a
            # resumed training would no longer be those of an uninterrupted one.
            generator=torch.Generator(),
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=trainer is not None and trainer.strategy.root_device.type == "cuda",
        )

    def train_dataloader(self) -> DataLoader[Batch]:
        """Shuffled training batches."""
        return self.batches("train", shuffle=True)

    def val_dataloader(self) -> DataLoader[Batch]:
        """Dev batches."""
        return self.batches("dev", shuffle=False)

    def test_dataloader(self) -> DataLoader[Batch]:
        """Test batches."""
        return self.batches("test", shuffle=False)

    def transfer_batch_to_device(
        self, batch: Batch, device: torch.device, dataloader_idx: int
    ) -> Batch:
        """Copy while the device works; Lightning would wait for a dataclass."""
        return batch.to(device, non_blocking=True)

    def _read(self, name: str) -> _Read:
        """Rows of a file, from the cache where file and settings are as they were."""
        path = Path(self._data[name])
        with open_stream(str(path)) as stream:
            first = next((r for r in self._reader.read(stream, str(path)) if length(r)), None)
        if first is None:
            raise ValueError(f"{path} (data.{name}) has no rows")
        digest = digest_file(path)
        key = digest_settings([digest, str(path), self._settings])
        kind = "vectors" if "vectors" in first else "tokens"
        element = List(Value("float64")) if kind == "vectors" else Value("string")
        target = List(Value("float64")) if self.task.numeric else Value("string")
        features = Features(
            {
                kind: List(element),
                "target": List(target) if self.task.per_element else target,
                "file": Value("string"),
                "line": Value("int64"),
            }
        )

        def rows(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
            counts["empty"] = 0
            with open_stream(str(path)) as stream:
                for row in self._reader.read(stream, str(path)):
                    if not length(row):
                        counts["empty"] += 1
                        continue
                    yield {
                        kind: row[kind],  # type: ignore[literal-required]
                        "target": self.task.parse(row),
                        "file": row["file"],
                        "line": row["line"],
                    }

        stored = store(self._folder, f"rows-{key}", features, rows)
        return _Read(stored.table, path, digest, key, stored.counts["empty"])

    def _cut(self, train: _Read) -> tuple[_Read, _Read]:
        """Training rows in two, by a permutation that depends on ``data.dev_seed`` alone."""
        fraction, rows = self._data["dev_fraction"], train.rows
        if not 0 < fraction < 1:
            raise ValueError(f"data.dev_fraction is {fraction}; it must lie between 0 and 1")
        size = max(1, round(fraction * len(rows)))
        if size >= len(rows):
            raise ValueError(
                f"{train.path} has {len(rows)} rows: too few to cut a dev split from; "
                "name one, data.dev=FILE"
            )
        order = np.random.default_rng(self._data["dev_seed"]).permutation(len(rows))
        self.notes.append(
            f"no data.dev: {size} of the {len(rows)} rows of {train.path} are the dev split "
            f"(data.dev_fraction={fraction}, data.dev_seed={self._data['dev_seed']})"
        )
        parts = (np.sort(order[size:]), np.sort(order[:size]))
        kept, cut = (
            replace(train, rows=rows.select(part), key=f"{train.key}-{fraction}-{name}")
            for part, name in zip(parts, ("train", "dev"), strict=True)
        )
        return kept, replace(cut, empty=0)

    def _draw(self, train: _Read, size: int) -> _Read:
        """So many training rows, drawn by ``data.dev_seed``; a larger draw holds a smaller one."""
        rows = len(train.rows)
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= rows:
            raise ValueError(
                f"data.train_rows is {size}; it must be null or a whole number from 1 to the "
                f"{rows:,} training rows"
            )
        drawn = np.random.default_rng(self._data["dev_seed"]).permutation(rows)[:size]
        self.notes.append(f"training on {size:,} of {rows:,} rows (data.train_rows)")
        return replace(
            train, rows=train.rows.select(np.sort(drawn)), key=f"{train.key}-drawn-{size}"
        )

    def _encode(self, name: str, read: _Read) -> Split:
        """The numbers of a split's rows, from the cache where nothing changed."""
        spec = self.task.extend(self.target, (row["target"] for row in iterate(read.rows)))
        fields = self.inputs.fields
        key = digest_settings([read.key, self.inputs.state(), spec.state(), self._settings])
        number = Value("float32") if spec.width else Value("int32")
        features = Features(
            {
                **{n: List(Value(field.dtype)) for n, field in fields.items()},
                "target": List(number),
                "present": List(Value("uint8")),
            }
        )

        def rows(counts: dict[str, Any]) -> Iterator[dict[str, Any]]:
            counts.update(rows=0, elements=0, longest=0, unknown=0, missing=0)
            for row in iterate(read.rows):
                encoded = self.inputs.encode(row)
                try:
                    encoded |= self.task.encode(row["target"], spec)
                except ValueError as error:
                    raise ValueError(f"{place(row)}: {error}") from error
                counts["rows"] += 1
                counts["elements"] += length(row)
                counts["longest"] = max(counts["longest"], length(row))
                counts["unknown"] += self.inputs.unknown(row)
                counts["missing"] += int((encoded["present"] == 0).sum())
                yield {column: values.reshape(-1) for column, values in encoded.items()}

        stored = store(self._folder, f"encoded-{key}", features, rows)
        widths = {n: field.shape[0] for n, field in fields.items() if field.shape}
        if spec.width:
            widths |= {"target": spec.width, "present": spec.width}
        split = Split(
            name=name,
            path=read.path,
            digest=read.digest,
            rows=read.rows,
            encoded=EncodedRows(stored.table, widths),
            spec=spec,
            counts={**stored.counts, "empty": read.empty},
        )
        split.check(
            max_tokens=self._batching.max_tokens,
            search=self._search,
            per_element=self.task.per_element,
        )
        return split


class _Batches(Dataset[Batch]):
    """The set whose item at a list of rows is their batch."""

    def __init__(self, encoded: EncodedRows, fields: list[str], task: Task) -> None:
        self._encoded, self._fields, self._task = encoded, fields, task

    def __getitem__(self, rows: list[int]) -> Batch:
        return collate(
            [self._encoded[row] for row in rows],
            rows,
            fields=self._fields,
            collate_target=self._task.collate,
        )


def _without_paths(data: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that change what a file is read as, whatever the file."""
    return {name: value for name, value in data.items() if name not in (*SPLITS, "train_rows")}
