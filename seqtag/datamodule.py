"""The splits of a data set, read, encoded and batched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pytorch_lightning import LightningDataModule
from pytorch_lightning.loops.progress import _ProcessedTracker
from torch.utils.data import DataLoader, Dataset

from seqtag.batch import Batch, TargetSpec
from seqtag.configuration import build
from seqtag.data.cache import Cache
from seqtag.data.collation import collate
from seqtag.data.corpus import EncodedRows
from seqtag.data.examples import PRESENT, TARGET, Examples, scoring_examples, training_examples
from seqtag.data.findings import FaultyDataError, Findings
from seqtag.data.inputs import Inputs
from seqtag.data.sampler import Batching, BudgetSampler
from seqtag.data.source import build_reader
from seqtag.data.tokenizers import Tokenizer
from seqtag.data.windows import LongRows
from seqtag.nn.search import Search
from seqtag.preparation.parts import INPUT_HASH
from seqtag.preparation.preparation import FILES, Preparation
from seqtag.preparation.rows import (
    ReadRows,
    StreamedRows,
    check_folds,
    cut_dev,
    draw,
    take_fold,
)
from seqtag.preparation.stream import StreamedBatches
from seqtag.split import Split
from seqtag.tasks.task import Task

COUNTS = ("rows", "elements", "longest", "unknown", "missing")


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
        self.faults = Findings()
        self.stream: StreamedRows | None = None
        self._data: Mapping[str, Any] = config["data"]
        self._batching = Batching.from_config(config)
        self._seed: int = config["seed"]
        self._search = (
            build(config["search"], kinds=(Search,), name="search") if "search" in config else None
        )
        self._reader = build_reader(
            self._data,
            per_element=self.task.per_element,
            sequence=self.task.sequence,
            several=self.task.several,
            read_target=True,
        )
        buffer = self._data["stream_buffer"]
        if isinstance(buffer, bool) or not isinstance(buffer, int) or buffer < 1:
            raise ValueError(f"data.stream_buffer={buffer}: it must be a whole number of 1 or more")
        self.long_rows = LongRows.from_config(config, per_element=self.task.per_element)
        self.cache = Cache(Path(config["cache"]).expanduser(), processes=self._data["processes"])
        self._preparation = Preparation(
            task=self.task, reader=self._reader, cache=self.cache, config=config
        )
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

    def read_all(self, *, test: bool, strict: bool = True) -> None:
        """Read train and dev, which is cut from train where none is named; and test if asked.

        With folds, the test rows are no training rows, whether they are asked for or not.

        Args:
            test: whether to read the test split.
            strict: end at errors. Without, they are kept in ``faults`` and the reading goes on as
                far as it can: a split may then lack rows, or be missing.

        Raises:
            ValueError: a file cannot be read, a split is empty, a sequence is too long.
        """
        if self._data["train"] is None:
            raise ValueError("data.train is not given: name the training file, data.train=FILE")
        folded = check_folds(self._data)
        read: dict[str, ReadRows] = {}
        for name in FILES if test else FILES[:-1]:
            if self._data[name] is not None:
                with self._noting_faults():
                    if name == "train" and self._data["streaming"]:
                        self.stream = self._preparation.stream(name)
                        self.faults.add(self.stream.findings)
                        continue
                    read[name] = self._preparation.read(name)
                    self.faults.add(read[name].findings)
        if strict:
            self.faults.raise_errors()
        if self.stream is not None:
            with self._noting_faults():
                self._check_stream()
        elif "train" not in read:
            return
        else:
            with self._noting_faults():
                if folded:
                    read["train"], part = self._fold(read["train"])
                    read |= {"test": part} if test else {}
                self._cut_train(read)
        with self._noting_faults():
            self._learn(self.stream or read["train"])
        if strict:
            self.faults.raise_errors()
        if self._inputs is None or self._target is None:
            return
        for name in FILES:
            if name in read:
                with self._noting_faults():
                    self._encode(name, read[name])
        if strict:
            self.faults.raise_errors()

    @contextmanager
    def _noting_faults(self) -> Iterator[None]:
        try:
            yield
        except FaultyDataError as error:
            self.faults.add(error.findings)
        except ValueError as error:
            self.faults.error(str(error))

    def _cut_train(self, read: dict[str, ReadRows]) -> None:
        """Take dev from train where none is named, and of train no more rows than are wanted."""
        if self._data["dev"] is None:
            read["train"], read["dev"] = self._cut(read["train"])
        if self._data["train_rows"] is not None:
            size, seed = self._data["train_rows"], self._data["dev_seed"]
            read["train"], note = draw(read["train"], size, seed=seed)
            self.notes.append(note)

    def _check_stream(self) -> None:
        """Refuse what only rows on disk allow, and say what streaming gives up."""
        assert self.stream is not None
        if self._data["dev"] is None or self._data["train_rows"] is not None:
            raise ValueError(
                "data.streaming=true: rows that are never stored cannot be cut or drawn from; "
                "name a dev file, data.dev=FILE, and leave data.train_rows=null"
            )
        self.stream.check(
            long_rows=self.long_rows, search=self._search, max_tokens=self._batching.max_tokens
        )
        self.notes.append(self.stream.describe(buffer=self._data["stream_buffer"]))

    def _learn(self, train: ReadRows | StreamedRows) -> None:
        """What training teaches of inputs and targets, unless it was given."""
        if self._inputs is None:
            self._inputs = self._preparation.fit_inputs(train, words=self.input_tokenizer.words)
            self.notes += self._inputs.notes
        if self._target is None:
            self._target = self._preparation.fit_target(train)
            if note := self._preparation.describe_conversion(train, self._target):
                self.notes.append(note)

    def sources(self) -> dict[str, dict[str, Any]]:
        """What a run's record says of each split that was read."""
        found = {name: split.source() for name, split in self.splits.items()}
        if self.stream is not None:
            given, digest = self.stream.given, self.stream.digest
            found["train"] = {"path": given, "sha256": digest, **self.stream.counts}
        return found

    def read_split(self, name: str) -> Split:
        """Read one split with the vocabularies given at the start.

        Raises:
            ValueError: as for ``read_all``.
        """
        if self._data[name] is not None:
            read = self._preparation.read(name)
        elif name == "dev" and self._data["train"] is not None:
            _, read = self._cut(self._read_training())
        elif name == "test" and self._data["train"] is not None and check_folds(self._data):
            _, read = self._fold(self._preparation.read("train"))
        else:
            raise ValueError(f"this run has no {name} split: name a file, data.{name}=FILE")
        self.faults.add(read.findings)
        self.faults.raise_errors()
        self._encode(name, read)
        self.faults.raise_errors()
        return self.splits[name]

    def seen_in_training(self, name: str) -> NDArray[np.bool_] | None:
        """Whether the input of each row of a split is one of the training split's, ``[rows]``.

        None where the training files are gone, or were not stored.
        """
        given = self._data["train"]
        if given is None or self._data["streaming"]:
            return None
        try:
            read = {"train": self._read_training()}
        except (ValueError, OSError):
            return None
        self._cut_train(read)
        learnt, asked = (
            np.array(rows[INPUT_HASH][:], np.int64)
            for rows in (read["train"].rows, self.splits[name].rows)
        )
        return np.isin(asked, learnt)

    def batches(self, name: str, *, shuffle: bool) -> DataLoader[Batch]:
        """A loader over a split: shuffled for training, or sorted by length."""
        split, trainer = self.splits[name], self.trainer
        choose = training_examples if shuffle else scoring_examples
        examples = choose(
            split.encoded, split.sizes(), self.long_rows, per_element=self.task.per_element
        )
        sampler = BudgetSampler(
            examples.sizes,
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
        # The sampler gives lists of rows, so that the set's item is a whole batch; it stands as
        # ``sampler`` since that is where Lightning looks for set_epoch.
        return self._loader(
            _Batches(examples, list(self.inputs.fields), self.task), sampler=sampler
        )

    def _loader(self, batches: Dataset[Batch], **order: Any) -> DataLoader[Batch]:
        workers, trainer = self._batching.num_workers, self.trainer
        return DataLoader(
            batches,
            **order,
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
        if self.stream is None:
            return self.batches("train", shuffle=True)
        batches = StreamedBatches(
            self.stream,
            inputs=self.inputs,
            task=self.task,
            spec=self._preparation.extend(self.stream, self.target),
            long_rows=self.long_rows,
            batching=self._batching,
            buffer=self._data["stream_buffer"],
            seed=self._seed,
        )
        if self.trainer:
            # Of an interrupted run ``current_epoch`` is one behind (see ``batches``).
            epochs = self.trainer.fit_loop.epoch_progress.current
            assert isinstance(epochs, _ProcessedTracker)
            batches.epoch = epochs.processed
        return self._loader(batches)

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

    def _read_training(self) -> ReadRows:
        """The rows of the training files, but for the fold that is the test split."""
        train = self._preparation.read("train")
        if check_folds({**self._data, "test": None}):  # a further test file changes no such rows
            train, _ = self._fold(train)
        return train

    def _cut(self, train: ReadRows) -> tuple[ReadRows, ReadRows]:
        kept, cut, note = cut_dev(train, self._data["dev_fraction"], seed=self._data["dev_seed"])
        self.notes.append(note)
        return kept, cut

    def _fold(self, train: ReadRows) -> tuple[ReadRows, ReadRows]:
        fold, folds = self._data["fold"], self._data["folds"]
        kept, part, note = take_fold(train, fold, folds, seed=self._data["dev_seed"])
        self.notes.append(note)
        return kept, part

    def _encode(self, name: str, read: ReadRows) -> None:
        """Give a split its numbers.

        Raises:
            ValueError: it breaks a limit; rows that cannot be encoded are among the ``faults``.
        """
        spec = self._preparation.extend(read, self.target)
        key, stored = self._preparation.encode(read, self.inputs, spec)
        self.faults.add(Findings.of_counts(stored.counts))
        fields = self.inputs.fields
        widths = {n: field.shape[0] for n, field in fields.items() if field.shape}
        if spec.width:
            widths |= {TARGET: spec.width, PRESENT: spec.width}
        counts = {key: stored.counts[key] for key in COUNTS}
        self.splits[name] = Split(
            name=name,
            given=read.given,
            key=key,
            digest=read.digest,
            rows=read.rows,
            encoded=EncodedRows(stored.table, widths),
            spec=spec,
            counts={**counts, "empty": read.empty},
            findings=read.findings,
            long_rows=self.long_rows,
            part=read.part,
        )
        self.splits[name].check(
            max_tokens=self._batching.max_tokens,
            search=self._search,
            per_element=self.task.per_element,
        )


class _Batches(Dataset[Batch]):
    """The set whose item at a list of examples is their batch."""

    def __init__(self, examples: Examples, fields: list[str], task: Task) -> None:
        self._examples, self._fields, self._task = examples, fields, task

    def __getitem__(self, numbers: list[int]) -> Batch:
        return collate(
            [self._examples[number] for number in numbers],
            self._examples.rows[numbers].tolist(),
            fields=self._fields,
            collate_target=self._task.collate,
        )
