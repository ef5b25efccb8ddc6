"""Batches of rows that are never stored: read, encoded and shuffled as they come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from torch.utils.data import IterableDataset, get_worker_info

from seqtag.batch import Batch, TargetSpec
from seqtag.data.collation import collate
from seqtag.data.examples import EncodedRow, learnt_parts
from seqtag.data.inputs import Inputs
from seqtag.data.sampler import Batching, BudgetSampler
from seqtag.data.windows import LongRows
from seqtag.preparation.parts import encode_row
from seqtag.preparation.rows import StreamedRows
from seqtag.tasks.task import Task


class StreamedBatches(IterableDataset[Batch]):
    """Training batches from files that are read anew each time.

    Files come in another order in every epoch. Rows are held in a buffer, sorted into batches of
    like length there and given in random order, as ``BudgetSampler`` does with a whole split. Of
    several processes each takes its share of the rows. The order depends on seed and epoch alone,
    and on how many processes there are.

    Args:
        rows: of the training split.
        inputs: how they are read.
        task: what their targets mean.
        spec: of the targets.
        long_rows: what is done with rows over the limit.
        batching: the budget.
        buffer: rows held at a time.
        seed: of the order.
    """

    def __init__(
        self,
        rows: StreamedRows,
        *,
        inputs: Inputs,
        task: Task,
        spec: TargetSpec,
        long_rows: LongRows,
        batching: Batching,
        buffer: int,
        seed: int,
    ) -> None:
        self._rows, self._inputs, self._task, self._spec = rows, inputs, task, spec
        self._long_rows, self._batching = long_rows, batching
        self._buffer, self._seed = buffer, seed
        self.epoch = 0

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        share, shares = (0, 1) if worker is None else (worker.id, worker.num_workers)
        epoch, self.epoch = self.epoch, self.epoch + 1
        order = np.random.default_rng((self._seed, epoch)).permutation(len(self._rows.parts))
        random = np.random.default_rng((self._seed, epoch, share))
        waiting = islice(self._read(order.tolist()), share, None, shares)
        while block := list(islice(waiting, self._buffer)):
            yield from self._batches(block, int(random.integers(2**31)))

    def _read(self, order: list[int]) -> Iterator[tuple[int, Any]]:
        return enumerate(self._rows.iterate(order))

    def _batches(self, block: list[tuple[int, Any]], seed: int) -> Iterator[Batch]:
        examples: list[EncodedRow] = []
        numbers: list[int] = []
        sizes: list[int] = []
        for number, row in block:
            encoded = encode_row(row, self._inputs, self._task, self._spec)
            for part, size in learnt_parts(
                encoded,
                self._long_rows,
                per_element=self._task.per_element,
                sequence=self._task.sequence,
            ):
                examples.append(part)
                numbers.append(number)
                sizes.append(size)
        if not examples:
            return
        sampler = BudgetSampler(
            sizes, batching=self._batching, seed=seed, shuffle=True, rank=0, ranks=1
        )
        for chosen in sampler:
            yield collate(
                [examples[example] for example in chosen],
                [numbers[example] for example in chosen],
                fields=list(self._inputs.fields),
                collate_target=self._task.collate,
            )
