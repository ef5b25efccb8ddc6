"""Show what a trained model attends to."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqtag.batch import Row, length, place
from seqtag.checkpoint import Checkpoint, load_checkpoint
from seqtag.commands.runs import Runs
from seqtag.commands.sources import choose_reader, open_input
from seqtag.data.collation import collate
from seqtag.model import Model
from seqtag.predictor import Predictor
from seqtag.report.attention_maps import (
    AttentionMap,
    attends,
    attention_maps,
    read_symbols,
    record,
)
from seqtag.training.run_directory import create_directory, kind_of, replace_file

RUNS = Runs.ONE
FORMATS = ("png", "svg")

log = logging.getLogger(__name__)


def attention(config: dict[str, Any], overrides: list[str]) -> None:
    """Write pictures and a JSON for each sequence, and print the folder that they are in."""
    formats = _check(config)
    checkpoint = load_checkpoint(config["run"])
    checkpoint.use(config)
    predictor = Predictor(checkpoint, device=config["device"])
    if not attends(predictor.model):
        raise ValueError(
            f"{checkpoint.path} holds no attention to show: its encoder is "
            f"{kind_of(config['encoder'])}; train one with encoder=attention"
        )
    reader = choose_reader(
        config, overrides, task=predictor.task, vectors=checkpoint.inputs.reads_vectors
    )
    asked = _asked_folder(config["output"])
    folder, number = None, 0
    gallery = _Gallery(formats, config["longest"])
    with open_input(config["input"]) as (stream, name):
        rows = reader.read(stream, name)
        answers = predictor.predict_rows(
            islice(rows, config["limit"]), probabilities=False, look_ahead=1
        )
        for number, (row, answer) in enumerate(answers, 1):
            if folder is None:
                folder = asked or create_directory(checkpoint.path.parent / "attention")
                folder.mkdir(parents=True, exist_ok=True)
                log.info("writing to %s", folder)
            maps = _maps(checkpoint, predictor.model, row) if length(row) else []
            gallery.add(folder, number, row, answer.value, maps)
    if folder is None:
        raise ValueError(f"{name} holds no sequence")
    for line in gallery.remarks():
        log.info(line)
    if number == config["limit"]:
        # Not counted, and not even looked for: a pipe may be endless, or wait.
        log.info("stopped at limit=%s: further sequences, if any, were left out", number)
    print(folder)


class _Gallery:
    """Writes what there is of one sequence after another, and keeps what is to be said of all.

    Args:
        formats: of the pictures.
        longest: most tokens that stand beside an axis.
    """

    def __init__(self, formats: Sequence[str], longest: int) -> None:
        self.formats, self.longest = formats, longest
        self.missing: set[str] = set()
        self.long = 0

    def add(
        self, folder: Path, number: int, row: Row, prediction: Any, maps: Sequence[AttentionMap]
    ) -> None:
        """Write the pictures, then the JSON that names them; each file is there whole or not."""
        pictures: list[str] = []
        for chart in maps:
            pictures += self._draw(
                folder, f"{number:04}-{chart.part.replace(' ', '-')}", row, chart
            )
        self.long += any(len(axis) > self.longest for c in maps for axis in (c.queries, c.keys))
        about = {
            "sequence": number,
            "file": row.get("file"),
            "line": row.get("line"),
            "elements": elements(row),
            "prediction": prediction,
            "pictures": pictures,
        }
        if not maps:
            about["note"] = "an empty sequence: nothing attends, and there is no picture"
        replace_file(folder / f"{number:04}.json", spell(about, maps))
        log.info("%04d  %s elements", number, len(about["elements"]))

    def remarks(self) -> Iterator[str]:
        """What a reader of the pictures must know."""
        if self.long and self.formats:
            yield (
                f"sequences with more than longest={self.longest} tokens: {self.long:,}; their "
                "pictures have numbers in place of the tokens, which the JSON holds"
            )
        if self.missing and self.formats:
            from seqtag.report.fonts import packages
            from seqtag.report.lettering import legible

            some = " ".join(map(legible, sorted(self.missing)[:20]))
            yield (
                f"no installed font has {len(self.missing)} of the characters ({some}): a PNG has "
                "frames in their place, an SVG is drawn with its viewer's fonts. On Debian they "
                f"come with: apt-get install {' '.join(packages(self.missing))}"
            )

    def _draw(self, folder: Path, name: str, row: Row, chart: AttentionMap) -> Iterator[str]:
        """Write the pictures of a map; yields their names."""
        if not self.formats:
            return
        from seqtag.report.heatmap import draw, render

        who = "each head (row) gathers" if chart.pools else "each row attends to"
        title = f"{chart.part} of {place(row)}: {who} the columns"
        picture = draw(chart, title=title, longest=self.longest)
        self.missing |= picture.missing
        for file_format in self.formats:
            file = folder / f"{name}.{file_format}"
            replace_file(file, render(picture.figure, file_format))
            yield file.name


def elements(row: Row) -> list[str]:
    """A row's tokens; of vectors, their numbers from 1."""
    if "vectors" in row:
        return [str(number) for number in range(1, length(row) + 1)]
    return list(row["tokens"])


def spell(about: dict[str, Any], maps: Sequence[AttentionMap]) -> bytes:
    """JSON with a line for each head, so that people can look through it too."""
    heads = [
        {
            "part": chart.part,
            "layer": number,
            "head": head,
            "module": layer.module,
            "queries": chart.queries,
            "keys": chart.keys,
            "weights": _shortest(weights),
        }
        for chart in maps
        for number, layer in enumerate(chart.layers, 1)
        for head, weights in enumerate(layer.weights, 1)
    ]
    lines = [f"{json.dumps(key)}: {_dump(value)}" for key, value in about.items()]
    lines.append('"attention": [' + ",".join("\n" + _dump(head) for head in heads) + "\n]")
    # A lone surrogate, which JSON input may hold, has no UTF-8 but an escape in JSON.
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shortest(weights: NDArray[Any]) -> list[list[float]]:
    """Numbers with as few digits as tell them from their neighbours of the same width."""
    digits = weights.astype(np.str_).astype(np.float64)
    rows: list[list[float]] = digits.tolist()
    return rows


def _maps(checkpoint: Checkpoint, model: Model, row: Row) -> list[AttentionMap]:
    inputs, target = checkpoint.inputs, checkpoint.target
    batch = collate([inputs.encode(row)], [0], fields=list(inputs.fields), collate_target=None)
    device = next(model.parameters()).device
    prediction, recorded = record(model, batch.to(device))
    symbols = read_symbols(prediction.value[0], target.labels) if target.sequence else []
    return attention_maps(recorded, elements=elements(row), symbols=symbols)


def _check(config: dict[str, Any]) -> list[str]:
    """The formats of the pictures.

    Raises:
        ValueError: a setting has a value that it cannot have.
    """
    given = config["format"]
    formats = given if isinstance(given, list) else [given]
    if wrong := [name for name in formats if name not in FORMATS]:
        raise ValueError(f"format has {', '.join(map(str, wrong))}; there are {', '.join(FORMATS)}")
    for key in ("limit", "longest"):
        if config[key] < 1:
            raise ValueError(f"{key} is {config[key]}; it must be at least 1")
    return list(dict.fromkeys(formats))


def _asked_folder(path: str | None) -> Path | None:
    """The folder that the user names.

    Raises:
        ValueError: there is something in it, or it is a file.
    """
    if path is None:
        return None
    folder = Path(path).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output={path} is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"output={path} is not empty, and nothing is overwritten; name a new folder"
        )
    return folder
