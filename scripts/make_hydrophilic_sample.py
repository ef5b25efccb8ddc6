"""Write the solubility sample from the published table of measured solubilities (ESOL).

    python scripts/make_hydrophilic_sample.py delaney-processed.csv [--output FOLDER] [--check]

The README beside the data says where the table is to be had.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean

DATA = Path(__file__).resolve().parent.parent / "data" / "hydrophilic"
SPLITS = ("train", "dev", "test")
COLUMNS = ("name", "smiles", "solubility", "hydrophilic")
NAME, SMILES = "Compound ID", "smiles"
MEASURED = "measured log solubility in mols per litre"
PREDICTED = "ESOL predicted log solubility in mols per litre"
CUT = -3.0  # log10 mol/L, a millimole per litre: near the middle of the values

Row = dict[str, str]


def split_of(smiles: str) -> str:
    """The part a molecule belongs to, whatever stands beside it: twins stay together."""
    residue = int(hashlib.sha1(smiles.encode()).hexdigest()[:8], 16) % 10
    return {0: "test", 1: "dev"}.get(residue, "train")


def label_of(solubility: float) -> str:
    return "yes" if solubility >= CUT else "no"


def read_table(path: Path) -> list[Row]:
    """The rows of the published table.

    Raises:
        ValueError: a column is missing, or a value is no number.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream)
        wanted = {NAME, SMILES, MEASURED, PREDICTED}
        if missing := wanted - set(table.fieldnames or ()):
            raise ValueError(f"{path}: no column {sorted(missing)}; there are {table.fieldnames}")
        rows = list(table)
    for line, row in enumerate(rows, start=2):
        try:
            float(row[MEASURED]), float(row[PREDICTED])
        except (TypeError, ValueError):
            raise ValueError(f"{path}, row {line}: a solubility is no number: {row}") from None
    return rows


def as_sample(row: Row) -> Row:
    """A row in the sample's columns."""
    measured = round(float(row[MEASURED]), 6)  # the table has 0.009000000000000001 for 0.009
    # Names and structures of the table end in blanks here and there.
    return {
        "name": row[NAME].strip(),
        "smiles": row[SMILES].strip(),
        "solubility": str(measured),
        "hydrophilic": label_of(measured),
    }


def split_rows(rows: list[Row]) -> dict[str, list[Row]]:
    """The parts, each in the order of the table."""
    splits: dict[str, list[Row]] = {name: [] for name in SPLITS}
    for row in map(as_sample, rows):
        splits[split_of(row["smiles"])].append(row)
    return splits


def as_csv(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def root_mean_square(errors: list[float]) -> float:
    return math.sqrt(fmean(error**2 for error in errors))


def measure(splits: dict[str, list[Row]]) -> dict[str, float]:
    """What the README states of the files themselves."""
    measures: dict[str, float] = {}
    for name, rows in splits.items():
        measures[f"{name}_rows"] = len(rows)
        measures[f"{name}_yes_share"] = fmean(row["hydrophilic"] == "yes" for row in rows)
    everything = [row for rows in splits.values() for row in rows]
    smiles = [row["smiles"] for row in everything]
    commonest = Counter(row["hydrophilic"] for row in splits["train"]).most_common(1)[0][0]
    mean = fmean(float(row["solubility"]) for row in splits["train"])
    measures |= {
        "molecules": len(set(smiles)),
        "symbols": len(set("".join(smiles))),
        "longest_smiles": max(map(len, smiles)),
        "lowest_solubility": min(float(row["solubility"]) for row in everything),
        "highest_solubility": max(float(row["solubility"]) for row in everything),
        "commonest_accuracy_test": fmean(row["hydrophilic"] == commonest for row in splits["test"]),
        "mean_rmse_test": root_mean_square(
            [float(row["solubility"]) - mean for row in splits["test"]]
        ),
    }
    return {name: round(value, 4) for name, value in measures.items()}


def measure_published_model(rows: list[Row]) -> dict[str, float]:
    """How well the table's own prediction, a linear fit to four properties, does on test."""
    test = [
        (float(row[MEASURED]), float(row[PREDICTED]))
        for row in rows
        if split_of(row[SMILES].strip()) == "test"
    ]
    agreements = [label_of(measured) == label_of(predicted) for measured, predicted in test]
    measures = {
        "published_rmse_test": root_mean_square([measured - guess for measured, guess in test]),
        "published_accuracy_test": fmean(agreements),
    }
    return {name: round(value, 4) for name, value in measures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the solubility sample.")
    parser.add_argument("source", type=Path, help="the published table, delaney-processed.csv")
    parser.add_argument("--output", type=Path, default=DATA, help="folder of the three files")
    parser.add_argument("--check", action="store_true", help="compare the files, write none")
    options = parser.parse_args()
    try:
        table = read_table(options.source)
    except OSError as error:
        sys.exit(f"cannot read {options.source}: {error.strerror}")
    except ValueError as error:
        sys.exit(str(error))
    splits = split_rows(table)
    for name, rows in splits.items():
        path, text = options.output / f"{name}.csv", as_csv(rows).encode()
        if not options.check:
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            sys.exit(f"{path} is not what this script writes; run it without --check.")
    print(json.dumps(measure(splits) | measure_published_model(table), indent=2))


if __name__ == "__main__":
    main()
