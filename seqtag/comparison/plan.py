"""What a comparison trains: variants times seeds times folds, each a config of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from seqtag.configuration import config_directory

ENCODERS = ("attention", "lstm", "cnn", "window", "pointwise")
"""What is compared where nothing is said: reach over the whole sequence, by a state, near, none."""

OURS = {
    "seed": "seeds=5 or seeds=[3,4]",
    "data.folds": "folds=5",
    "data.fold": "folds=5",
}
"""Keys of a training that a comparison sets, and what is said in their place."""

FIXED = frozenset({*OURS, "evaluate_test", "runs", "cache", "dry_run", "resume", "from"})
"""Keys that no variant may change, for all of them are trained and scored alike."""

NAME = re.compile(r"\w[\w.+=@-]{0,99}")
FILES = (".html", ".md", ".csv", ".json")
"""How the names of what lies beside the variants' folders end."""

Compose = Callable[[Sequence[str]], DictConfig]
"""Called with words in Hydra's syntax, gives the config of a training, interpolations and all.

Raises a ValueError of one line where there is no such config."""

Finish = Callable[[DictConfig], dict[str, Any]]
"""Makes a config plain and its paths full; raises a ValueError where a value cannot be."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of the things that are compared.

    Attributes:
        name: also of its folder.
        overrides: what it changes, in Hydra's syntax.
    """

    name: str
    overrides: tuple[str, ...]


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


@cache
def own_keys() -> frozenset[str]:
    """The keys of the command that are no keys of ``train``."""
    text = (config_directory() / "compare.yaml").read_text(encoding="utf-8")
    return frozenset(str(key) for key in yaml.safe_load(text)) - {"defaults"}


def training_words(overrides: Sequence[str]) -> list[str]:
    """What the command line said of the trainings.

    Raises:
        ValueError: it sets what the comparison sets.
    """
    own = own_keys()
    words = []
    for word in overrides:
        key = _key(word)
        if key in OURS:
            raise ValueError(f"{key} is that of one training; compare takes {OURS[key]}")
        # Folders of options that Hydra was told of come with ``compose``.
        if key not in own | {"dry_run"} and not key.startswith("hydra"):
            words.append(word)
    return words


def read_variants(config: Mapping[str, Any]) -> list[Variant]:
    """The variants that ``variants`` or ``encoders`` names, or five encoders.

    Raises:
        ValueError: the keys are of another form, or a variant cannot be one.
    """
    variants, encoders = config["variants"], config["encoders"]
    if variants is not None and encoders is not None:
        raise ValueError(
            "give variants or encoders, not both; an encoder is a variant too: "
            "variants={lstm: [encoder=lstm]}"
        )
    if variants is None:
        names = ENCODERS if encoders is None else encoders
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise ValueError(f"encoders is {names!r}; it must be a list such as [attention, lstm]")
        variants = [(name, f"encoder={name}") for name in names]
    elif not isinstance(variants, Mapping) or not variants:
        raise ValueError(
            f"variants is {variants!r}; it must be a mapping such as "
            "{small: [encoder.dim=64], large: [encoder.dim=256]}"
        )
    else:
        variants = variants.items()
    found = [Variant(name=str(name), overrides=_words(str(name), ws)) for name, ws in variants]
    taken: dict[str, str] = {}
    for variant in found:
        name = variant.name
        if not NAME.fullmatch(name) or name.endswith(FILES):
            raise ValueError(
                f"'{name}' cannot be the name of a variant, for it names a folder: letters, "
                f"digits and _.+=@- only, and no ending such as {FILES[0]}"
            )
        # On some file systems these would be one folder.
        if (other := taken.setdefault(name.casefold(), name)) != name or found.count(variant) > 1:
            raise ValueError(f"two variants are called {other}" + f" and {name}" * (other != name))
    return found


def read_seeds(given: Any) -> list[int]:
    """The seeds that a number, how many, or a list stands for.

    Raises:
        ValueError: it is neither, or a seed stands there twice.
    """
    if _is_whole(given) and given >= 1:
        return list(range(1, given + 1))
    if (
        not isinstance(given, list)
        or not given
        or not all(_is_whole(seed) and seed >= 0 for seed in given)
    ):
        raise ValueError(f"seeds is {given!r}; it must be how many, 1 or more, or a list of seeds")
    if len(set(given)) < len(given):
        raise ValueError(f"seeds is {given!r}, and one of them stands there twice")
    return list(given)


def read_folds(given: Any) -> int | None:
    """Into how many parts the training file is cut; None for none.

    Raises:
        ValueError: it is no such number.
    """
    if given is not None and (not _is_whole(given) or given < 2):
        raise ValueError(f"folds is {given!r}; it must be null or a whole number of 2 or more")
    return None if given is None else int(given)


def _words(name: str, given: Any) -> tuple[str, ...]:
    """What a variant changes: a list, one word, or nothing."""
    words = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"variant {name} is {given!r}; it must be a list such as [encoder.dim=64]")
    own = own_keys()
    for word in words:
        key = _key(word)
        if "=" not in word and not word.startswith("~"):
            raise ValueError(f"variant {name}: '{word}' is no key=value")
        if key in own or key in FIXED or key.startswith("hydra"):
            raise ValueError(f"variant {name}: {key} is the same for all variants; say it outside")
    return tuple(words)


def _scores_test(words: Sequence[str], base: DictConfig) -> bool:
    """Whether there is a test split that is to be scored, though nobody said so."""
    said = any(_key(word) == "evaluate_test" for word in words)
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


def _key(word: str) -> str:
    return word.partition("=")[0].lstrip("+~")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
