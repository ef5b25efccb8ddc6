"""What a comparison trains: variants times seeds times folds, each a config of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from seqtag.comparison.trainings.request import (
    Variant,
    key_of,
    own_keys,
    read_folds,
    read_seeds,
    read_variants,
    training_words,
)

Compose = Callable[[Sequence[str]], DictConfig]
"""Called with words in Hydra's syntax, gives the config of a training, interpolations and all.

Raises a ValueError of one line where there is no such config."""

Finish = Callable[[DictConfig], dict[str, Any]]
"""Makes a config plain and its paths full; raises a ValueError where a value cannot be."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training.

    Attributes:
        variant: its name.
        seed: of the run.
        fold: which part of the training file is the test split; None without folds.
        folds: how many parts there are; None for none.
        config: resolved and plain, as ``fit`` takes it.
        overrides: what ``train`` would have to be told, for the record.
    """

    variant: str
    seed: int
    fold: int | None
    folds: int | None
    config: dict[str, Any]
    overrides: list[str]

    def __str__(self) -> str:
        fold = "" if self.fold is None else f", fold {self.fold} of {self.folds}"
        return f"{self.variant}, seed {self.seed}{fold}"

    @property
    def place(self) -> Path:
        """Its folder in that of the comparison."""
        fold = "" if self.fold is None else f"-fold-{self.fold}-of-{self.folds}"
        return Path(self.variant) / f"seed-{self.seed}{fold}"


def plan(
    config: Mapping[str, Any], overrides: Sequence[str], *, compose: Compose, finish: Finish
) -> tuple[dict[str, Any], list[Cell]]:
    """Every training of a comparison, seed by seed: what is interrupted has whole seeds.

    Args:
        config: of the command, with its own keys.
        overrides: what the command line said, in Hydra's syntax.
        compose: makes a training's config.
        finish: makes it plain.

    Returns:
        The config that the variants change, and the cells in the order of their training.

    Raises:
        ValueError: a key of the command is wrong, or a variant is no training.
    """
    words = training_words(overrides)
    variants = read_variants(config)
    seeds, folds = read_seeds(config["seeds"]), read_folds(config["folds"])
    base = compose(words)
    shared = list(words)
    if folds is not None:
        if base.data.test is not None:
            raise ValueError(
                f"folds={folds} makes test splits of the training file, and data.test names one: "
                "give data.test=null too, or leave folds out"
            )
        OmegaConf.update(base, "data.folds", folds)
        shared.append(f"data.folds={folds}")
    if _scores_test(words, base):
        OmegaConf.update(base, "evaluate_test", True)
        shared.append("evaluate_test=true")
    opened = {}
    for variant in variants:
        try:
            opened[variant.name] = compose([*shared, *variant.overrides])
        except ValueError as error:
            raise ValueError(f"variant {variant.name}: {error}") from error
    cells = [
        _cell(opened[variant.name], variant, shared, seed, fold, folds, finish)
        for seed in seeds
        for fold in (range(1, folds + 1) if folds is not None else (None,))
        for variant in variants
    ]
    _refuse_twins(cells[: len(variants)])
    return _without_own(finish(base)), cells


def _scores_test(words: Sequence[str], base: DictConfig) -> bool:
    """Whether there is a test split that is to be scored, though nobody said so."""
    said = any(key_of(word) == "evaluate_test" for word in words)
    return not said and (base.data.folds is not None or base.data.test is not None)


def _cell(
    opened: DictConfig,
    variant: Variant,
    shared: Sequence[str],
    seed: int,
    fold: int | None,
    folds: int | None,
    finish: Finish,
) -> Cell:
    own = [f"seed={seed}", *([f"data.fold={fold}"] if fold is not None else [])]
    OmegaConf.update(opened, "seed", seed)
    if fold is not None:
        OmegaConf.update(opened, "data.fold", fold)
    try:
        config = _without_own(finish(opened))
    except ValueError as error:
        raise ValueError(f"variant {variant.name}: {error}") from error
    return Cell(
        variant=variant.name,
        seed=seed,
        fold=fold,
        folds=folds,
        config=config,
        overrides=[*shared, *variant.overrides, *own],
    )


def _without_own(config: dict[str, Any]) -> dict[str, Any]:
    """A training's config without the command's keys, which an experiment's file may have set."""
    return {key: value for key, value in config.items() if key not in own_keys()}


def _refuse_twins(cells: Sequence[Cell]) -> None:
    """Refuse variants of which two are the same, by a cell of each."""
    for first, second in _pairs(cells):
        if first.config == second.config:
            raise ValueError(
                f"variants {first.variant} and {second.variant} are the same training: "
                "nothing would be compared"
            )


def _pairs(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    for number, second in enumerate(cells):
        for first in cells[:number]:
            yield first, second
