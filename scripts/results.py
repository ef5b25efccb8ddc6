"""Make the README's table of measured results, one run after another, and go on where it stopped.

    python scripts/results.py                     every run that is not there yet
    python scripts/results.py pos 'g2p_*'         those of some rows
    python scripts/results.py --list              the rows, and which seeds are there
    python scripts/results.py --table             the table of what is there
    python scripts/results.py --readme README.md  the same, between the README's two marker comments

A run is a process of its own, with one thread. What it measured is kept in ROW/SEED.json below
``--runs``, beside its output and its run directory. A run whose config has changed since is made
again, and so is one whose file is gone: delete it after a change of the code or of the data. Rows
on public data need ``SEQTAG_BENCHMARK_DATA``, as the README says. A run that fails stops no other.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TRAIN = (sys.executable, "-m", "seqtag", "train")
BENCHMARK = "SEQTAG_BENCHMARK_DATA"
FLOORS = {
    "floor": "",
    "floor_word": " (the word alone)",
    "floor_ngrams": " (n-grams, linear)",
}
"""What a model must beat: its name in ``metrics.json``, and how people write it."""
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


@dataclass(frozen=True)
class Measure:
    """A score of the table: its name in ``metrics.json``, and how people write it."""

    metric: str
    words: str
    digits: int = 4
    unit: str = ""

    def write(self, value: float) -> str:
        """The value without its unit."""
        return f"{value:.{self.digits}f}"


@dataclass(frozen=True)
class Row:
    """A row of the table: a training, repeated with each seed."""

    name: str
    overrides: tuple[str, ...]
    measures: tuple[Measure, ...]
    # Further marks to compare with: of a sample, numbers that its README states; of reading times,
    # the linear fit below.
    marks: tuple[tuple[str, str, str], ...] = ()
    length_fit: bool = False
    seeds: tuple[int, ...] = (1, 2, 3)


ACCURACY = Measure("test/accuracy", "accuracy")
WORD_ERRORS = Measure("test/word_error_rate", "words wrong")
SYMBOL_ERRORS = Measure("test/symbol_error_rate", "symbols wrong")
MOLES = Measure("test/rmse", "RMSE", digits=3)
ATTENTION, LSTM, WINDOW = ("encoder=attention",), ("encoder=lstm",), ("encoder=window",)


def both(
    name: str, measures: tuple[Measure, ...], lstm: tuple[str, ...] = LSTM, **more: Any
) -> list[Row]:
    """The rows of an experiment with attention and with the LSTM."""
    return [
        Row(f"{name}{ending}", (f"experiment={name}", *encoder), measures, **more)
        for ending, encoder in (("", ()), ("-lstm", lstm))
    ]


ONE = (1,)
"""Of runs that take long."""
ONE_LAYER = (*LSTM, "encoder.num_layers=1")
TRANSDUCED = (WORD_ERRORS, SYMBOL_ERRORS)
SPELLED = (
    ("pronounce", "letter_word_error_rate_test", "words wrong, each letter by itself"),
    ("pronounce", "letter_symbol_error_rate_test", "symbols wrong, each letter by itself"),
)
ROWS = [
    Row("pos", ("experiment=pos", *ATTENTION), (ACCURACY,)),
    Row("pos-lstm", ("experiment=pos", *LSTM), (ACCURACY,)),
    Row(
        "pos-window",
        ("experiment=pos", *WINDOW, "encoder.radius=2"),
        (ACCURACY,),
        (("pos", "window_ceiling_test", "the best that five words allow"),),
    ),
    Row(
        "pos-word",
        ("experiment=pos", *WINDOW, "encoder.radius=0"),
        (ACCURACY,),
        (("pos", "word_ceiling_test", "the best that one word allows"),),
    ),
    Row(
        "purchase",
        ("experiment=purchase",),
        (Measure("test/rmse", "RMSE"),),
        (("purchase", "best_rmse_test", "best possible"),),
    ),
    Row(
        "hydrophilic",
        ("experiment=hydrophilic",),
        (ACCURACY,),
        (("hydrophilic", "published_accuracy_test", "a cut on Delaney's own predictions"),),
    ),
    Row(
        "solubility",
        ("experiment=solubility",),
        (MOLES,),
        (("hydrophilic", "published_rmse_test", "Delaney's own predictions"),),
    ),
    Row(
        "digits",
        ("experiment=digits",),
        (ACCURACY,),
        (
            ("digits", "linear_accuracy_test", "logistic regression"),
            ("digits", "kernel_accuracy_test", "a support vector machine"),
        ),
    ),
    *both("pronounce", TRANSDUCED, marks=SPELLED),
    *(
        Row(
            f"pronounce-{size}",
            ("experiment=pronounce", f"data.train_rows={size}", f"trainer.max_epochs={epochs}"),
            TRANSDUCED,
            seeds=ONE,
        )
        for size, epochs in ((500, 60), (1000, 40), (2000, 24))
    ),
    Row("ewt_upos", ("experiment=ewt_upos", *ATTENTION), (ACCURACY,), seeds=ONE),
    Row("ewt_upos-lstm", ("experiment=ewt_upos", *LSTM), (ACCURACY,), seeds=ONE),
    Row("ewt_upos-window", ("experiment=ewt_upos", *WINDOW), (ACCURACY,), seeds=ONE),
    Row("sst2", ("experiment=sst2",), (ACCURACY,)),
    Row("esol", ("experiment=esol",), (MOLES,)),
    Row(
        "reading_times",
        ("experiment=reading_times",),
        (Measure("test/rmse", "RMSE", digits=1, unit=" ms"),),
        length_fit=True,
    ),
    *both("g2p_ady", TRANSDUCED, ONE_LAYER),
    *both("g2p_gre", TRANSDUCED, ONE_LAYER),
    *both("g2p_ita", TRANSDUCED, ONE_LAYER),
    *both("inflection_swa", TRANSDUCED, ONE_LAYER),
    *both("japanese_vowels", (ACCURACY,)),
]


# -- what a run is ------------------------------------------------------------------------------


def words_of(row: Row, seed: int) -> list[str]:
    """What the command line says of the model and the data."""
    return [*row.overrides, f"seed={seed}", "evaluate_test=true"]


def fingerprint(row: Row, seed: int) -> str:
    """A hash of the whole config, wherever the data and the project lie.

    Raises:
        ValueError: the config cannot be composed.
    """
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from seqtag.configuration import compose, sample_directory

    before = os.environ.get(BENCHMARK)
    os.environ[BENCHMARK] = BENCHMARK
    try:
        config = compose("train", words_of(row, seed))
    except (HydraException, OmegaConfBaseException) as error:
        raise ValueError(str(error).strip().splitlines()[0]) from error
    finally:
        if before is None:
            del os.environ[BENCHMARK]
        else:
            os.environ[BENCHMARK] = before
    for elsewhere in ("runs", "cache"):
        del config[elsewhere]
    text = json.dumps(config, sort_keys=True).replace(str(sample_directory()), "sample")
    return hashlib.sha1(text.encode()).hexdigest()


def path_of(runs: Path, row: Row, seed: int) -> Path:
    return runs / row.name / f"{seed}.json"


def read_result(runs: Path, row: Row, seed: int) -> dict[str, Any] | None:
    """What is kept of a run, or None where there is nothing or the config has changed since."""
    path = path_of(runs, row, seed)
    if not path.is_file():
        return None
    try:
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        scores = [float(result["metrics"][measure.metric]) for measure in row.measures]
        whole = {"marks", "machine", "config"} <= result.keys() and all(s == s for s in scores)
    except (ValueError, LookupError, TypeError, AttributeError):
        whole = False
    if not whole:
        print(f"{path} is damaged, and counts as not there", file=sys.stderr)
        return None
    return result if result["config"] == fingerprint(row, seed) else None


def run(runs: Path, row: Row, seed: int, threads: int) -> dict[str, Any]:
    """Train once and keep what was measured.

    Raises:
        ValueError: the training failed, or measured something else than the row asks for.
    """
    path = path_of(runs, row, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    config = fingerprint(row, seed)
    words = words_of(row, seed)
    output, messages = path.with_suffix(".txt"), path.with_suffix(".log")
    with output.open("w", encoding="utf-8") as stream, messages.open("w") as told:
        process = subprocess.run(
            [*TRAIN, *words, f"runs={path.parent.absolute() / 'runs'}"],
            stdout=stream,
            stderr=told,
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": str(threads)},
            check=False,
        )
    if process.returncode:
        last = messages.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [""]
        raise ValueError(f"exit status {process.returncode}: {last[-1]} (all of it: {messages})")
    lines = output.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [""]
    folder = Path(lines[-1])
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    if missing := [m.metric for m in row.measures if m.metric not in metrics]:
        raise ValueError(f"{folder / 'metrics.json'} has no {', '.join(missing)}")
    environment = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    result = {
        "command": ["python", "-m", "seqtag", "train", *words],
        "config": config,
        "run": str(folder),
        "metrics": metrics,
        "marks": marks_of(row),
        "machine": {
            "cores": os.cpu_count(),
            "threads": threads,
            "device": environment["device"],
        },
    }
    # Whole or not at all: a file that is there is a run that is done.
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
    return result


def run_all(runs: Path, rows: Sequence[Row], threads: int) -> list[str]:
    """Every run that is not there yet; what failed is said, and returned."""
    todo, failures = [(row, seed) for row in rows for seed in row.seeds], []
    for number, (row, seed) in enumerate(todo, start=1):
        head = f"[{number}/{len(todo)}] {row.name}, seed {seed}: "
        try:
            result = read_result(runs, row, seed)
            if result is None:
                print(f"{head}{' '.join(row.overrides)} ...", flush=True)
                result = run(runs, row, seed, threads)
        except (ValueError, OSError) as error:
            failures.append(f"{row.name}, seed {seed}: {error}")
            print(f"{head}FAILED: {error}", flush=True)
            continue
        scores = [f"{m.words} {m.write(result['metrics'][m.metric])}" for m in row.measures]
        seconds = result["metrics"]["train/seconds"]
        print(f"{head}{', '.join(scores)}, {seconds:.0f} s", flush=True)
    return failures


# -- marks to compare with ----------------------------------------------------------------------


def marks_of(row: Row) -> dict[str, float]:
    """Further marks of a row: in words, and their values."""
    marks = {words: stated(sample, measure) for sample, measure, words in row.marks}
    if row.length_fit:
        folder = Path(os.environ[BENCHMARK]) / "reading_times_natural_stories"
        marks["a line through the words' lengths"] = length_fit(
            read_reading_times(folder / "train.tsv"), read_reading_times(folder / "test.tsv")
        )
    return marks


def stated(sample: str, measure: str) -> float:
    """A number of the tables in the README of a sample."""
    text = (ROOT / "data" / sample / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| `{measure}` \| (-?[\d.]+) \|", text, re.M)
    if found is None:
        raise ValueError(f"data/{sample}/README.md does not state {measure}")
    return float(found[1])


def read_reading_times(path: Path) -> list[tuple[str, float]]:
    """Words and milliseconds; the first line names the columns, "_" is a time that is missing."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.split("\t") for line in lines if line.strip()]
    return [(word, float(time)) for word, time, *_ in cells if time != "_"]


