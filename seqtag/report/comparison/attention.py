"""What a contender attends to in one of the sentences that a comparison is about."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from seqtag.batch import Row, length
from seqtag.checkpoint import DAMAGE, Checkpoint, load_checkpoint
from seqtag.comparison.comparison import Comparison, Contender, Example
from seqtag.data.collation import collate
from seqtag.model import Model
from seqtag.report.attention_maps import (
    AttentionMap,
    attends,
    attention_maps,
    read_symbols,
    record,
)
from seqtag.report.lettering import plain

LONGEST = 25
"""Elements of a sentence whose picture can be read on a page."""

SHORTEST = 4
"""Elements that a sentence should have, so that there is something to attend to."""

SEARCHED = 20_000
"""Lines of the predictions that are looked through."""

BEGINNING = 20
"""Characters by which a sentence is known of which the report shows but the beginning."""

PREDICTIONS = "predictions.jsonl"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AttentionPicture:
    """A drawn map of attention.

    Attributes:
        title: whose, and of what.
        caption: how to read it, and which sentence it is.
        png: the picture.
    """

    title: str
    caption: str
    png: bytes


@dataclass(frozen=True)
class NoPicture:
    """There is none.

    Attributes:
        reason: a sentence for the report.
    """

    reason: str


@dataclass(frozen=True)
class _Sentence:
    """A line of the predictions, and whether two contenders are shown to differ on it."""

    line: dict[str, Any]
    disputed: bool


def draw_attention(comparison: Comparison, *, device: str) -> AttentionPicture | NoPicture:
    """The attention of the best contender that has some, over one short sentence of its test.

    The sentence is one that the report shows as an example, where one is short enough. Whatever is
    wrong with a run's files, it is a reason, no error: the numbers do not depend on the picture.

    Args:
        comparison: whose contenders' first runs are looked at, the best first.
        device: where to compute.
    """
    reasons = []
    for one in comparison.contenders:
        if not one.runs:
            continue
        try:
            found = _of_run(comparison, one, Path(one.runs[0]), device)
        except (*DAMAGE, OSError) as error:
            # The first line says what and where; the rest is for who looks into it.
            log.debug("no attention of %s", one.name, exc_info=True)
            found = NoPicture(f"{one.name}: {(str(error).splitlines() or [repr(error)])[0]}")
        if isinstance(found, AttentionPicture):
            return found
        if found is not None:
            reasons.append(found.reason)
    return NoPicture("; ".join(reasons[:3]) or "no contender attends")


def _of_run(
    comparison: Comparison, one: Contender, run: Path, device: str
) -> AttentionPicture | NoPicture | None:
    """A picture, the reason why there is none, or None where the model has no attention at all."""
    from seqtag.device import choose_device

    checkpoint = load_checkpoint(run)
    model = checkpoint.model()
    if not attends(model):
        return None
    sentence = _choose(run / PREDICTIONS, _disputed(comparison, one.name))
    if sentence is None:
        return NoPicture(f"{one.name}: {PREDICTIONS} holds no sentence of up to {LONGEST} elements")
    maps = _maps(checkpoint, model.to(choose_device(device)), sentence.line)
    if not maps:
        return NoPicture(f"{one.name}: nothing was recorded")
    return _draw(one, maps[0], sentence)


def _draw(one: Contender, chart: AttentionMap, sentence: _Sentence) -> AttentionPicture:
    from seqtag.report.heatmap import draw, render

    who = (
        "each head (row) gathers the columns" if chart.pools else "each row attends to the columns"
    )
    title = f"{chart.part} of {one.name}: {who}"
    picture = draw(chart, title=title, longest=LONGEST + 1)
    about = "one of the examples above" if sentence.disputed else "a short one of the split"
    said = [
        f"{name} {plain(_joined(sentence.line[name]))}"
        for name in ("gold", "predicted")
        if name in sentence.line
    ]
    caption = (
        f"Weights of the run with seed {one.seeds[0]}, a panel for each layer and head, over a "
        f"sentence, {about}: {'; '.join(said)}."
    )
    return AttentionPicture(f"What {one.name} attends to", caption, render(picture.figure, "png"))


def _maps(checkpoint: Checkpoint, model: Model, line: dict[str, Any]) -> list[AttentionMap]:
    inputs, target = checkpoint.inputs, checkpoint.target
    batch = collate(
        [inputs.encode(_row(line))],
        [0],
        fields=list(inputs.fields),
        collate_target=None,
    )
    prediction, recorded = record(model, batch.to(next(model.parameters()).device))
    symbols = read_symbols(prediction.value[0], target.labels) if target.sequence else []
    return attention_maps(recorded, elements=_elements(line), symbols=symbols)


def _disputed(comparison: Comparison, name: str) -> list[Example]:
    """Examples that name the contender, then those of all others."""
    ordered = sorted(comparison.disagreements, key=lambda two: name not in (two.first, two.second))
    return [example for two in ordered for example in (*two.for_first, *two.for_second)]


def _choose(file: Path, examples: list[Example]) -> _Sentence | None:
    """The short line that is the earliest of the examples; else the first of a fair length."""
    wanted = {begin: place for place, e in reversed([*enumerate(examples)]) if (begin := _key(e))}
    beginnings = [(begin, place) for begin, place in wanted.items() if len(begin) >= BEGINNING]
    best: tuple[int, dict[str, Any]] | None = None
    short: dict[str, Any] | None = None
    for line in _lines(file):
        count = length(_row(line))
        if not 0 < count <= LONGEST:
            continue
        if short is None or length(_row(short)) < SHORTEST <= count:
            short = line
        text = _squeezed(" ".join(line.get("tokens", [])))
        place = wanted.get(text)
        if place is None:
            place = next((p for begin, p in beginnings if text.startswith(begin)), None)
        if place is not None and (best is None or place < best[0]):
            best = (place, line)
    if best is not None:
        return _Sentence(best[1], disputed=True)
    return None if short is None else _Sentence(short, disputed=False)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as stream:
        for text in islice(stream, SEARCHED):
            yield json.loads(text)


def _row(line: dict[str, Any]) -> Row:
    """A line of the predictions, which has more than a row has, as one."""
    return cast(Row, line)


def _key(example: Example) -> str:
    """How the tokens of an example begin; what was cut off its end is not to be found in them."""
    return _squeezed(example.input.removesuffix("...").removesuffix("…"))


def _squeezed(text: str) -> str:
    """Without blanks: a tokenizer may join its tokens with others, or with none."""
    return "".join(text.split())


def _elements(line: dict[str, Any]) -> list[str]:
    """The tokens; of vectors, their numbers from 1."""
    if "vectors" in line:
        return [str(number) for number in range(1, len(line["vectors"]) + 1)]
    return list(line["tokens"])


def _joined(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
