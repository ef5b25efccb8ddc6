"""What a comparison of runs says, as plain dataclasses that every report is made from.

Scores are those of one split, the same rows for all. A contender is a set of runs that differ only
by seed (and by fold, where a data set is cross-validated); a floor is a contender without runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(kw_only=True)
class Score:
    """One score of a contender.

    Attributes:
        mean: over the seeds; of each seed, the mean over its folds.
        low: lower end of the 95 per cent interval of ``mean``, by a bootstrap over the rows.
        high: its upper end.
        spread: standard deviation over the seeds; None with one seed.
        seeds: the score of each seed, in the order of ``Contender.seeds``; empty for a floor.
    """

    mean: float
    low: float
    high: float
    spread: float | None
    seeds: list[float]


@dataclass(kw_only=True)
class Curve:
    """How one run learned.

    Attributes:
        seed: of the run.
        fold: that it was tested on; None without folds.
        epochs: numbers of the epochs, from 1.
        loss: training loss of each; None where it was not logged.
        dev: of each, the dev score that the comparison is about.
    """

    seed: int
    fold: int | None
    epochs: list[int]
    loss: list[float | None]
    dev: list[float | None]


@dataclass(kw_only=True)
class Contender:
    """Runs that differ only by seed and fold, or a floor.

    Attributes:
        name: short, and no other's.
        floor: what is said of a floor; None for runs.
        settings: the config keys by which it differs from some other contender, with its values.
        seeds: of its runs, in ascending order; empty for a floor.
        folds: into how many the data were cut; None where they were not.
        scores: by metric.
        dev: mean dev score over the runs, by metric.
        parameters: trained numbers; None for a floor, as all that follow.
        seconds: of training, the mean over its runs (with folds, the mean of a fold).
        tokens_per_second: elements trained on a second, the mean over its runs.
        best_epochs: the best epoch of each run.
        runs: their directories, seed by seed and fold by fold.
        curves: of each run.
        words: what the tests say of it against each that it is tested against, the closest first.
    """

    name: str
    floor: str | None
    settings: dict[str, Any]
    seeds: list[int]
    folds: int | None
    scores: dict[str, Score]
    dev: dict[str, float] = field(default_factory=dict)
    parameters: int | None = None
    seconds: float | None = None
    tokens_per_second: float | None = None
    best_epochs: list[int] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Pair:
    """A test of two contenders on the same rows.

    Attributes:
        first: the better one by ``Score.mean``.
        second: the other.
        difference: of their means, never below 0: so much better is the first.
        low: lower end of the 95 per cent interval of the difference, over the rows.
        high: its upper end.
        p: of a difference as large by chance of the rows, with the models as they are; NaN where a
            score is not defined, as all numbers of such a pair.
        corrected: the same, corrected for the number of pairs (Holm 1979).
        p_seeds: of means as far apart by chance of the seeds (Welch 1947; beside a floor, which
            has none, Student 1908), corrected for the number of pairs that have one (Holm). None
            without two seeds of whatever was trained, or where no seed changes anything.
        test: which test gave ``p``.
        words: the verdict, said of the first.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    corrected: float
    p_seeds: float | None
    test: str
    words: str


@dataclass(kw_only=True)
class Example:
    """A row that one of two contenders does better.

    Attributes:
        row: its index in the split.
        place: ``file:line``; empty where the predictions do not say.
        input: cut where it is long.
        gold: what is right.
        first: what the first contender says (its first seed).
        second: what the second says.
        scores: the row's own score of both, mean over the seeds.
    """

    row: int
    place: str
    input: str
    gold: str
    first: str
    second: str
    scores: tuple[float, float]


@dataclass(kw_only=True)
class Disagreement:
    """Where two contenders differ, row by row.

    Attributes:
        first: the better one, as in ``Pair``.
        second: the other.
        first_better: rows whose own score, mean over the seeds, is better with the first.
        second_better: the reverse.
        alike: the other rows that have a score.
        for_first: rows where the first is ahead most.
        for_second: the reverse.
    """

    first: str
    second: str
    first_better: int
    second_better: int
    alike: int
    for_first: list[Example]
    for_second: list[Example]


@dataclass(kw_only=True)
class Comparison:
    """Everything that is said of a set of runs.

    Attributes:
        split: that the scores are of.
        metric: the score that is tested and ranked by.
        higher_is_better: of that score.
        rows: that the split has.
        resamples: of the bootstrap.
        contenders: the best first; floors among them where their scores put them.
        pairs: every two contenders, in the order of the contenders; not two floors.
        disagreements: of neighbours in the order, floors left out, and of the first and last.
        notes: what a reader must know: other budgets, other code, one seed only, ...
        skipped: run directories that were left out, and why.
        environment: what the runs were made with, where they agree.
    """

    split: str
    metric: str
    higher_is_better: bool
    rows: int
    resamples: int
    contenders: list[Contender]
    pairs: list[Pair]
    disagreements: list[Disagreement]
    notes: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
