"""Write the digits sample: handwritten digits from scikit-learn, each a sequence of eight rows.

python scripts/make_digits_sample.py [--output data/digits] [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TypedDict

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "data" / "digits"
SEED = 20
SIZES = {"train": 1197, "dev": 300, "test": 300}


class Digit(TypedDict):
    """A line of the files: eight rows of eight brightnesses, top row first, and the label."""

    rows: list[list[int]]
    digit: str


def draw_splits() -> dict[str, list[Digit]]:
    """The three parts, each digit as frequent in one as in another, in the order of the source."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    source = load_digits()
    labels = source.target
    rest, test = train_test_split(
        np.arange(len(labels)), test_size=SIZES["test"], stratify=labels, random_state=SEED
    )
    train, dev = train_test_split(
        rest, test_size=SIZES["dev"], stratify=labels[rest], random_state=SEED
    )
    return {
        name: [
            {"rows": source.images[index].astype(int).tolist(), "digit": str(labels[index])}
            for index in np.sort(indices)
        ]
        for name, indices in {"train": train, "dev": dev, "test": test}.items()
    }


def as_jsonl(digits: list[Digit]) -> str:
    return "".join(json.dumps(digit) + "\n" for digit in digits)


def measure(splits: dict[str, list[Digit]]) -> dict[str, float]:
    """What the README states: the sizes, and how far classical classifiers of the pixels get."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    measures: dict[str, float] = {}
    pixels, labels = {}, {}
    for name, digits in splits.items():
        measures[f"{name}_images"] = len(digits)
        counts = Counter(digit["digit"] for digit in digits)
        measures[f"{name}_rarest"], measures[f"{name}_commonest"] = (
            min(counts.values()),
            max(counts.values()),
        )
        pixels[name] = np.array([digit["rows"] for digit in digits]).reshape(len(digits), 64) / 16
        labels[name] = np.array([digit["digit"] for digit in digits])
    commonest = Counter(labels["train"].tolist()).most_common(1)[0][0]
    measures["commonest_accuracy_test"] = float(np.mean(labels["test"] == commonest))
    middle = slice(24, 32)  # the fourth row of eight
    for name, model, columns in (
        ("linear_one_row_accuracy_test", LogisticRegression(max_iter=1000), middle),
        ("linear_accuracy_test", LogisticRegression(max_iter=1000), slice(None)),
        ("neighbour_accuracy_test", KNeighborsClassifier(1), slice(None)),
        ("kernel_accuracy_test", SVC(C=10), slice(None)),
    ):
        model.fit(pixels["train"][:, columns], labels["train"])
        measures[name] = float(model.score(pixels["test"][:, columns], labels["test"]))
    return {name: round(value, 4) for name, value in measures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the digits sample; needs scikit-learn.")
    parser.add_argument("--output", type=Path, default=DATA, help="folder of the three files")
    parser.add_argument("--check", action="store_true", help="compare the files, write none")
    options = parser.parse_args()
    try:
        splits = draw_splits()
    except ModuleNotFoundError as error:
        sys.exit(f"{error}; the images come from it: pip install scikit-learn")
    for name, digits in splits.items():
        path, text = options.output / f"{name}.jsonl", as_jsonl(digits).encode()
        if not options.check:
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            sys.exit(f"{path} is not what this script writes; run it without --check.")
    print(json.dumps(measure(splits), indent=2))


if __name__ == "__main__":
    main()
