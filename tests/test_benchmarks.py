"""Real data sets: they load as shipped, train, and beat what needs no training."""

import json
import os
from pathlib import Path

import pytest

from seqtag.commands.front import run_command

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        "SEQTAG_BENCHMARK_DATA" not in os.environ,
        reason="the data sets are not in the project; SEQTAG_BENCHMARK_DATA names their folder",
    ),
]


def train(runs: Path, *words: str) -> dict[str, float]:
    assert run_command("train", [*words, f"runs={runs}", "callbacks=no_early_stopping"]) == 0
    (run,) = runs.glob("*/*")
    metrics: dict[str, float] = json.loads((run / "metrics.json").read_text())
    return metrics


def test_english_web_treebank(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=ewt_upos", "trainer.max_time=00:00:01:30")
    environment = json.loads(next(tmp_path.glob("*/*/environment.json")).read_text())
    counts = {name: split["rows"] for name, split in environment["data"].items()}
    assert counts == {"train": 12544, "dev": 2001, "test": 2077}
    elements = {name: split["elements"] for name, split in environment["data"].items()}
    assert elements == {"train": 204577, "dev": 25147, "test": 25094}
    assert metrics["test/accuracy"] > 0.92
    assert metrics["floor/test/accuracy"] < 0.2


def test_sentiment(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=sst2", "trainer.max_epochs=4")
    assert metrics["test/accuracy"] > 0.7 > metrics["floor/test/accuracy"]


def test_solubility(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=esol", "trainer.max_epochs=12")
    assert metrics["test/rmse"] < 1.1 < metrics["floor/test/rmse"]


def test_reading_times(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=reading_times", "trainer.max_epochs=6")
    assert metrics["test/rmse"] < metrics["floor/test/rmse"]


def test_spelling_to_sound(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=g2p_gre", "trainer.max_epochs=20")
    assert metrics["test/word_error_rate"] < 0.4 < metrics["floor/test/word_error_rate"]
    environment = json.loads(next(tmp_path.glob("*/*/environment.json")).read_text())
    counts = {name: split["rows"] for name, split in environment["data"].items()}
    assert counts == {"train": 800, "dev": 100, "test": 100}


@pytest.mark.parametrize(
    ("words", "labels", "scheme"),
    [
        (
            ["data.train=ner_ncbi_disease/train.tsv", "data.test=ner_ncbi_disease/test.tsv"],
            {"O", "B-Disease", "I-Disease"},
            "IOB2",
        ),
        (["data.train=ner_wnut17/wnut17train.conll"], {"O", "B-person", "I-location"}, "IOB2"),
    ],
    ids=["ncbi", "wnut"],
)
def test_entities_are_scored_as_spans(
    words: list[str], labels: set[str], scheme: str, tmp_path: Path
) -> None:
    data = Path(os.environ["SEQTAG_BENCHMARK_DATA"])
    paths = [f"{key}={data / value}" for key, _, value in (word.partition("=") for word in words)]
    metrics = train(tmp_path, "data=conll", *paths, "trainer.max_steps=150")
    assert {"dev/span_f1_strict", "dev/span_f1_conlleval"} <= metrics.keys()
    log = next(tmp_path.glob("*/*/log.txt")).read_text()
    assert f"spans in the scheme {scheme}" in log
    assert labels <= set(log.split())


def test_who_is_speaking(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=japanese_vowels")
    assert metrics["test/accuracy"] > 0.95
    environment = json.loads(next(tmp_path.glob("*/*/environment.json")).read_text())
    assert environment["data"]["test"]["rows"] == 370


def test_inflection_from_a_lemma_and_its_tags(tmp_path: Path) -> None:
    metrics = train(tmp_path, "experiment=inflection_swa", "trainer.max_epochs=5")
    assert metrics["test/exact_match"] > 0.95
