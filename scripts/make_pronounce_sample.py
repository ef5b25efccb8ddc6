"""Write the pronunciation sample from the CMU Pronouncing Dictionary.

    python scripts/make_pronounce_sample.py SOURCES [--output FOLDER] [--check]

SOURCES is a folder with the four files that the README beside the data names. Everything that is
written comes from the dictionary; the other three only choose the words.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

DATA = Path(__file__).resolve().parent.parent / "data" / "pronounce"
SPLITS = ("train", "dev", "test")
PRONUNCIATIONS = "cmudict.dict"
HEADWORDS = "en_US.dic"
FREQUENCIES = "frequency_dictionary_en_82_765.txt"
UNWANTED = "profanity_wordlist.txt"
WORDS = 6000
PLAIN = re.compile("[a-z]{3,12}")
ANOTHER = re.compile(r"\(\d+\)$")  # marks the second, third, ... pronunciation of a word
STRESS = str.maketrans("", "", "012")
OFFENSIVE = "!"  # the flag of the spelling dictionary for words never to be suggested
# What a word may lose and still be of one family, if three letters are left.
ENDING = re.compile(r"(?<=...)(?:e|y|s|es|d|ed|er|or|al|ing|ion|ly|(?<=([^aeiou]))\1)$")
BEGINNING = 5  # letters; families that begin with the same so many are one
LONGEST = 3  # symbols that one letter may stand for

Pronunciation = tuple[str, ...]
Row = tuple[str, Pronunciation]


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold anything, numbered from 1."""
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.strip()


def read_pronunciations(path: Path) -> dict[str, Pronunciation]:
    """What each word of ``cmudict.dict`` sounds like, if it has one pronunciation alone.

    Raises:
        ValueError: a line holds no pronunciation.
    """
    found: dict[str, list[Pronunciation]] = defaultdict(list)
    for number, line in read_lines(path):
        word, *symbols = line.partition(" #")[0].split()  # a comment may follow
        if not symbols:
            raise ValueError(f"{path}, line {number}: no pronunciation: {line}")
        found[ANOTHER.sub("", word)].append(tuple(symbol.translate(STRESS) for symbol in symbols))
    return {word: several[0] for word, several in found.items() if len(several) == 1}


def read_headwords(path: Path) -> set[str]:
    """The entries of a Hunspell dictionary: no names, few inflections, nothing offensive.

    Names begin with a capital there, and most inflections are not entries but flags of one.
    """
    entries: dict[str, str] = defaultdict(str)
    for number, line in read_lines(path):
        if number > 1:  # the first line counts the entries
            word, _, flags = line.partition("/")
            entries[word] += flags
    return {
        word for word, flags in entries.items() if PLAIN.fullmatch(word) and OFFENSIVE not in flags
    }


def read_by_frequency(path: Path) -> list[str]:
    """The words of a list of "word count" lines, the most frequent first.

    Raises:
        ValueError: a line is no word and count.
    """
    counts: dict[str, int] = {}
    for number, line in read_lines(path):
        word, *rest = line.split()
        if len(rest) != 1 or not rest[0].isdecimal():
            raise ValueError(f"{path}, line {number}: not a word and its count: {line}")
        counts[word] = int(rest[0])
    return sorted(counts, key=lambda word: (-counts[word], word))


def family_of(word: str) -> str:
    """What a word shares with its relatives: "connect" and "connections" both have "conne"."""
    while (shorter := ENDING.sub("", word)) != word:
        word = shorter
    return word[:BEGINNING]


def split_of(word: str) -> str:
    """The part that a word belongs to, by its family alone: relatives stay together."""
    residue = int(hashlib.sha1(family_of(word).encode()).hexdigest()[:8], 16) % 12
    return {0: "test", 1: "dev"}.get(residue, "train")


def draw_splits(sources: Path) -> dict[str, list[Row]]:
    """The most frequent words that are wanted, parted, each part in the order of the alphabet."""
    pronunciations = read_pronunciations(sources / PRONUNCIATIONS)
    unwanted = {line for _, line in read_lines(sources / UNWANTED)}
    wanted = (read_headwords(sources / HEADWORDS) & pronunciations.keys()) - unwanted
    chosen = [word for word in read_by_frequency(sources / FREQUENCIES) if word in wanted][:WORDS]
    splits: dict[str, list[Row]] = {name: [] for name in SPLITS}
    for word in sorted(chosen):
        splits[split_of(word)].append((word, pronunciations[word]))
    return splits


def as_tsv(rows: list[Row]) -> str:
    return "".join(f"{word}\t{' '.join(symbols)}\n" for word, symbols in rows)


