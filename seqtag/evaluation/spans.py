"""Spans that labels spell: which scheme they follow, and the F1 of whole spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.evaluation.metrics import ArithmeticMetric
from seqtag.evaluation.schemes import (
    OUTSIDE,
    SCHEMES,
    fitting_scheme,
    position_and_type,
    row_transitions,
)

Span = tuple[str, int, int]
"""Type, first element, and element behind the last."""

_CACHED_SEGMENTS = 2**14


def detect_scheme(label_sequences: Iterable[Sequence[str | None]]) -> str | None:
    """Name of the span scheme that the labels break least often, or None: they are no spans.

    Labels are spans if every one is spelled in a scheme and not all are ``O``. Bare letters could
    mean anything, so they have to say more: there is a ``B``, or an ``I`` beside ``O``, and at
    most one in ten breaks the scheme.

    Args:
        label_sequences: the labels of each row of the whole training split (the first sentences
            may be ``O`` alone), None for missing ones.
    """
    transitions: Counter[tuple[str, str]] = Counter()
    seen: set[str] = set()
    for labels in label_sequences:
        new = {label for label in labels if label is not None} - seen
        if any(position_and_type(label) is None for label in new):
            return None
        seen |= new
        transitions.update(row_transitions(labels))
    return fitting_scheme(transitions, seen)


class SpanReader:
    """Reads the spans of rows of label ids.

    Elements without a gold label are taken out before anything is read, on both sides: what is
    before and behind them then touches.

    Args:
        names: the label of each id, spelled as ``read`` wants it.
        read: the spans of a run of labels without an ``O``.
    """

    def __init__(
        self, *, names: Sequence[str], read: Callable[[tuple[str, ...]], tuple[Span, ...]]
    ) -> None:
        self._names = tuple(names)
        self._read = read
        self._inside = np.array([name != OUTSIDE for name in names])

    def pairs(self, value: Tensor, target: Target) -> Iterator[tuple[set[Span], set[Span]]]:
        """Predicted and gold spans of each row.

        Args:
            value: predicted label ids ``[batch, source]``.
            target: gold labels.
        """
        present = target.present.cpu()
        lengths = present.sum(dim=1).numpy()
        predicted, gold = (side.cpu()[present].numpy() for side in (value, target.value))
        yield from zip(self._spans(predicted, lengths), self._spans(gold, lengths), strict=True)

    def _spans(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[set[Span]]:
        """The spans of rows that stand one behind the other.

        No scheme looks past an O, and the runs between them repeat: what is looked for here is
        where they are, and each kind of them is read only once.

        Args:
            ids: of all rows, ``[n]``.
            lengths: elements of each row.
        """
        rows: list[set[Span]] = [set() for _ in lengths]
        if not len(ids):
            return rows
        row = np.repeat(np.arange(len(lengths)), lengths)
        inside = self._inside[ids]
        apart = ~inside[1:] | ~inside[:-1] | (row[1:] != row[:-1])  # [n - 1], between neighbours
        begins = np.flatnonzero(inside & np.append(True, apart))
        ends = np.flatnonzero(inside & np.append(apart, True)) + 1
        places = begins - (np.cumsum(lengths) - lengths)[row[begins]]
        names = [self._names[label] for label in ids.tolist()]
        for begin, end, number, place in zip(
            begins.tolist(), ends.tolist(), row[begins].tolist(), places.tolist(), strict=True
        ):
            rows[number].update(
                (kind, place + first, place + behind)
                for kind, first, behind in self._read(tuple(names[begin:end]))
            )
        return rows


# seqeval brings in scikit-learn, seconds that only those who have spans should wait for.


@lru_cache(maxsize=_CACHED_SEGMENTS)
def _strict_spans(scheme: str, segment: tuple[str, ...]) -> tuple[Span, ...]:
    from seqeval import scheme as schemes

    if scheme == "IOE1":
        # seqeval 1.2 loses spans of one element here that touch the next (its own to-do). The
        # scheme is IOB1 from right to left.
        mirrored = tuple("B" + label[1:] if label[0] == "E" else label for label in segment[::-1])
        size = len(segment)
        return tuple(
            (kind, size - end, size - begin) for kind, begin, end in _strict_spans("IOB1", mirrored)
        )
    entities = schemes.Entities([list(segment)], getattr(schemes, scheme)).entities[0]
    return tuple((entity.tag, entity.start, entity.end) for entity in entities)


@lru_cache(maxsize=_CACHED_SEGMENTS)
def _conlleval_spans(segment: tuple[str, ...]) -> tuple[Span, ...]:
    from seqeval.metrics.sequence_labeling import get_entities

    chunks = get_entities(list(segment))
    return tuple((kind, first, last + 1) for kind, first, last in chunks)


def _row_counts(pairs: Iterable[tuple[set[Span], set[Span]]]) -> Tensor:
    """Correct, predicted and gold spans of each row, ``[batch, 3]``."""
    counts = [(len(predicted & gold), len(predicted), len(gold)) for predicted, gold in pairs]
    return torch.tensor(counts, dtype=torch.float64).reshape(-1, 3)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _f1(totals: Tensor) -> Tensor:
    correct, predicted, gold = totals.unbind(dim=1)
    return 2 * correct / (predicted + gold)


def _details(total: Tensor) -> dict[str, float]:
    correct, predicted, gold = total.tolist()
    return {
        "precision": _share(correct, predicted),
        "recall": _share(correct, gold),
        "correct": correct,
        "predicted": predicted,
        "gold": gold,
    }


class SpanF1Strict(ArithmeticMetric):
    """F1 of whole spans, read strictly: labels that break the scheme make no span.

    A predicted span counts where type, begin and end are those of a gold span; over all types
    together (micro). The same as seqeval's in mode ``strict`` under the scheme that the model
    learnt: where ``data.scheme`` converts, prediction and gold are both read in that scheme, before
    the prediction is written back in the scheme of the files. Only IOE1, of which seqeval loses
    valid spans, is read as IOB1 from right to left.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True
    counts_of: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: TargetSpec) -> None:
        super().__init__(spec)
        assert spec.scheme is not None  # or it would not apply
        respell = SCHEMES[spec.scheme].respell
        self.reader = SpanReader(
            names=[respell(label) for label in (*spec.labels, *spec.unseen)],
            read=partial(_strict_spans, spec.scheme),
        )

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for labels that spell spans."""
        return spec.scheme in SCHEMES

    @property
    def size(self) -> int:
        """Correct, predicted and gold spans."""
        return 3

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Correct, predicted and gold spans of each row, ``[batch, 3]``."""
        return _row_counts(self.reader.pairs(prediction.value, target))

    def scores(self, totals: Tensor) -> Tensor:
        """Micro F1; NaN where there is no span, gold or predicted."""
        return _f1(totals)

    def details(self, total: Tensor) -> dict[str, float]:
        """Precision (NaN without prediction), recall (NaN without gold), and the counts."""
        return _details(total)


