"""Use a trained model: any number of sequences in, one output each, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import torch

from seqtag.batch import Output, Prediction, Row, length, place
from seqtag.checkpoint import Checkpoint, load_checkpoint
from seqtag.data.collation import collate
from seqtag.data.examples import EncodedRow, stretch
from seqtag.data.sampler import Batching, BudgetSampler
from seqtag.data.source import build_input_tokenizer
from seqtag.data.windows import LongRows, Window
from seqtag.device import choose_device
from seqtag.limits import too_long
from seqtag.stretches import predict
from seqtag.tasks.task import Task

LOOK_AHEAD = 2048
"""Rows read before the first is answered, so that rows of like length can share a batch."""

Item = str | Sequence[str] | Sequence[Sequence[float]] | Row


def load(
    path: str | Path,
    *,
    device: str = "auto",
    max_tokens: int | None = None,
    max_rows: int | None = None,
) -> Predictor:
    """A predictor from a run directory (its best checkpoint) or a checkpoint file.

    Args:
        path: of the run directory or file.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...
        max_tokens: cells of a batch, also the longest sequence that is taken; None as in the run.
        max_rows: rows of a batch; None as in the run.

    Raises:
        ValueError: there is no readable checkpoint, or the device is not there.
    """
    checkpoint = load_checkpoint(path)
    given = {"max_tokens": max_tokens, "max_rows": max_rows}
    checkpoint.config["batching"] |= {k: v for k, v in given.items() if v is not None}
    return Predictor(checkpoint, device=device)


class Predictor:
    """A model with everything it needs to read sequences and to answer in words.

    Args:
        checkpoint: the model; its config says how inputs are split and batched.
        device: where to compute.

    Attributes:
        model: on that device, as it predicts.
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str) -> None:
        self.checkpoint = checkpoint
        self.task = Task.from_config(checkpoint.config)
        self._tokenizer = build_input_tokenizer(checkpoint.config["data"])
        self._device = choose_device(device)
        self.model = checkpoint.model().to(self._device)
        self._batching = Batching.from_config(checkpoint.config)
        self._long_rows = LongRows.from_config(checkpoint.config, per_element=self.task.per_element)
        self.long = 0
        """Sequences so far that were too long to be read in one piece."""
        self.cut = 0
        """Sequences that the search has ended at its limit so far."""

    def predict(
        self,
        items: Iterable[Item],
        *,
        probabilities: bool = False,
        look_ahead: int = LOOK_AHEAD,
    ) -> Iterator[Output]:
        """Yield one output per item, in order.

        Args:
            items: each a string (split by the model's own tokenizer), a list of tokens, a list
                (or array) of vectors, or a row as readers give it. An empty one gets an empty
                output.
            probabilities: give the probability of every label too; for a new sequence, that of the
                ``search.n_best`` best, best first.
            look_ahead: items read before the first is answered; 1 answers each at once.

        Raises:
            ValueError: an item is not what the model reads, or too long.
        """
        if isinstance(items, str | Mapping):
            raise ValueError(f"give a list of sequences, even if it is one: [{items!r:.60}]")
        rows = (self._row(item, number) for number, item in enumerate(items, 1))
        for _, output in self.predict_rows(
            rows, probabilities=probabilities, look_ahead=look_ahead
        ):
            yield output

    def predict_rows(
        self, rows: Iterable[Row], *, probabilities: bool, look_ahead: int
    ) -> Iterator[tuple[Row, Output]]:
        """Yield each row of a reader with its output, in order."""
        if look_ahead < 1:
            raise ValueError(f"look_ahead is {look_ahead}; it must be at least 1")
        waiting = iter(rows)
        while block := list(islice(waiting, look_ahead)):
            yield from zip(block, self._predict_block(block, probabilities), strict=True)

    def _predict_block(self, rows: list[Row], probabilities: bool) -> list[Output]:
        outputs = [self._empty_output(probabilities) for _ in rows]
        filled = [number for number, row in enumerate(rows) if length(row)]
        lengths = [length(rows[number]) for number in filled]
        long_rows = self._long_rows
        for number, cells in zip(filled, lengths, strict=True):
            reason = long_rows.refusal(cells) or too_long(self.model, min(cells, long_rows.limit))
            if reason:
                raise ValueError(f"{place(rows[number])}: {reason}")
        if not filled:
            return outputs
        batches = BudgetSampler(
            lengths,
            batching=self._batching,
            seed=0,
            shuffle=False,
            rank=0,
            ranks=1,
        )
        for chosen in batches:
            numbers = [filled[index] for index in chosen]
            answers = self._predict_batch([rows[number] for number in numbers], probabilities)
            for number, answer in zip(numbers, answers, strict=True):
                outputs[number] = answer
        return outputs

    def _empty_output(self, probabilities: bool) -> Output:
        """The answer to an empty row; it has probabilities, of nothing, where others have some."""
        shares = probabilities and bool(self.checkpoint.target.labels)
        if self.task.per_element:
            return Output([], [] if shares else None)
        return Output(None, {} if shares else None)

    @torch.inference_mode()
    def _predict_batch(self, rows: list[Row], probabilities: bool) -> list[Output]:
        inputs = self.checkpoint.inputs
        batch = collate(
            [self._encode(row) for row in rows],
            range(len(rows)),
            fields=list(inputs.fields),
            collate_target=None,
        )
        prediction = predict(self.model, batch.to(self._device), self._long_rows)
        if prediction.complete is not None:
            self.cut += int((~prediction.complete).sum())
        shares, candidates = prediction.probabilities, prediction.candidates
        on_host = Prediction(prediction.value.cpu())
        if probabilities:
            on_host.probabilities = None if shares is None else shares.cpu()
            on_host.candidates = None if candidates is None else candidates.cpu()
        return self.task.decode(
            on_host,
            batch.layout.lengths.tolist(),
            self.checkpoint.target,
            probabilities=probabilities,
        )

    def _encode(self, row: Row) -> EncodedRow:
        encoded = self.checkpoint.inputs.encode(row)
        limit = self._long_rows.limit
        if length(row) <= limit:
            return encoded
        self.long += 1
        if self.task.per_element:
            return encoded  # read in windows
        return stretch(encoded, Window(0, limit, 0, limit), per_element=False)

    def _row(self, item: Item, number: int) -> Row:
        row: Row = {"file": "item", "line": number}
        if isinstance(item, Mapping):
            tokens = item.get("tokens", [])
            plain = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
            if plain and ("tokens" in item or "vectors" in item):
                return {**row, **item}
        elif isinstance(item, str):
            return {**row, "tokens": self._tokenizer.split(item)}
        elif isinstance(item, Iterable):
            elements = list(item)
            if self.checkpoint.inputs.reads_vectors:
                return {**row, "vectors": elements}  # type: ignore[typeddict-item]
            if all(isinstance(element, str) for element in elements):
                return {**row, "tokens": elements}  # type: ignore[typeddict-item]
        vectors = self.checkpoint.inputs.reads_vectors
        reads = "lists of vectors" if vectors else "strings or lists of tokens"
        raise ValueError(f"item {number} is {item!r:.60}; this model reads {reads}")