def edit_distance(first: Pronunciation, second: Pronunciation) -> int:
    """Insertions, deletions and replacements that turn one into the other."""
    distances = list(range(len(second) + 1))
    for row, symbol in enumerate(first, start=1):
        before, distances[0] = distances[0], row
        for column, other in enumerate(second, start=1):
            replaced = before + (symbol != other)
            before = distances[column]
            distances[column] = min(replaced, before + 1, distances[column - 1] + 1)
    return distances[-1]


def align(row: Row, costs: dict[str, dict[Pronunciation, float]]) -> list[Pronunciation]:
    """The symbols that each letter stands for: the cheapest way to cut the pronunciation."""
    word, symbols = row
    # best[end]: the cheapest cut of symbols[:end] into the letters so far, and its price.
    best: dict[int, tuple[float, list[Pronunciation]]] = {0: (0.0, [])}
    for letter in word:
        known, longer = costs[letter], {}
        for start, (price, cut) in best.items():
            for end in range(start, min(start + LONGEST, len(symbols)) + 1):
                part = symbols[start:end]
                total = price + known.get(part, 1.0 + len(part))
                if end not in longer or total < longer[end][0]:
                    longer[end] = (total, [*cut, part])
        best = longer
    return best[len(symbols)][1]


def spell_out(train: list[Row], rounds: int = 5) -> dict[str, Pronunciation]:
    """What each letter stands for most often, found by cutting and counting in turns."""
    # At first, what often occurs in the words of a letter is likely to be what it stands for.
    counts: dict[str, Counter[Pronunciation]] = defaultdict(Counter)
    words: Counter[str] = Counter()
    for word, symbols in train:
        words.update(set(word))
        for letter in set(word):
            counts[letter].update((symbol,) for symbol in set(symbols))
    costs = {
        letter: {part: 1 - n / words[letter] for part, n in parts.items()}
        for letter, parts in counts.items()
    }
    for _ in range(rounds):
        counts = defaultdict(Counter)
        for row in train:
            for letter, part in zip(row[0], align(row, costs), strict=True):
                counts[letter][part] += 1
        # A cut that is seen often is nearly free; one never seen costs 1 and more.
        costs = {
            letter: {part: 1 - n / parts.total() for part, n in parts.items()}
            for letter, parts in counts.items()
        }
    return {letter: parts.most_common(1)[0][0] for letter, parts in counts.items()}


def same_ending(word: str, other: str) -> int:
    """How many of the last letters two words share."""
    shared = 0
    while shared < min(len(word), len(other)) and word[-1 - shared] == other[-1 - shared]:
        shared += 1
    return shared


def measure_guesses(name: str, guesses: list[Pronunciation], rows: list[Row]) -> dict[str, float]:
    errors = sum(edit_distance(guess, row[1]) for guess, row in zip(guesses, rows, strict=True))
    wrong = fmean(guess != row[1] for guess, row in zip(guesses, rows, strict=True))
    return {
        f"{name}_symbol_error_rate_test": errors / sum(len(symbols) for _, symbols in rows),
        f"{name}_word_error_rate_test": wrong,
    }


def measure(splits: dict[str, list[Row]]) -> dict[str, float]:
    """What the README states: sizes, and how far a rule of one line gets."""
    everything = [row for rows in splits.values() for row in rows]
    train, test = splits["train"], splits["test"]
    sounds = spell_out(train)
    spelled = [sum((sounds[letter] for letter in word), ()) for word, _ in test]
    rhymed = [max(train, key=lambda row: same_ending(row[0], word))[1] for word, _ in test]
    measures = {
        **{f"{name}_words": len(rows) for name, rows in splits.items()},
        **{f"{name}_symbols": sum(len(row[1]) for row in rows) for name, rows in splits.items()},
        "letters": len({letter for word, _ in everything for letter in word}),
        "phonemes": len({symbol for _, symbols in everything for symbol in symbols}),
        "shortest_pronunciation": min(len(symbols) for _, symbols in everything),
        "longest_pronunciation": max(len(symbols) for _, symbols in everything),
        "same_sound_share": 1 - len({symbols for _, symbols in everything}) / len(everything),
        **measure_guesses("letter", spelled, test),
        **measure_guesses("ending", rhymed, test),
    }
    return {name: round(value, 4) for name, value in measures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pronunciation sample.")
    parser.add_argument("sources", type=Path, help="folder of the four files that the README names")
    parser.add_argument("--output", type=Path, default=DATA, help="folder of the three files")
    parser.add_argument("--check", action="store_true", help="compare the files, write none")
    options = parser.parse_args()
    try:
        splits = draw_splits(options.sources)
    except OSError as error:
        sys.exit(f"cannot read {error.filename}: {error.strerror}")
    except ValueError as error:
        sys.exit(str(error))
    for name, rows in splits.items():
        path, text = options.output / f"{name}.tsv", as_tsv(rows).encode()
        if not options.check:
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            sys.exit(f"{path} is not what this script writes; run it without --check.")
    print(json.dumps(measure(splits), indent=2))


if __name__ == "__main__":
    main()
