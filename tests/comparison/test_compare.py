import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet

from seqtag.batch import Prediction, Target, TargetSpec
from seqtag.comparison import row_tests
from seqtag.comparison.compare import compare_runs, find_runs
from seqtag.comparison.comparison import Comparison, Contender
from seqtag.evaluation.metrics import RankMetric
from seqtag.evaluation.resampling import RankedRows
from seqtag.evaluation.significance import constant_test, holm, seeds_test
from seqtag.training.fit import fit

from .fake_runs import fake_run, write

GOLD = "yn" * 20


def flip(places: Sequence[int], gold: str = GOLD) -> str:
    """Answers that are wrong at some rows."""
    return "".join(
        ("n" if letter == "y" else "y") if place in places else letter
        for place, letter in enumerate(gold)
    )


def run(folder: Path, wrong: Sequence[int], **more: Any) -> Path:
    return fake_run(folder, flip(wrong), gold=GOLD, **more)


def compared(folders: Sequence[Path], **more: Any) -> Comparison:
    asked = {"names": None, "score": None, "split": None, "examples": 3, "resamples": 500}
    return compare_runs(folders, **asked | more)


def by_name(comparison: Comparison) -> dict[str, Contender]:
    return {contender.name: contender for contender in comparison.contenders}


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Two seeds of one encoder, two of a worse one, and a floor beside all."""
    floor = "y" * 40
    return [
        run(tmp_path / "a1", [0], encoder="attention", seed=1, floor=floor),
        run(tmp_path / "l1", range(20), encoder="lstm", seed=1, floor=floor),
        run(tmp_path / "a2", [0, 39], encoder="attention", seed=2, floor=floor),
        run(tmp_path / "l2", range(21), encoder="lstm", seed=2, floor=floor),
    ]


def test_contenders_floors_and_their_scores(three: list[Path]) -> None:
    found = compared(three)
    assert (found.split, found.metric, found.higher_is_better, found.rows) == (
        "test",
        "accuracy",
        True,
        40,
    )
    assert [contender.name for contender in found.contenders] == ["attention", "floor", "lstm"]
    best = by_name(found)["attention"]
    score = best.scores["accuracy"]
    assert score.seeds == [39 / 40, 38 / 40]
    assert score.mean == pytest.approx(38.5 / 40)
    assert score.spread == pytest.approx(np.std([39 / 40, 38 / 40], ddof=1))
    assert score.low < score.mean < score.high <= 1
    assert "macro_f1" in best.scores
    assert best.settings["encoder._target_"].endswith("AttentionEncoder")
    assert (best.seeds, best.parameters, best.seconds, best.best_epochs) == (
        [1, 2],
        10,
        5.0,
        [2, 2],
    )
    assert best.dev == {"accuracy": 0.5}
    assert best.runs == [str(three[0]), str(three[2])]
    assert [curve.seed for curve in best.curves] == [1, 2]
    assert (best.curves[0].epochs, best.curves[0].loss, best.curves[0].dev) == (
        [1, 2],
        [2.5, None],
        [0.25, 0.5],
    )
    floor = by_name(found)["floor"]
    assert floor.floor == "the most frequent label"
    assert floor.seeds == []
    assert floor.scores["accuracy"].mean == 0.5
    assert floor.scores["accuracy"].seeds == []
    assert found.environment["torch"] == "2"


def test_pairs_and_their_words(three: list[Path]) -> None:
    found = compared(three)
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("attention", "floor"),
        ("attention", "lstm"),
        ("floor", "lstm"),
    ]
    pair = found.pairs[1]
    assert pair.difference == pytest.approx((19 + 19) / 80)
    assert pair.low < pair.difference < pair.high
    assert pair.p < 0.001 < 0.05
    assert pair.corrected == pytest.approx(min(3 * pair.p, 1))
    assert pair.p_seeds is not None
    assert pair.test == "approximate randomisation"
    assert pair.words.startswith("better than lstm (p = 0.001")
    assert "; over seeds p = 0.00" in pair.words
    # the closest first, and said from the other side
    assert by_name(found)["lstm"].words[0].startswith("not told apart from floor")
    assert by_name(found)["lstm"].words[1].startswith("worse than attention (p = 0.001")


def test_the_same_runs_give_the_same_comparison(three: list[Path]) -> None:
    assert compared(three) == compared(three)
    assert {c.name: c.scores for c in compared(three[::-1]).contenders} == {
        c.name: c.scores for c in compared(three).contenders
    }


def test_disagreements_and_examples(three: list[Path]) -> None:
    found = compared(three)
    (one,) = found.disagreements
    assert (one.first, one.second) == ("attention", "lstm")
    # Row 0 is wrong for all, rows 1 to 19 for the lstm, 20 for one of its seeds, 39 for one of
    # the attention's.
    assert (one.first_better, one.second_better, one.alike) == (20, 1, 19)
    assert [example.row for example in one.for_first] == [1, 2, 3]
    example = one.for_first[0]
    assert (example.input, example.gold, example.first, example.second) == (
        "word w1",
        "no",
        "no",
        "yes",
    )
    assert example.scores == (1.0, 0.0)
    assert [example.row for example in one.for_second] == [39]
    assert one.for_second[0].scores == (0.5, 1.0)
    assert compared(three, examples=0).disagreements[0].for_first == []


def test_predictions_that_are_not_of_the_rows_give_no_examples(three: list[Path]) -> None:
    (three[0] / "predictions.jsonl").unlink()
    lines = (three[1] / "predictions.jsonl").read_text().replace("word", "other")
    (three[1] / "predictions.jsonl").write_text(lines)
    found = compared(three)
    assert found.disagreements[0].first_better == 20
    assert found.disagreements[0].for_first == []
    assert any("no examples of attention, lstm" in note for note in found.notes)


def test_one_seed_is_said(tmp_path: Path) -> None:
    found = compared([run(tmp_path / "a", [], encoder="attention"), run(tmp_path / "l", range(20))])
    assert "one seed each: another seed may turn the order" in found.notes
    assert found.pairs[0].p_seeds is None
    assert found.pairs[0].words == (
        "better than lstm on these rows with these models (p < 0.001; one seed)"
    )
    assert found.contenders[0].scores["accuracy"].spread is None


def test_more_seeds_on_one_side(tmp_path: Path) -> None:
    found = compared(
        [
            run(tmp_path / "a", [], encoder="attention"),
            run(tmp_path / "l1", range(20)),
            run(tmp_path / "l2", range(18), seed=2),
        ]
    )
    assert found.pairs[0].test == "paired bootstrap"
    assert found.pairs[0].words.endswith("one seed)")
    assert any("one seed only: attention" in note for note in found.notes)
    assert any(
        note.startswith("1 of 1 pairs are tested by the paired bootstrap: the two have not as many")
        for note in found.notes
    )


def test_other_budgets_and_code_are_said(tmp_path: Path) -> None:
    found = compared(
        [
            run(tmp_path / "a", [], encoder="attention", config={"trainer.max_epochs": 3}),
            run(tmp_path / "l", [1], config={"trainer.max_epochs": 5}, environment={"threads": 2}),
        ]
    )
    assert "not one budget: trainer.max_epochs is 3 (attention), 5 (lstm)" in found.notes
    assert "not all runs were made alike: threads is 1, 2" in found.notes
    assert "threads" not in found.environment


def test_runs_that_ended_by_time_are_said(tmp_path: Path) -> None:
    limit = {"trainer.max_time": "00:00:01:00"}
    found = compared(
        [
            run(
                tmp_path / "a", [], encoder="attention", config=limit, metrics={"train/seconds": 60}
            ),
            run(tmp_path / "l", [1], config=limit, metrics={"train/seconds": 30}),
        ]
    )
    assert any(note.startswith("ended by trainer.max_time: attention;") for note in found.notes)


def test_dev_is_compared_where_test_is_not_there_for_all(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [], encoder="attention")
    (one / "dev_rows.parquet").write_bytes((one / "test_rows.parquet").read_bytes())
    other = run(tmp_path / "l", [1], split="dev")
    found = compared([one, other])
    assert found.split == "dev"
    assert any("1 of 2 runs have no scores of test" in note for note in found.notes)
    assert any("dev chose the epochs" in note for note in found.notes)
    found = compared([one, other], split="test")
    assert [contender.name for contender in found.contenders] == ["attention"]
    assert "no scores of test" in found.skipped[str(other)]
    assert found.pairs == found.disagreements == []


def test_what_cannot_be_used_is_skipped_with_a_reason(three: list[Path]) -> None:
    (three[0] / "metrics.json").unlink()
    (three[1] / "config.yaml").write_text("{")
    (three[2] / "test_rows.parquet").write_bytes(b"")
    found = compared(three)
    assert [contender.name for contender in found.contenders] == ["floor", "lstm"]
    assert list(found.skipped) == [str(folder) for folder in three[:3]]
    with pytest.raises(ValueError, match=r"nothing to compare: .*nor can 2 more") as caught:
        compared(three[:3])
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="no run to compare"):
        compared([])


def test_a_damaged_column_names_its_file(three: list[Path]) -> None:
    file = three[1] / "test_rows.parquet"
    table = parquet.read_table(file)
    broken = table.set_column(3, "accuracy", pyarrow.array([[1.0, 1.0, 1.0]] * 40))
    parquet.write_table(broken.replace_schema_metadata(table.schema.metadata), file)
    with pytest.raises(ValueError, match=f"cannot read {file}"):
        compared(three)


def test_a_score_that_is_named(three: list[Path], tmp_path: Path) -> None:
    found = compared(three, score="macro_f1")
    assert found.metric == "macro_f1"
    assert next(iter(found.contenders[0].scores)) == "macro_f1"
    with pytest.raises(ValueError, match="no run has a score 'rouge'; there are: accuracy, "):
        compared(three, score="rouge")
    lacking = run(tmp_path / "cnn", [3], encoder="window", drop=["macro_f1"])
    found = compared([*three, lacking], score="macro_f1")
    assert found.skipped == {str(lacking): "it was not scored by macro_f1"}
    found = compared([*three, lacking])
    assert "macro_f1" not in by_name(found)["window"].scores


def test_names_that_are_given(three: list[Path]) -> None:
    names = dict(zip(three, ["one", "two", "one", "two"], strict=True))
    assert [c.name for c in compared(three, names=names).contenders] == ["one", "floor", "two"]


def test_a_floor_that_differs_is_said(tmp_path: Path) -> None:
    found = compared(
        [
            run(tmp_path / "a", [], encoder="attention", floor="y" * 40),
            run(tmp_path / "l", [1], floor="n" * 39 + "y"),
        ]
    )
    assert by_name(found)["floor"].scores["accuracy"].mean == 0.5
    assert any("'floor' is not the same beside all runs" in note for note in found.notes)


@pytest.fixture
def other_labels(tmp_path: Path) -> list[Path]:
    """Three runs, of which one learnt a further label."""
    return [
        run(tmp_path / "a", [], encoder="attention", labels=("yes", "no", "maybe")),
        run(tmp_path / "l", range(20)),
        run(tmp_path / "w", range(10), encoder="window"),
    ]


def test_counts_of_other_labels_are_not_swapped(other_labels: list[Path]) -> None:
    found = compared(other_labels, score="macro_f1")
    tests = {(pair.first, pair.second): pair.test for pair in found.pairs}
    assert tests == {
        ("attention", "window"): "paired bootstrap",
        ("attention", "lstm"): "paired bootstrap",
        ("window", "lstm"): "approximate randomisation",
    }
    assert found.pairs[1].p < 0.01
    assert any(
        "2 of 3 pairs are tested by the paired bootstrap: the two learnt other labels" in note
        for note in found.notes
    )


def test_counts_of_what_is_right_are_swapped_whatever_the_labels(other_labels: list[Path]) -> None:
    found = compared(other_labels)
    assert {pair.test for pair in found.pairs} == {"approximate randomisation"}
    assert not any("tested by" in note for note in found.notes)


def test_folds_are_one_contender(tmp_path: Path) -> None:
    golds = (GOLD[:10], GOLD[10:40])
    folders = []
    for encoder, wrong in (("attention", [0]), ("lstm", [0, 1, 2])):
        for seed in (1, 2):
            for fold, gold in enumerate(golds, 1):
                folder = tmp_path / f"{encoder}{seed}{fold}"
                fake_run(
                    folder,
                    flip(wrong, gold),
                    gold=gold,
                    encoder=encoder,
                    seed=seed,
                    fold=(fold, 2),
                    floor="y" * len(gold),
                )
                folders.append(folder)
    found = compared(folders)
    best = by_name(found)["attention"]
    assert (best.seeds, best.folds, len(best.runs)) == ([1, 2], 2, 4)
    assert best.scores["accuracy"].mean == pytest.approx((9 / 10 + 29 / 30) / 2)
    assert best.scores["accuracy"].spread == 0
    assert found.rows == 40
    assert by_name(found)["floor"].folds == 2
    assert found.pairs[0].test == "approximate randomisation"
    assert found.disagreements[0].first_better == 4
    assert [example.row for example in found.disagreements[0].for_first] == [1, 2, 1]
    folders.pop()
    found = compared(folders)
    assert by_name(found)["lstm"].seeds == [1]
    assert list(found.skipped.values()) == ["seed 2 has no run of fold 2"]


def test_rows_without_targets_and_without_a_score(tmp_path: Path) -> None:
    gold = "yn-" * 4
    found = compared(
        [
            fake_run(tmp_path / "a", "yny" * 4, gold=gold, encoder="attention"),
            fake_run(tmp_path / "l", "nny" * 4, gold=gold),
        ]
    )
    assert [c.scores["accuracy"].mean for c in found.contenders] == [1.0, 0.5]
    one = found.disagreements[0]
    assert (one.first_better, one.second_better, one.alike) == (4, 0, 4)
    nothing = compared(
        [
            fake_run(tmp_path / "x", "yyy", gold="---", encoder="attention"),
            fake_run(tmp_path / "y", "yyy", gold="---"),
        ]
    )
    assert np.isnan(nothing.pairs[0].p)
    assert nothing.pairs[0].words == "not compared with lstm: a score is not defined"
    assert np.isnan(nothing.contenders[0].scores["accuracy"].low)
    assert nothing.disagreements == []


def test_one_row(tmp_path: Path) -> None:
    found = compared(
        [
            fake_run(tmp_path / "a", "y", gold="y", encoder="attention"),
            fake_run(tmp_path / "l", "n", gold="y"),
        ]
    )
    assert (found.pairs[0].p, found.pairs[0].low, found.pairs[0].high) == (1, 1, 1)
    assert any("one row only" in note for note in found.notes)


def test_labels_that_training_lacks_count(tmp_path: Path) -> None:
    # The gold of row 2 is one that no run knows: its id lies beyond those of the labels.
    folders = [
        fake_run(tmp_path / "a", "yn", gold="yn", encoder="attention"),
        fake_run(tmp_path / "l", "nn", gold="yn"),
    ]
    found = compared(folders, score="macro_f1")
    assert [c.scores["macro_f1"].mean for c in found.contenders] == pytest.approx([1, 1 / 3])


class Share(RankMetric):
    """What is right, as a measure of all cells."""

    higher_is_better = True

    @classmethod
    def applies(cls, spec: TargetSpec) -> bool:
        return True

    @property
    def width(self) -> int:
        return 2

    def row_cells(self, prediction: Prediction, target: Target) -> list[torch.Tensor]:
        raise NotImplementedError

    def score(self, cells: torch.Tensor) -> float:
        return float(cells[:, 0].mean())


def test_what_is_ranked_is_tested_by_the_bootstrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seqtag.comparison.record import RowTable

    read = RowTable.scored

    def scored(table: RowTable, measure: str, floor: str | None = None) -> Any:
        rows: Any = read(table, measure, floor)
        if measure != "accuracy":
            return rows
        return RankedRows(metric=Share(table.spec), cells=[row[None] for row in rows.statistics])

    folders = [
        run(tmp_path / "a", [], encoder="attention"),
        run(tmp_path / "l", range(20)),
    ]
    expected = compared(folders)
    monkeypatch.setattr(RowTable, "scored", scored)
    found = compared(folders)
    assert found.pairs[0].test == "paired bootstrap"
    assert found.pairs[0].p < 0.01
    assert found.contenders[0].scores == expected.contenders[0].scores
    assert found.contenders[1].scores == expected.contenders[1].scores
    assert any("one row has no accuracy" in note for note in found.notes)
    assert found.disagreements[0].first_better == 20


@pytest.mark.slow
def test_fifty_contenders(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / str(number), range(number % 25), config={"optimizer.lr": number / 1000})
        for number in range(50)
    ]
    found = compared(folders, resamples=100)
    assert len(found.contenders) == 50
    assert len(found.pairs) == 50 * 49 / 2
    assert len(found.disagreements) == 50
    best, worst = found.contenders[0].name, found.contenders[-1].name
    extremes = next(p for p in found.pairs if (p.first, p.second) == (best, worst))
    assert extremes.corrected < 0.05  # many pairs need more shuffles to tell anything apart


def test_environment_may_be_missing(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [1])
    for name in ("environment.json", "metrics.csv", "predictions.jsonl"):
        (one / name).unlink()
    write(one / "metrics.json", {"test/accuracy": 0.9})
    found = compared([one])
    assert "what these were made with is not known, they have no environment.json: a" in found.notes
    (contender,) = found.contenders
    assert (contender.parameters, contender.seconds, contender.best_epochs) == (None, None, [])
    assert contender.curves[0].epochs == []


def test_two_trainings(small_config: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    folders = []
    for radius in (1, 2):
        config = small_config("tagging", f"encoder.radius={radius}", "evaluate_test=true")
        folders.append(fit(config).folder)
    found, skipped = find_runs([tmp_path / "runs"])
    assert not skipped
    assert set(found) == set(folders)
    comparison = compared(found)
    names = {contender.name for contender in comparison.contenders}
    assert names == {"radius=1", "radius=2", "constant", "words"}
    assert len(comparison.pairs) == 5  # the two floors are not tested against each other
    for contender in comparison.contenders:
        folder = contender.runs[0] if contender.runs else folders[0]
        metrics = json.loads((Path(folder) / "metrics.json").read_text())
        prefix = {"constant": "floor/", "words": "floor_word/"}.get(contender.name, "")
        for name, score in contender.scores.items():
            assert score.mean == pytest.approx(metrics[f"{prefix}test/{name}"])
    assert comparison.rows == 1


def test_many_pairs_get_as_many_shuffles_as_their_correction_asks_for(three: list[Path]) -> None:
    found = compared(three, resamples=2)
    assert found.pairs[1].p >= 1 / 241  # 80 for each of three pairs, rather than ten in all
    assert found.pairs[1].corrected < 0.05
    assert not any("draws" in note for note in found.notes)


def test_the_bootstrap_too(other_labels: list[Path]) -> None:
    pair = compared(other_labels, resamples=2, score="macro_f1").pairs[1]
    assert pair.test == "paired bootstrap"
    assert 1 / 241 <= pair.p < 0.05 / 3
    assert pair.low < pair.difference < pair.high  # of all that were drawn


def test_draws_that_would_take_too_long_are_not_made(
    other_labels: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_tests, "MOST_WORK", 1000)
    found = compared(other_labels, resamples=29, score="macro_f1")
    said = "has 29 draws, as more would take too long: corrected for 3 pairs, none of its p is"
    for test in ("approximate randomisation", "paired bootstrap"):
        assert f"the {test} {said} below 0.1" in found.notes
    assert all(pair.corrected >= 0.1 for pair in found.pairs)


def test_p_over_seeds_is_corrected_as_well(three: list[Path]) -> None:
    found = compared(three)
    names = [contender.name for contender in found.contenders]
    assert names == ["attention", "floor", "lstm"]
    best, _, worst = (list(c.scores["accuracy"].seeds) for c in found.contenders)
    raw = [constant_test(best, 0.5), seeds_test(best, worst), constant_test(worst, 0.5)]
    assert None not in raw
    assert [pair.p_seeds for pair in found.pairs] == pytest.approx(holm(raw))  # type: ignore[arg-type]
    assert found.pairs[1].p_seeds == pytest.approx(3 * min(raw))  # type: ignore[type-var, operator]


def test_few_rows_are_said(three: list[Path], tmp_path: Path) -> None:
    assert any(note.startswith("40 rows only") for note in compared(three).notes)
    many = [
        fake_run(tmp_path / name, answers, gold=GOLD[:10] * 5, encoder=name)
        for name, answers in (("attention", "yn" * 25), ("lstm", "y" * 50))
    ]
    assert not any("rows only" in note for note in compared(many).notes)


def test_resamples_without_a_score_are_said(tmp_path: Path) -> None:
    # Of ten rows one has gold, and is left out of a resample with a chance of 0.9^10.
    gold = "y" + "-" * 9
    found = compared(
        [
            fake_run(tmp_path / "a", "y" * 10, gold=gold, encoder="attention"),
            fake_run(tmp_path / "l", "n" * 10, gold=gold),
        ],
        resamples=2000,
    )
    (note,) = [note for note in found.notes if note.startswith("of the resamples, ")]
    share = re.match(r"of the resamples, (\d+)% by accuracy", note)
    assert share is not None
    assert int(share[1]) == pytest.approx(100 * 0.9**10, abs=3)
    assert found.pairs[0].low == found.pairs[0].high == 1
