"""Write the part-of-speech sample: English-like sentences from a small seeded grammar.

    python scripts/make_pos_sample.py [--output data/pos] [--check]

Many words are of two kinds ("saw", "plant", "clean"). Mostly the words beside them settle which; in
a list it is settled by one word far away: "tools for the barn near Ashford : saw , drill and rake"
holds nouns, and the same with "chores" holds verbs. So a tagger that sees one word, one that sees
five and one that sees the sentence have three different, known ceilings.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from statistics import fmean

DATA = Path(__file__).resolve().parent.parent / "data" / "pos"
SEED = 21
SIZES = {"train": 2000, "dev": 300, "test": 300}
LARGE_SAMPLE = 50_000  # sentences behind the ceilings

Word = tuple[str, str, str]  # form, lemma, universal part of speech
Sentence = list[Word]


class Grammar:
    """The words and the rules of a grammar file.

    Args:
        path: the file; its head says how it is written.

    Raises:
        ValueError: a line is none of the three kinds, or names what is not there.
    """

    def __init__(self, path: Path) -> None:
        self.words: dict[str, list[Word]] = {}
        self.rules: dict[str, list[list[str]]] = {}
        shared: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").replace("\n  ", " ").splitlines():
            match line.split():
                case [] | ["#", *_]:
                    continue
                case [name, *entries] if name.startswith("$"):
                    shared[name] = entries
                case [category, "=", tag, *entries]:
                    for entry in chain.from_iterable(shared.get(name, [name]) for name in entries):
                        form, _, lemma = entry.partition("/")
                        self.words.setdefault(category, []).append((form, lemma or form, tag))
                case [symbol, "->", weight, *parts] if weight.isdigit():
                    self.rules.setdefault(symbol, []).extend([parts] * int(weight))
                case _:
                    raise ValueError(f"{path}: not a line of a grammar: {line}")
        used = {part for rules in self.rules.values() for rule in rules for part in rule}
        if unknown := used - self.words.keys() - self.rules.keys():
            raise ValueError(f"{path}: rules use what is defined nowhere: {sorted(unknown)}")
        self.tags: dict[str, set[str]] = defaultdict(set)
        for form, _, tag in (word for words in self.words.values() for word in words):
            self.tags[form].add(tag)

    def forms(self, *categories: str) -> frozenset[str]:
        """The forms of some categories of words."""
        return frozenset(form for category in categories for form, _, _ in self.words[category])


GRAMMAR = Grammar(DATA / "grammar.txt")
SPECIFIERS = GRAMMAR.forms("DETERMINER", "AN", "OWNER", "NUMBER")
NAMES = GRAMMAR.forms("NAME", "TOWN")
PRONOUNS = GRAMMAR.forms("PLURAL_PRONOUN", "THIRD_PRONOUN")
BEFORE_VERB = PRONOUNS | GRAMMAR.forms("MODAL", "NOT", "TO_ACT")
BEFORE_LISTED = GRAMMAR.forms("COMMA", "COLON", "AND") | {""}  # "" stands outside the sentence
OFTEN, REPORT, WAS = GRAMMAR.forms("OFTEN"), GRAMMAR.forms("REPORT"), GRAMMAR.forms("WAS")
DECIDING_NOUN, DECIDING_VERB = GRAMMAR.forms("DECIDING_NOUN"), GRAMMAR.forms("DECIDING_VERB")


class Writer:
    """Draws sentences. Only `random()` is called: its stream is the same on every Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def expand(self, symbol: str) -> Sentence:
        """One way to write a symbol."""
        if words := GRAMMAR.words.get(symbol):
            # Cubed, so that some towns are too rare for the train part to have them all.
            draw = self.random() ** 3 if symbol == "TOWN" else self.random()
            return [words[int(draw * len(words))]]
        rules = GRAMMAR.rules[symbol]
        parts = rules[int(self.random() * len(rules))]
        return [word for part in parts for word in self.expand(part)]

    def sentence(self) -> Sentence:
        """The next sentence."""
        while True:
            sentence = self.expand("SENTENCE")
            listed = [sentence[place] for place in listed_places(forms_of(sentence))]
            if len(listed) == len(set(listed)):  # "saw , saw and drill" is drawn again
                break
        for place, (form, _, _) in enumerate(sentence[:-1]):
            if form == "a" and sentence[place + 1][0][0] in "aeiou":
                sentence[place] = GRAMMAR.words["AN"][0]
        return sentence


def forms_of(sentence: Sentence) -> list[str]:
    return [form for form, _, _ in sentence]


def listed_places(forms: list[str]) -> list[int]:
    """Where listed words stand: nouns or verbs at the start or after a comma, a colon or "and"."""
    return [
        place
        for place, (left, form) in enumerate(zip(["", *forms], forms, strict=False))
        if left in BEFORE_LISTED and {"NOUN", "VERB"} <= GRAMMAR.tags[form]
    ]


