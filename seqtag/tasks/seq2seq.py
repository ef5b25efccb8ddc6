"""A new sequence for the sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from seqtag.batch import END, Output, Prediction, Row, Target, TargetSpec, place
from seqtag.data.inputs import stack
from seqtag.evaluation.sequences import until_end
from seqtag.tasks.labels import fit_labels, unseen_labels
from seqtag.tasks.task import Encoded, Task


class Seq2Seq(Task):
    """Spelling to sound, inflection, translation: a sequence of symbols with its own length.

    A parsed target is the string that the target tokenizer splits into symbols, or None.
    """

    per_element: ClassVar[bool] = False
    sequence: ClassVar[bool] = True
    numeric: ClassVar[bool] = False

    def parse(self, row: Row) -> str | None:
        """See the base class."""
        target = row.get("target")
        if "element_lines" in row:
            raise ValueError(
                f"{place(row)}: seq2seq wants one target for the sequence, and here each element "
                "has a line; use data=tsv or another format with a sequence a line"
            )
        if target is None:
            return None
        if isinstance(target, str):
            return self.target_tokenizer.join(self.target_tokenizer.split(target))
        if isinstance(target, list) and all(isinstance(symbol, str) for symbol in target):
            joined = self.target_tokenizer.join(target)
            if self.target_tokenizer.split(joined) == target:
                return joined
            raise ValueError(
                f"{place(row)}: the target {target!r:.60} is not what data.target_tokenizer makes "
                f"of {joined!r:.60}; choose a tokenizer that does"
            )
        raise ValueError(f"{place(row)}: seq2seq wants a string as target, not {target!r:.60}")

    def fit(self, targets: Callable[[], Iterable[str | None]]) -> TargetSpec:
        """See the base class."""
        spec = fit_labels((s for symbols in self._split(targets()) for s in symbols), scheme=None)
        return TargetSpec(
            labels=spec.labels,
            counts=spec.counts,
            sequence=True,
            typical=_typical(self._split(targets())),
        )

    def extend(self, spec: TargetSpec, targets: Iterable[str | None]) -> TargetSpec:
        """See the base class."""
        symbols = (symbol for symbols in self._split(targets) for symbol in symbols)
        return spec.with_unseen(unseen_labels(symbols, spec))

    def encode(self, target: str | None, spec: TargetSpec) -> Encoded:
        """A parsed target as ``target`` and ``present``, ``[symbols + 1]`` each; see ``Target``."""
        if target is None:
            return {"target": np.zeros(1, np.int32), "present": np.zeros(1, np.uint8)}
        ids = [spec.ids[symbol] for symbol in self.target_tokenizer.split(target)]
        return {
            "target": np.array([*ids, END], np.int32),
            "present": np.ones(len(ids) + 1, np.uint8),
        }

    def encode_references(
        self, references: Sequence[str] | None, spec: TargetSpec
    ) -> NDArray[np.int32]:
        """Ids of all accepted targets, one behind the other, with ``END`` behind each."""
        ids = [
            number
            for reference in references or ()
            for number in (*(spec.ids[s] for s in self.target_tokenizer.split(reference)), END)
        ]
        return np.array(ids, np.int32)

    def collate(self, encoded: Sequence[Encoded], lengths: NDArray[np.int64]) -> Target:
        """See the base class; targets have their own lengths."""
        own = np.array([len(row["target"]) for row in encoded], dtype=np.int64)
        value = stack([row["target"] for row in encoded], own).astype(np.int64)
        present = stack([row["present"] for row in encoded], own).astype(bool)
        references = None
        if "references" in encoded[0]:
            sizes = np.array([len(row["references"]) for row in encoded], dtype=np.int64)
            references = torch.from_numpy(
                stack([row["references"] for row in encoded], sizes).astype(np.int64)
            )
        return Target(torch.from_numpy(value), torch.from_numpy(present), references)

    def decode(
        self,
        prediction: Prediction,
        lengths: Sequence[int],
        spec: TargetSpec,
        *,
        probabilities: bool,
    ) -> list[Output]:
        """See the base class; sequences of symbols that are one text share its probability."""
        texts = [self._text(ids, spec) for ids in prediction.value.tolist()]
        if not probabilities or prediction.probabilities is None:
            return [Output(text) for text in texts]
        found = prediction.candidates
        if found is None:
            found = prediction.value.unsqueeze(1)
        shares = prediction.probabilities.view(found.shape[:2])
        outputs = []
        for text, best, chances in zip(texts, found.tolist(), shares.tolist(), strict=True):
            sums: dict[str, float] = {}
            for ids, chance in zip(best, chances, strict=True):
                name = self._text(ids, spec)
                sums[name] = sums.get(name, 0.0) + chance
            outputs.append(Output(text, sums))
        return outputs

    def _text(self, ids: list[int], spec: TargetSpec) -> str:
        return self.target_tokenizer.join([spec.labels[symbol - 1] for symbol in until_end(ids)])

    def floor(self, target: Target, spec: TargetSpec) -> Prediction:
        """The symbol that is most frequent at each place."""
        ids = [spec.ids[symbol] for symbol in spec.typical]
        value = torch.tensor([*ids, END], dtype=torch.int64)
        return Prediction(value.expand(len(target.value), -1))

    def _split(self, targets: Iterable[str | None]) -> Iterable[list[str]]:
        return (self.target_tokenizer.split(target) for target in targets if target is not None)


def _typical(targets: Iterable[list[str]]) -> tuple[str, ...]:
    """The most frequent symbol at each place, as long as it is more frequent than having ended."""
    places: list[Counter[str]] = []
    ended: Counter[int] = Counter()
    for symbols in targets:
        places.extend(Counter() for _ in range(len(symbols) - len(places)))
        for counts, symbol in zip(places, symbols, strict=False):
            counts[symbol] += 1
        ended[len(symbols)] += 1
    found: list[str] = []
    over = 0
    for number, counts in zip(count(), places):
        over += ended[number]
        symbol, times = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if over >= times:
            break
        found.append(symbol)
    return tuple(found)