class SpanF1Conlleval(ArithmeticMetric):
    """F1 of whole spans, read as the conlleval script reads them.

    It forgives: a span begins wherever the type changes, or with any letter after an ``O``. The
    same as seqeval's without a mode. That reading knows B, I, E and S only, and misreads BILOU, so
    ``L`` and ``U`` are first spelled as ``E`` and ``S``, which mean the same. Where ``data.scheme``
    converts, these predicted spans are the ones that are written back to files.

    Args:
        spec: see the base class.
    """

    higher_is_better: ClassVar[bool] = True
    counts_of: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: TargetSpec) -> None:
        super().__init__(spec)
        respell = SCHEMES["IOBES"].respell
        self.reader = SpanReader(
            names=[respell(label) for label in (*spec.labels, *spec.unseen)],
            read=_conlleval_spans,
        )

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        """True for labels that spell spans."""
        return spec.scheme in SCHEMES

    @property
    def size(self) -> int:
        """Correct, predicted and gold spans."""
        return 3

    def row_statistics(self, prediction: Prediction, target: Target) -> Tensor:
        """Correct, predicted and gold spans of each row, ``[batch, 3]``."""
        return _row_counts(self.reader.pairs(prediction.value, target))

    def scores(self, totals: Tensor) -> Tensor:
        """Micro F1; NaN where there is no span, gold or predicted."""
        return _f1(totals)

    def details(self, total: Tensor) -> dict[str, float]:
        """Precision (NaN without prediction), recall (NaN without gold), and the counts."""
        return _details(total)