def length_fit(train: Iterable[tuple[str, float]], test: Iterable[tuple[str, float]]) -> float:
    """Test RMSE of ``a + b * characters of the word``, fitted to train by least squares."""

    def arrays(rows: Iterable[tuple[str, float]]) -> tuple[np.ndarray, np.ndarray]:
        lengths, times = zip(*((len(word), time) for word, time in rows), strict=True)
        return np.stack([np.ones(len(lengths)), lengths], axis=1), np.array(times)

    features, times = arrays(train)
    weights = np.linalg.lstsq(features, times)[0]
    features, times = arrays(test)
    return float(np.sqrt(np.mean((features @ weights - times) ** 2)))


# -- the table ----------------------------------------------------------------------------------


def spread(values: Sequence[float], measure: Measure) -> str:
    """The mean, and over several seeds the deviation of one seed about it."""
    around = f" ± {measure.write(stdev(values))}" if len(values) > 1 else ""
    return f"{measure.write(fmean(values))}{around}{measure.unit}"


def line_of(row: Row, results: dict[int, dict[str, Any]]) -> str:
    metrics = [result["metrics"] for result in results.values()]
    several = len(row.measures) > 1
    scores, floors = [], []
    for measure in row.measures:
        name = f"{measure.words} " if several else ""
        scores.append(f"{measure.words} {spread([m[measure.metric] for m in metrics], measure)}")
        for kind, words in FLOORS.items():
            if (floor := metrics[0].get(f"{kind}/{measure.metric}")) is not None:
                floors.append(f"{name}{measure.write(floor)}{measure.unit}{words}")
    first = row.measures[0]
    for words, value in next(iter(results.values()))["marks"].items():
        floors.append(f"{first.write(value)}{first.unit} ({words})")
    cells = [
        f"`{' '.join(row.overrides)}`",
        ", ".join(map(str, results)),
        "; ".join(scores),
        "; ".join(floors),
        f"{metrics[0]['parameters']:,}",
        f"{fmean(m['train/seconds'] for m in metrics):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def make_table(runs: Path, rows: Sequence[Row]) -> str:
    """The table of what is there, in Markdown.

    Raises:
        ValueError: there is nothing at all.
    """
    lines, machines = [], set()
    for row in rows:
        read = {seed: read_result(runs, row, seed) for seed in row.seeds}
        for seed, result in read.items():
            if result is None and path_of(runs, row, seed).is_file():
                print(f"left out, its config has changed: {row.name}, seed {seed}", file=sys.stderr)
        if results := {seed: result for seed, result in read.items() if result is not None}:
            lines.append(line_of(row, results))
            machines |= {tuple(result["machine"].values()) for result in results.values()}
    if not lines:
        raise ValueError(f"no finished run of these rows in {runs}")
    head = (
        "`python -m seqtag train evaluate_test=true ...`",
        "seeds",
        "score on test",
        "floor, and other marks",
        "parameters",
        "seconds",
    )
    measured = "; ".join(
        f"{device}, {threads} thread{'s' * (threads > 1)} of {cores} cores"
        for cores, threads, device in sorted(machines)
    )
    return "\n".join(
        [
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
            *lines,
            "",
            "Mean ± standard deviation over the seeds; seconds are those of the training alone, "
            f"on: {measured}.",
        ]
    )


def fill_in(readme: Path, table: str) -> None:
    """Replace what stands between the two markers.

    Raises:
        ValueError: the file has not each marker once, in order.
    """
    text = readme.read_bytes().decode()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{readme} must hold {BEGIN} and, below, {END}, each once")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    end = "\r\n" if "\r\n" in text else "\n"
    filled = f"{before}{BEGIN}\n{table}\n{END}".replace("\r\n", "\n").replace("\n", end) + after
    partial = readme.with_name(f".{readme.name}.partial")
    partial.write_bytes(filled.encode())
    partial.replace(readme)


def choose(patterns: Sequence[str]) -> list[Row]:
    """The rows that a name or a pattern names, or all.

    Raises:
        ValueError: one names none.
    """
    names = [row.name for row in ROWS]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise ValueError(f"no row {pattern}; there are: {', '.join(names)}")
    wanted = {name for pattern in patterns or ["*"] for name in fnmatch.filter(names, pattern)}
    return [row for row in ROWS if row.name in wanted]


def list_rows(runs: Path, rows: Sequence[Row]) -> None:
    for row in rows:
        try:
            done = [str(s) for s in row.seeds if read_result(runs, row, s) is not None]
            state = f"{len(done)} of {len(row.seeds)}"
        except ValueError as error:
            state = str(error)
        print(f"{row.name:16} {state:8} {' '.join(row.overrides)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the README's table of measured results.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names or patterns; all by default")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "results", metavar="FOLDER")
    parser.add_argument("--threads", type=int, default=1, help="of each run")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="only list the rows")
    what.add_argument("--table", action="store_true", help="only print the table")
    what.add_argument("--readme", type=Path, metavar="FILE", help="only rewrite a README's table")
    options = parser.parse_args()
    try:
        rows = choose(options.rows)
        if options.list:
            list_rows(options.runs, rows)
        elif options.table:
            print(make_table(options.runs, rows))
        elif options.readme:
            fill_in(options.readme, make_table(options.runs, ROWS))
        elif failures := run_all(options.runs, rows, options.threads):
            sys.exit("\n".join(["failed:", *failures]))
    except KeyboardInterrupt:
        sys.exit("interrupted; what was finished is kept, and the same command goes on")
    except (ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
