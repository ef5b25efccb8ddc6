"""Which floors a data set has, and what they score."""

from __future__ import annotations

import logging
import time

from seqtag.batch import WORD
from seqtag.datamodule import DataModule
from seqtag.floors.floor import ConstantFloor, Floor
from seqtag.floors.ngrams import NgramFloor
from seqtag.floors.words import WordFloor

KINDS: tuple[type[Floor], ...] = (ConstantFloor, WordFloor, NgramFloor)

LONG = 1.0
"""Seconds of fitting of which something is said."""

log = logging.getLogger(__name__)


def fit_floors(data: DataModule) -> list[Floor]:
    """Every floor that the data have.

    Elements that are vectors are no words and have no n-grams, and neither answers with a new
    sequence. Without a training split there is only the floor that a checkpoint knows.
    """
    floors: list[Floor] = [ConstantFloor(data)]
    if "train" not in data.splits or WORD not in data.inputs.fields or data.target.sequence:
        return floors
    kind = WordFloor if data.task.per_element else NgramFloor
    start = time.monotonic()
    floors.append(kind.fit(data))
    if (seconds := time.monotonic() - start) > LONG:
        log.info("floor of %s: fitted in %.0f s", kind.heading, seconds)
    return floors
