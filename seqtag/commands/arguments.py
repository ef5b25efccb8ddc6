"""The words of a command line, sorted: runs, Hydra's flags, overrides."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from seqtag.commands.messages import UnreadableError
from seqtag.commands.variants import read_variants

FLAGS_WITH_VALUE = frozenset(
    {"--config-dir", "-cd", "--config-name", "-cn", "--cfg", "-c", "--package", "-p"}
)
"""Hydra's flags that take the next word as their value."""

RAW_KEYS = frozenset(
    {
        "data.train",
        "data.dev",
        "data.test",
        "data.missing",
        "data.vocabulary",
        "data.word_vectors",
        "input",
        "output",
        "runs",
        "cache",
        "resume",
        "from",
    }
)
"""Keys whose value is taken as it is typed, whatever characters it holds."""

COLUMN_KEYS = frozenset({"data.input", "data.target"})
"""Keys whose value is a name as it is typed, but for numbers and lists."""

VARIANTS = "variants"

KEY = re.compile(r"[+~]{0,2}[A-Za-z_][\w./@:-]*$")


@dataclass
class Arguments:
    """A command line, sorted.

    Attributes:
        runs: words that name a run directory or a checkpoint.
        flags: Hydra's own flags with their values.
        overrides: ``key=value`` words, quoted where Hydra would stumble.
        help: whether help is asked for.
    """

    runs: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    overrides: list[str] = field(default_factory=list)
    help: bool = False

    def given(self) -> list[str]:
        """The keys of the overrides, without Hydra's signs."""
        return [word.partition("=")[0].lstrip("+~") for word in self.overrides]

    def value(self, key: str) -> str | None:
        """The last value given to a key, as Hydra will see it."""
        found = [w.partition("=")[2] for w in self.overrides if w.partition("=")[0] == key]
        return found[-1] if found else None


def sort_arguments(words: list[str]) -> Arguments:
    """Sort the words after the command.

    Raises:
        UnreadableError: a flag lacks its value, or the variants cannot be read.
    """
    sorted_words = Arguments()
    waiting = iter(words)
    for word in waiting:
        key, equals, value = word.partition("=")
        if word in {"--help", "-h"}:
            sorted_words.help = True
        elif word in FLAGS_WITH_VALUE:
            given = next(waiting, None)
            if given is None:
                raise UnreadableError(f"{word} needs a value")
            sorted_words.flags += [word, given]
        elif word.startswith("-"):
            sorted_words.flags.append(word)
        elif word.startswith("~") or (equals and KEY.match(key)):
            # A checkpoint of another tool may be called epoch=9-step=99.ckpt.
            if word.endswith(".ckpt") and Path(word).is_file():
                sorted_words.runs.append(word)
            else:
                sorted_words.overrides.append(f"{key}={_spell(key, value)}" if equals else word)
        else:
            sorted_words.runs.append(word)
    return sorted_words


def _spell(key: str, value: str) -> str:
    """A value in Hydra's grammar."""
    name = key.lstrip("+")
    plain = value in {"", "null", "~"} or value.startswith("${")
    if name in COLUMN_KEYS and (re.fullmatch(r"-?\d+", value) or value.startswith("[")):
        plain = True
    if plain and not (name == "data.missing" and value in {"", "~"}):
        return value
    if name == VARIANTS:
        return _spell_variants(value)
    return quote(value) if name in RAW_KEYS | COLUMN_KEYS else value


def _spell_variants(value: str) -> str:
    """Variants with every word of theirs quoted."""
    variants = []
    for name, words in read_variants(value).items():
        quoted = []
        for word in words:
            key, equals, inner = word.partition("=")
            if word[0] == word[-1] and word[0] in "'\"":
                quoted.append(word)  # spelled for Hydra by the user
            else:
                quoted.append(quote(f"{key}={_spell(key, inner)}" if equals else word))
        variants.append(f"{name}: [{', '.join(quoted)}]")
    return f"{{{', '.join(variants)}}}"


def quote(value: str) -> str:
    """A string in single quotes, such that Hydra reads it back as it is."""
    # A backslash counts only before a quote, and at the end, where a quote follows.
    inner = re.sub(r"(\\*)'", lambda found: found[1] * 2 + r"\'", value)
    tail = len(inner) - len(inner.rstrip("\\"))
    return "'" + inner + "\\" * tail + "'"
