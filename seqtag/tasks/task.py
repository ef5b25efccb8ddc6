"""What a target means: strings in, numbers for the model, strings out, and how it is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.batch import Output, Prediction, Row, Target, TargetSpec
from seqtag.configuration import build
from seqtag.data.inputs import stack
from seqtag.data.source import build_target_tokenizer
from seqtag.data.tokenizers import Tokenizer
from seqtag.evaluation.metrics import Measure
from seqtag.evaluation.schemes import named_scheme

Encoded = dict[str, NDArray[Any]]


class Task(ABC):
    """One kind of target.

    Args:
        metrics: name to metric, a partial that is called with the target's spec.
        selection: names of metrics in order of preference; the first that applies to the data
            chooses the best epoch.
        target_tokenizer: splits a target that is one string, and joins one.
    """

    per_element: ClassVar[bool]
    """Whether every element has a target, rather than the sequence."""
    sequence: ClassVar[bool] = False
    """Whether a target is a sequence with a length of its own."""
    several: ClassVar[bool] = False
    """Whether a target is a set of labels; parsed, it is a list of them."""
    numeric: ClassVar[bool]
    """Whether a parsed target is a list of numbers, rather than a label."""

    def __init__(
        self,
        *,
        metrics: Mapping[str, partial[Measure]],
        selection: Sequence[str],
        target_tokenizer: Tokenizer,
    ) -> None:
        if isinstance(selection, str):
            selection = [selection]
        unknown = [name for name in selection if name not in metrics]
        if unknown or not selection:
            raise ValueError(
                f"task.selection names {list(selection)}; the task's metrics are {list(metrics)}"
            )
        self._metrics = dict(metrics)
        self._selection = tuple(selection)
        self.target_tokenizer = target_tokenizer

    @staticmethod
    def from_config(config: Mapping[str, Any]) -> Task:
        """The task of a run's config."""
        task = build(
            config["task"],
            kinds=(Task, Measure, Tokenizer),
            name="task",
            target_tokenizer=build_target_tokenizer(config["data"]),
        )
        assert isinstance(task, Task)
        if config["data"]["scheme"] is not None:
            task.learn_scheme(named_scheme(config["data"]["scheme"], key="data.scheme"))
        return task

    def learn_scheme(self, scheme: str) -> None:
        """Have spans learnt in a scheme, whatever that of the files.

        Args:
            scheme: as ``SCHEMES`` spells it.

        Raises:
            ValueError: targets of this task are no spans.
        """
        raise ValueError(
            f"data.scheme={scheme} converts labels of spans, one per element, and targets of "
            f"{type(self).__name__} are none; set data.scheme=null, or task=tagging"
        )

    @abstractmethod
    def parse(self, row: Row) -> Any:
        """The row's target in plain form (see the variants), None in the place of a missing one.

        Raises:
            ValueError: the target is not of this task's kind; the message names file and line.
        """

    @abstractmethod
    def fit(self, targets: Callable[[], Iterable[Any]]) -> TargetSpec:
        """What the training targets teach; ``targets()`` may be read several times."""

    @abstractmethod
    def extend(self, spec: TargetSpec, targets: Iterable[Any]) -> TargetSpec:
        """The spec with the labels that another split has and training lacks, as ``unseen``."""

    @abstractmethod
    def encode(self, target: Any, spec: TargetSpec) -> Encoded:
        """A parsed target as ``target`` and ``present``: ``[source, ...]`` or ``[1, ...]``."""

    def encode_references(self, references: Sequence[str] | None, spec: TargetSpec) -> NDArray[Any]:
        """Several accepted targets as one array; only new sequences have them."""
        raise AssertionError(f"{type(self).__name__} has one target for each row")

    @abstractmethod
    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """What the model predicts for each row, in the user's words."""

    @abstractmethod
    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """What needs no input: the most frequent label, or the mean, everywhere."""

    def collate(self, encoded: Sequence[Encoded], lengths: NDArray[np.int64]) -> Target:
        """Targets of several rows as one padded batch."""
        values = [row["target"] for row in encoded]
        present = [row["present"] for row in encoded]
        if self.per_element:
            value, there = stack(values, lengths), stack(present, lengths)
        else:
            value, there = np.concatenate(values), np.concatenate(present)
        if np.issubdtype(value.dtype, np.integer):
            value = value.astype(np.int64)
        return Target(value=torch.from_numpy(value), present=torch.from_numpy(there.astype(bool)))

    def metrics(self, spec: TargetSpec) -> dict[str, Measure]:
        """The metrics that apply to this data."""
        made = {}
        for name, metric in self._metrics.items():
            kind: type[Measure] = metric.func  # type: ignore[assignment]
            if kind.applies(spec):
                made[name] = metric(spec)
        return made

    def selection(self, defined: Collection[str]) -> str:
        """Name of the metric that chooses the best epoch.

        Args:
            defined: the metrics that have a value on the data that is to choose.

        Raises:
            ValueError: none of the preferred metrics is among them.
        """
        for name in self._selection:
            if name in defined:
                return name
        raise ValueError(
            f"none of task.selection={list(self._selection)} is defined on this data; "
            f"choose from {list(defined)}"
        )
