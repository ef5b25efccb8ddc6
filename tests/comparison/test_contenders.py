import os
from pathlib import Path

import pytest

from seqtag.comparison.contenders import Entry, check_same_rows, group_runs, settings_of
from seqtag.comparison.record import read_record, read_rows

from .fake_runs import fake_run


def entry(folder: Path) -> Entry:
    record = read_record(folder)
    return Entry(record=record, table=read_rows(record, "test"))


def test_runs_that_differ_by_seed_and_place_are_one_contender(tmp_path: Path) -> None:
    places = {"runs": "/elsewhere", "cache": "/c", "device": "cuda", "from": "/r", "resume": "/r"}
    runs = [
        fake_run(tmp_path / "1", "yynnyn", seed=3),
        fake_run(tmp_path / "2", "yynnyn", seed=1, config=places | {"data.processes": 4}),
        fake_run(tmp_path / "3", "yynnyn", seed=1, encoder="attention"),
    ]
    groups, skipped = group_runs([entry(run) for run in runs], None)
    assert not skipped
    assert [group.seeds for group in groups] == [[1, 3], [1]]
    assert [e.folder.name for e in groups[0].entries] == ["2", "1"]


def test_the_same_file_at_another_place_is_no_other_setting(tmp_path: Path) -> None:
    about = {"data": {"train": {"sha256": "aaaaaaaaaaaa"}}}
    other = {"data": {"train": {"sha256": "bbbbbbbbbbbb"}}}
    runs = [
        fake_run(tmp_path / "1", "yynnyn", config={"data.train": "/a/t.tsv"}, environment=about),
        fake_run(
            tmp_path / "2", "yynnyn", seed=2, config={"data.train": "/b/t.tsv"}, environment=about
        ),
        fake_run(
            tmp_path / "3", "yynnyn", seed=3, config={"data.train": "/a/t.tsv"}, environment=other
        ),
    ]
    groups, _ = group_runs([entry(run) for run in runs], None)
    assert [group.seeds for group in groups] == [[1, 2], [3]]
    assert groups[0].settings["data.train"] == "t.tsv (aaaaaaaa)"


def test_sizes_that_a_budget_gave_are_no_settings(tmp_path: Path) -> None:
    words = ["encoder.parameters=20k"]
    runs = [
        fake_run(
            tmp_path / str(dim),
            "yynnyn",
            overrides=words,
            config={"encoder.dim": dim, "encoder.parameters": None, "seed": dim},
        )
        for dim in (30, 32)
    ]
    groups, _ = group_runs([entry(run) for run in runs], None)
    assert [group.seeds for group in groups] == [[30, 32]]
    assert groups[0].settings["encoder.parameters"] == "20k"


def test_of_two_runs_of_one_seed_the_newer_stays(tmp_path: Path) -> None:
    old, new = (fake_run(tmp_path / name, "yynnyn") for name in ("b", "a"))
    os.utime(old / "metrics.json", (1, 1))
    groups, skipped = group_runs([entry(new), entry(old)], None)
    assert [e.folder for e in groups[0].entries] == [new]
    assert skipped == {str(old): f"{new} is a newer run of the same settings and seed"}


def test_names_that_are_given_make_the_contenders(tmp_path: Path) -> None:
    runs = [fake_run(tmp_path / name, "yynnyn") for name in ("a", "b")]
    groups, skipped = group_runs(
        [entry(run) for run in runs], dict(zip(runs, ("x", "y"), strict=True))
    )
    assert [group.given for group in groups] == ["x", "y"]
    assert not skipped


def test_a_seed_without_all_its_folds_is_left_out(tmp_path: Path) -> None:
    runs = [
        fake_run(tmp_path / f"{seed}-{fold}", "yynnyn", seed=seed, fold=(fold, 2))
        for seed, fold in ((1, 2), (1, 1), (2, 2))
    ]
    groups, skipped = group_runs([entry(run) for run in runs], None)
    assert groups[0].seeds == [1]
    assert [[e.record.fold for e in folds] for folds in groups[0].runs] == [[1, 2]]
    assert skipped == {str(runs[2]): "seed 2 has no run of fold 1"}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"word": "other"}, "of 6 rows 6 have another input, 0 another target"),
        ({"gold": "yynnyy"}, "of 6 rows 0 have another input, 1 another target"),
        ({"gold": "yyn", "answers": "yyn"}, "6 rows and 3"),
        ({"fold": (1, 1)}, None),
        ({"fold": (1, 2)}, "is of one test split and .*/2 of 2 folds"),
    ],
)
def test_runs_on_other_data_are_refused(tmp_path: Path, other: dict, message: str | None) -> None:
    arguments = {"answers": "yynnyn", "encoder": "attention"} | other
    runs = [fake_run(tmp_path / "1", "yynnyn"), fake_run(tmp_path / "2", **arguments)]
    if other.get("fold") == (1, 2):
        runs.append(fake_run(tmp_path / "3", **arguments | {"fold": (2, 2)}))
    groups, _ = group_runs([entry(run) for run in runs], None)
    if message is None:
        check_same_rows(groups)
        return
    with pytest.raises(ValueError, match=message) as caught:
        check_same_rows(groups)
    assert str(tmp_path / "1") in str(caught.value)
    assert str(tmp_path / "2") in str(caught.value)


@pytest.mark.parametrize(
    ("file", "digests", "fractions", "alike"),
    [
        ("t.tsv", ("a", "a"), (0.1, 0.2), True),
        ("t.tsv", ("a", "b"), (0.1, 0.1), False),
        ("t.tsv", (None, None), (0.1, 0.1), False),
        (None, ("a", "a"), (0.1, 0.1), True),
        (None, ("a", "a"), (0.1, 0.2), False),
    ],
)
def test_one_file_split_otherwise_has_the_same_rows(
    tmp_path: Path, file: str | None, digests: tuple, fractions: tuple, alike: bool
) -> None:
    runs = [
        fake_run(
            tmp_path / word,
            "yynnyn",
            split="dev",
            word=word,
            config={"data.dev": file, "data.dev_fraction": fraction},
            environment={"data": {"dev": {"sha256": digest}}},
        )
        for word, digest, fraction in zip(("words", "letters"), digests, fractions, strict=True)
    ]
    entries = []
    for run in runs:
        record = read_record(run)
        entries.append(Entry(record=record, table=read_rows(record, "dev")))
    groups, _ = group_runs(entries, dict(zip(runs, "ab", strict=True)))
    if alike:
        check_same_rows(groups)
        return
    with pytest.raises(ValueError, match="6 have another input, 0 another target"):
        check_same_rows(groups)


def test_null_and_absent_are_alike(tmp_path: Path) -> None:
    one = settings_of(read_record(fake_run(tmp_path / "1", "y", gold="y")))
    other = settings_of(
        read_record(fake_run(tmp_path / "2", "y", gold="y", config={"data.new_key": None}))
    )
    assert one == other
