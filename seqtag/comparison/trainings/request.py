"""The keys of a comparison: which variants, how many seeds, how many folds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

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


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of the things that are compared.

    Attributes:
        name: also of its folder.
        overrides: what it changes, in Hydra's syntax.
    """

    name: str
    overrides: tuple[str, ...]


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
        key = key_of(word)
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
        key = key_of(word)
        if "=" not in word and not word.startswith("~"):
            raise ValueError(f"variant {name}: '{word}' is no key=value")
        if key in own or key in FIXED or key.startswith("hydra"):
            raise ValueError(f"variant {name}: {key} is the same for all variants; say it outside")
    return tuple(words)


def key_of(word: str) -> str:
    """The key of a word, without Hydra's signs."""
    return word.partition("=")[0].lstrip("+~")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