def tag_by_window(far: str, left: str, form: str, right: str) -> str:
    """The tag, as the two words before and the one after settle it; a listed word is guessed."""
    tags = GRAMMAR.tags[form]
    before = far if left in OFTEN else left
    if len(tags) == 1:
        return next(iter(tags))
    if form == "to":
        return "ADP" if right in SPECIFIERS | NAMES else "PART"
    if form == "that":
        return "SCONJ" if left in REPORT else "DET"
    if form == "like":
        return "VERB" if left in PRONOUNS else "ADP"
    if tags == {"ADP", "SCONJ"}:
        return "SCONJ" if right in PRONOUNS else "ADP"
    if before in BEFORE_VERB:
        return "VERB"
    if before in WAS:
        return "ADJ"
    if "ADV" in tags:
        return "ADJ" if before in SPECIFIERS else "ADV"
    if "ADJ" in tags and before in SPECIFIERS:
        return "ADJ" if "NOUN" not in tags or "NOUN" in GRAMMAR.tags[right] else "NOUN"
    return "NOUN"


def tag_sentence(forms: list[str]) -> list[str]:
    """Every tag, from the forms alone: the proof that a sentence settles all its tags."""
    padded = ["", "", *forms, ""]
    tags = [tag_by_window(*padded[place : place + 4]) for place in range(len(forms))]
    for place in listed_places(forms):
        tags[place] = "VERB" if DECIDING_VERB.intersection(forms) else "NOUN"
    return tags


def draw_splits() -> dict[str, list[Sentence]]:
    """The three parts; no sentence stands twice."""
    writer, seen = Writer(SEED), set[str]()
    splits: dict[str, list[Sentence]] = {name: [] for name in SIZES}
    for name, size in SIZES.items():
        while len(splits[name]) < size:
            sentence = writer.sentence()
            if (text := " ".join(forms_of(sentence))) not in seen:
                seen.add(text)
                splits[name].append(sentence)
    return splits


def as_conllu(name: str, sentences: list[Sentence]) -> str:
    blocks = []
    for number, sentence in enumerate(sentences, start=1):
        lines = [f"# sent_id = {name}-{number}", f"# text = {' '.join(forms_of(sentence))}"]
        for place, (form, lemma, tag) in enumerate(sentence, start=1):
            lines.append("\t".join([str(place), form, lemma, tag, *"______"]))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def count_tags(words: list[Word]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for form, _, tag in words:
        counts[form][tag] += 1
    return counts


def measure(splits: dict[str, list[Sentence]]) -> dict[str, float]:
    """What the README states: the sizes, and the ceilings of a word, a window and a sentence."""
    words = {name: list(chain.from_iterable(sentences)) for name, sentences in splits.items()}
    measures: dict[str, float] = {}
    for name, sentences in splits.items():
        measures[f"{name}_sentences"] = len(sentences)
        measures[f"{name}_tokens"] = len(words[name])
    everything = list(chain.from_iterable(splits.values()))
    distances = [
        abs(place - decision)
        for forms in map(forms_of, everything)
        for place in listed_places(forms)
        for decision in range(len(forms))
        if forms[decision] in DECIDING_NOUN | DECIDING_VERB
    ]
    train = {form: tags.most_common(1)[0][0] for form, tags in count_tags(words["train"]).items()}
    measures |= {
        "shortest": min(map(len, everything)),
        "longest": max(map(len, everything)),
        "forms": len(count_tags(list(chain.from_iterable(everything)))),
        "unseen_test_share": fmean(form not in train for form, _, _ in words["test"]),
        "nearest_decision": min(distances),
        "farthest_decision": max(distances),
        # An unseen form is called a noun, the commonest tag.
        "word_ceiling_test": fmean(
            train.get(form, "NOUN") == tag for form, _, tag in words["test"]
        ),
    }
    writer = Writer(SEED + 1)
    large = [writer.sentence() for _ in range(LARGE_SAMPLE)]
    large_words = list(chain.from_iterable(large))
    right = sum(max(tags.values()) for tags in count_tags(large_words).values())
    measures["word_ceiling"] = right / len(large_words)
    for suffix, sentences in {"": large, "_test": splits["test"]}.items():
        listed = sum(len(listed_places(forms_of(sentence))) for sentence in sentences)
        correct = [
            guess == tag
            for sentence in sentences
            for guess, (_, _, tag) in zip(tag_sentence(forms_of(sentence)), sentence, strict=True)
        ]
        # A listed word is a noun or a verb by a fair coin that its window knows nothing about.
        measures[f"window_ceiling{suffix}"] = 1 - listed / 2 / len(correct)
        measures[f"sentence_ceiling{suffix}"] = fmean(correct)
    return {name: round(value, 4) for name, value in measures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the part-of-speech sample.")
    parser.add_argument("--output", type=Path, default=DATA, help="folder of the three files")
    parser.add_argument("--check", action="store_true", help="compare the files, write none")
    options = parser.parse_args()
    splits = draw_splits()
    for name, sentences in splits.items():
        path, text = options.output / f"{name}.conllu", as_conllu(name, sentences).encode()
        if not options.check:
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            sys.exit(f"{path} is not what this script writes; run it without --check.")
    print(json.dumps(measure(splits), indent=2))


if __name__ == "__main__":
    main()
