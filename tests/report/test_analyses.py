"""What an evaluation says of errors, with predictions that are made by hand."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqtag.batch import Output, Prediction, Target, TargetSpec
from seqtag.datamodule import DataModule
from seqtag.evaluation.labels import Accuracy
from seqtag.evaluation.metrics import RankMetric
from seqtag.evaluation.scores import Scores
from seqtag.report.analyses.analysis import Analysis
from seqtag.report.analyses.choice import choose_analysis
from seqtag.report.analyses.lengths import by_length
from seqtag.report.analyses.table import Table
from seqtag.report.evaluation import Evaluation
from seqtag.report.tables import print_table
from seqtag.training.results import ScoredSplit, with_prefix

NAN = float("nan")
Answers = dict[int, Any]
"""What is predicted for each row of the test split, in ids or numbers."""


@dataclass
class Made:
    """An evaluation of predictions that were made by hand."""

    evaluation: Evaluation
    analysis: Analysis
    scored: ScoredSplit

    def table(self, name: str) -> list[dict[str, Any]]:
        found = next(table for table in self.evaluation.tables if table.name == name)
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


Evaluate = Callable[..., Made]


@pytest.fixture
def evaluated(small_config: Callable[..., Any]) -> Evaluate:
    """Call it with a task, the answer to each row as text, and what ``small_config`` takes."""

    def make(task: str, answers: list[Any], *overrides: str, **files: Any) -> Made:
        config = small_config(task, *overrides, **files)
        data = DataModule(config)
        data.read_all(test=True)
        split = data.splits["test"]
        analysis = choose_analysis(data, split, config["data"]["target"])
        scores = Scores(data.task.metrics(split.spec))
        for batch in data.batches("test", shuffle=False):
            assert batch.target is not None
            chosen = [answers[row] for row in batch.rows.tolist()]
            prediction = _prediction(chosen, data, batch.target.value)
            scores.update(prediction, batch)
            analysis.update(batch, prediction)
        scored = ScoredSplit(
            split=split,
            metrics=with_prefix("test", scores.compute()),
            floors={},
            table=scores.row_table(),
            kinds=[],
            outputs=[Output(None)] * len(split.rows),
        )
        first = next(iter(scores.metrics))
        return Made(Evaluation(data, scored, analysis, selection=first), analysis, scored)

    return make


def _prediction(answers: list[Any], data: DataModule, gold: torch.Tensor) -> Prediction:
    ids = data.target.ids
    if data.task.sequence:
        every = [answer if isinstance(answer, list) else [answer] for answer in answers]
        longest = 1 + max(len(text.split()) for row in every for text in row)
        value = torch.zeros(len(every), len(every[0]), longest, dtype=torch.int64)
        for row, candidates in enumerate(every):
            for number, text in enumerate(candidates):
                for place, symbol in enumerate(text.split()):
                    value[row, number, place] = ids[symbol]
        several = value.shape[1] > 1
        return Prediction(value[:, 0], candidates=value if several else None)
    value = torch.zeros_like(gold)
    for row, answer in enumerate(answers):
        if data.target.width:
            numbers = torch.tensor(answer, dtype=value.dtype)
            value[(row, slice(len(numbers))) if data.task.per_element else row] = numbers
        elif data.task.per_element:
            for place, label in enumerate(answer.split()):
                value[row, place] = ids[label]
        else:
            value[row] = ids[answer]
    return Prediction(value)


def conll_of(*sentences: str) -> str:
    """``word/label word/label`` as lines."""
    return "\n".join(
        "".join(f"{cell.replace('/', chr(9))}\n" for cell in sentence.split())
        for sentence in sentences
    )


WORDS = {
    # a: 3 times, b: twice, c: once
    "train": conll_of("a/X b/Y", "a/X b/Y c/X", "a/X"),
    "dev": conll_of("a/X b/Y"),
    "test": conll_of("a/X b/Y d/X", "c/X a/Y", "a/X b/X c/Y a/X b/Y d/X"),
}
ANSWERS = ["X Y Y", "Y X", "X X Y X X X"]


def test_words_by_what_training_has_of_them(evaluated: Evaluate) -> None:
    made = evaluated("tagging", ANSWERS, files=WORDS)
    # d is wrong once and right once, c wrong and right; a: 1 of 4 wrong, b: 1 of 3.
    assert made.table("by_frequency") == [
        {"times_in_training": "0", "accuracy": 1 / 2, "count": 2},
        {"times_in_training": "1", "accuracy": 1 / 2, "count": 2},
        {"times_in_training": "2-5", "accuracy": 5 / 7, "count": 7},
    ]
    words = made.evaluation.content()["words"]
    assert words["known"]["accuracy"] == words["seen"]["accuracy"] == 6 / 9
    assert words["unknown"]["count"] == words["unseen"]["count"] == 2


def test_rare_words_are_seen_and_yet_unknown(evaluated: Evaluate) -> None:
    made = evaluated("tagging", ANSWERS, "data.min_frequency=2", files=WORDS)
    words = made.evaluation.content()["words"]
    assert (words["known"]["count"], words["unknown"]["count"]) == (7, 4)
    assert (words["seen"]["count"], words["unseen"]["count"]) == (9, 2)
    assert [row["count"] for row in made.table("by_frequency")] == [2, 2, 7]


def test_words_of_a_vocabulary_file_are_known_and_may_be_unseen(
    evaluated: Evaluate, tmp_path: Path
) -> None:
    file = tmp_path / "words.txt"
    file.write_text("d\na\n")
    made = evaluated("tagging", ANSWERS, f"data.vocabulary={file}", files=WORDS)
    words = made.evaluation.content()["words"]
    assert (words["known"]["count"], words["unknown"]["count"]) == (6, 5)
    assert (words["seen"]["count"], words["unseen"]["count"]) == (9, 2)


@pytest.mark.slow
def test_unseen_words_may_have_a_vector(evaluated: Evaluate, tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("a 1 2\nd 2 1\n")
    files = {**WORDS, "test": WORDS["test"] + "\n" + conll_of("e/X")}
    made = evaluated("tagging", [*ANSWERS, "Y"], f"data.word_vectors={file}", files=files)
    words = made.evaluation.content()["words"]
    assert words["unseen"]["count"] == 3
    assert (words["unseen_with_vector"]["count"], words["unseen_with_vector"]["accuracy"]) == (
        2,
        1 / 2,
    )
    assert words["unseen_without_vector"]["count"] == 1
    assert words["unseen_without_vector"]["accuracy"] == 0


def test_rows_by_length(evaluated: Evaluate) -> None:
    made = evaluated("tagging", ANSWERS, files=WORDS)
    rows = made.table("by_length")
    assert [(row["length"], row["rows"], row["elements"]) for row in rows] == [
        ("1-5", 2, 5),
        ("6-10", 1, 6),
    ]
    assert [row["accuracy"] for row in rows] == [2 / 5, 5 / 6]


def test_confusion_has_what_is_right_too_and_labels_that_training_lacks(
    evaluated: Evaluate,
) -> None:
    files = {**WORDS, "test": conll_of("a/X b/N", "a/Y b/Y")}
    made = evaluated("tagging", ["X X", "X Y"], files=files)
    assert made.table("confusion") == [
        {"gold": "N", "predicted": "X", "count": 1},
        {"gold": "X", "predicted": "X", "count": 1},
        {"gold": "Y", "predicted": "X", "count": 1},
        {"gold": "Y", "predicted": "Y", "count": 1},
    ]
    labels = {row["label"]: row for row in made.table("labels")}
    assert labels["N"]["recall"] == 0
    assert labels["X"]["precision"] == 1 / 3
    assert labels["micro"]["kind"] == "average"


SPANS = {
    "train": conll_of(
        "a/B-P b/I-P c/O", "a/B-L b/I-L c/O d/B-P", "a/O b/B-L c/B-P d/I-P", "a/O b/O"
    ),
    "dev": conll_of("a/B-P b/I-P"),
    "test": conll_of(
        "a/B-P b/I-P c/O d/B-L", "a/B-P b/I-P c/I-P d/O", "a/B-P b/I-P c/O d/B-P", "a/O b/O c/O"
    ),
}


def test_spans_by_kind_of_error(evaluated: Evaluate) -> None:
    answers = ["B-P I-P O B-P", "O B-L I-L O", "O I-P O O", "B-L O O"]
    made = evaluated("tagging", answers, files=SPANS)
    kinds = made.evaluation.content()["span_errors"]
    # Row 1: found, wrong type. Row 2: both. Row 3, strictly: two missed, for O I-P is no span;
    # leniently the end of the first is found. Row 4: spurious.
    assert kinds["strict"] == {
        "gold": 5,
        "predicted": 4,
        "found": 1,
        "wrong_type": 1,
        "wrong_boundary": 0,
        "both": 1,
        "missed": 2,
        "spurious": 1,
    }
    assert kinds["conlleval"] == kinds["strict"] | {
        "predicted": 5,
        "wrong_boundary": 1,
        "missed": 1,
    }
    by_type = {row.pop("type"): row for row in made.table("span_errors_by_type")}
    assert by_type["P"]["gold"] == 4
    assert by_type["P"]["missed"] == 2
    assert by_type["P"]["predicted"] == 2
    assert by_type["P"]["given_for_another_type"] == 1
    assert by_type["L"]["predicted"] == 2
    assert by_type["L"]["given_for_another_type_elsewhere"] == 1
    assert made.table("invalid_transition_pairs") == [{"before": "O", "label": "I-P", "count": 1}]
    content = made.evaluation.content()
    assert content["invalid_transitions"] == 1
    assert "predictions are written as they are" in content["repair_policy"]


@pytest.mark.slow
def test_the_policy_says_that_converted_predictions_are_read_leniently(
    evaluated: Evaluate,
) -> None:
    answers = ["B-P E-P O S-P", "O B-L E-L O", "O E-P O O", "S-L O O"]
    made = evaluated("tagging", answers, "data.scheme=BIOES", files=SPANS)
    content = made.evaluation.content()
    assert "written back in the scheme of the files, IOB2" in content["repair_policy"]
    assert content["span_errors"]["strict"]["gold"] == 5


def test_numbers(evaluated: Evaluate) -> None:
    files = {
        "train": "text\tvalue\na\t1\nb\t3\n",
        "dev": "text\tvalue\na\t2\n",
        "test": "text\tvalue\na\t1\na b\t5\na b a b a b\t2\nb\t\n",
    }
    made = evaluated("regression", [[2.0], [3.0], [6.0], [9.0]], files=files)
    (row,) = made.table("residuals")
    assert row["count"] == 3
    assert row["mean"] == pytest.approx(1)
    assert row["deviation"] == pytest.approx(((0 + 9 + 9) / 3) ** 0.5)
    assert (row["percentile_0"], row["percentile_50"], row["percentile_100"]) == (-2, 1, 4)
    by_length_ = made.table("by_length")
    assert [entry["rows"] for entry in by_length_] == [3, 1]
    assert [entry["mae"] for entry in by_length_] == [1.5, 4]


@pytest.mark.slow
def test_numbers_of_elements(evaluated: Evaluate) -> None:
    made = evaluated("token_regression", [[[1.0], [2.0], [0.0]]])
    (row,) = made.table("residuals")
    assert (row["count"], row["percentile_0"], row["percentile_100"]) == (3, -4, 1)


def test_sequences(evaluated: Evaluate) -> None:
    files = {
        "train": "text\tvalue\none\tI\ntwo\tII\n",
        "dev": "text\tvalue\none\tI\n",
        "test": "text\tvalue\none one\tI I\ntwo three\tII I\none\t\n",
    }
    answers = [["I II", "I I", "I"], ["II I", "II", "I"], ["I", "II", "I"]]
    made = evaluated("seq2seq", answers, files=files)
    content = made.evaluation.content()
    assert content["inputs"] == {
        "known": {"exact_match": 0, "symbol_error_rate": 1 / 2, "count": 1},
        "unknown": {"exact_match": 1, "symbol_error_rate": 0, "count": 1},
    }
    assert content["edits"] == [{"gold": "I", "predicted": "II", "count": 1}]
    assert made.table("oracle") == [
        {"n": 1, "exact_match": 1 / 2, "symbol_error_rate": 1 / 4},
        {"n": 2, "exact_match": 1, "symbol_error_rate": 0},
        {"n": 3, "exact_match": 1, "symbol_error_rate": 0},
    ]


@pytest.mark.slow
def test_without_candidates_there_is_no_oracle(evaluated: Evaluate) -> None:
    made = evaluated("seq2seq", ["II I"])
    assert "oracle" not in {table.name for table in made.evaluation.tables}


def test_tables_are_read_back_from_csv_in_full_precision(tmp_path: Path) -> None:
    rows = [('a,"b"\nc', 1 / 3, 7, None), ("é", NAN, 10**15, " ")]
    Table(name="t", title="", columns=("one", "two", "three", "four"), rows=rows).write(tmp_path)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as stream:
        found = list(csv.reader(stream))
    assert found[0] == ["one", "two", "three", "four"]
    assert found[1] == ['a,"b"\nc', repr(1 / 3), "7", ""]
    assert found[2] == ["é", "nan", str(10**15), " "]
    assert float(found[1][1]) == 1 / 3


def test_tables_on_the_terminal_are_rounded_and_show_what_is_blank(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [(None, 1 / 3, 12345), (" ", 1.5e-7, 0), ("[b]", NAN, 1)]
    Table(name="t", title="head", columns=("a_b", "x", "n"), rows=rows, note="foot").show()
    out = capsys.readouterr().out
    for text in ("head", "a b", "(nothing)", "0.3333", "12,345", "' '", "1.5e-07", "[b]", "foot"):
        assert text in out
    Table(name="t", title="head", columns=("a",), rows=[("x",)], shown=0).show()
    assert capsys.readouterr().out == ""


class Largest(RankMetric):
    """The largest of all cells."""

    higher_is_better = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        return True

    @property
    def width(self) -> int:
        return 1

    def row_cells(self, prediction: Prediction, target: Target) -> list[torch.Tensor]:
        raise AssertionError("the table has them already")

    def score(self, cells: torch.Tensor) -> float:
        return float(cells.max()) if len(cells) else NAN


def test_lengths_at_the_edges_of_their_ranges() -> None:
    spec = TargetSpec(labels=("X",), counts=(1,))
    table = {
        "row": np.arange(4),
        "accuracy": np.array([[1.0, 2], [0, 1], [3, 3], [1, 4]]),
        "floor/accuracy": np.array([[0.0, 2], [1, 1], [0, 3], [0, 4]]),
        "largest": [
            np.array([[2.0]]),
            np.zeros((0, 1)),
            np.array([[1.0], [7.0]]),
            np.zeros((0, 1)),
        ],
    }
    found = by_length(
        np.array([5, 6, 10, 11]),
        table,
        {"largest": Largest(spec), "accuracy": Accuracy(spec)},
        first="accuracy",
        per_element=True,
    )
    assert found.columns == ("length", "rows", "elements", "accuracy", "floor/accuracy", "largest")
    first, second, third = found.rows
    assert first == ("1-5", 1, 5, 1 / 2, 0, 2)
    assert second == ("6-10", 2, 16, 3 / 4, 1 / 4, 7)
    assert third[:5] == ("11-20", 1, 11, 1 / 4, 0)
    assert math.isnan(third[5])


def test_lengths_of_no_rows() -> None:
    found = by_length(np.zeros(0, np.int64), {"row": np.zeros(0)}, {}, first="", per_element=False)
    assert found.rows == []


def test_characters_that_act_are_escaped_on_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(
        "labels", ["label", "count"], [["V\x07", "1"], ["\x1b[31mN", "2"], ["a\u200db", "3"]]
    )
    said = capsys.readouterr().out
    assert "V\\x07" in said
    assert "\\x1b[31mN" in said
    assert "\x1b[31m" not in said
    assert "a\u200db" in said, "this one joins its neighbours, and does no more"
