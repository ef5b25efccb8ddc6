"""Parts of the training rows that are the test split in turn."""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from seqtag.commands.check import check
from seqtag.datamodule import DataModule
from seqtag.survey.survey import survey
from seqtag.training.settings import check_settings

ELEVEN = "".join(f"w{n}\tL{n % 3}\n\n" for n in range(11))
ROWS = {f"w{n}" for n in range(11)}


def read(config: dict[str, Any], *, test: bool = True) -> DataModule:
    data = DataModule(config)
    data.read_all(test=test)
    return data


def words(data: DataModule, split: str) -> list[str]:
    return [row["tokens"][0] for row in data.splits[split].rows]


@pytest.fixture
def folded(small_config: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Call it with a fold, further keys of ``data``, and texts of other splits."""

    def make(
        fold: Any, files: dict[str, str] | None = None, seed: int = 1, **keys: Any
    ) -> dict[str, Any]:
        config: dict[str, Any] = small_config("tagging", files={"train": ELEVEN, **(files or {})})
        config["seed"] = seed
        config["data"] |= {"folds": 3, "fold": fold, **keys}
        return config

    return make


def test_parts_are_disjoint_nearly_equal_and_together_everything(folded: Any) -> None:
    parts = []
    for fold in (1, 2, 3):
        data = read(folded(fold))
        splits = {name: words(data, name) for name in data.splits}
        assert sorted(chain(*splits.values())) == sorted(ROWS), "each row in one split"
        assert splits["test"] == sorted(splits["test"], key=lambda w: int(w[1:])), "in file order"
        parts.append(splits["test"])
    assert [len(part) for part in parts] == [4, 4, 3]
    assert sorted(chain(*parts)) == sorted(ROWS)


def test_the_cut_follows_dev_seed_and_not_that_of_the_run(folded: Any) -> None:
    base = read(folded(1))
    same, other = read(folded(1, seed=7)), read(folded(1, dev_seed=2))
    for split in ("train", "dev", "test"):
        assert words(base, split) == words(same, split)
    assert words(base, "test") != words(other, "test")


def test_training_never_sees_the_part(folded: Any) -> None:
    data = read(folded(2), test=False)
    with_test = read(folded(2))
    assert list(data.splits) == ["train", "dev"], "asked for or not, its rows are no training rows"
    assert words(data, "train") == words(with_test, "train")
    part = set(words(with_test, "test"))
    known = {word for word in ROWS if word in data.inputs.fields["word"]}
    assert known == set(words(data, "train"))
    assert not known & part
    assert sum(data.target.counts) == len(words(data, "train"))


def test_dev_is_named_or_cut_from_what_is_left(folded: Any) -> None:
    data = read(folded(1, {"dev": "w1\tL1\n\nx\tL0\n"}))
    assert words(data, "dev") == ["w1", "x"]
    assert len(data.splits["train"].rows) == 7
    assert data.notes == [
        f"no data.test: 4 of the 11 rows of {data.splits['train'].given} are the test split "
        "(data.fold=1 of data.folds=3, data.dev_seed=1)"
    ]
    data = read(folded(1, dev_fraction=0.29, train_rows=3))
    assert {name: len(split.rows) for name, split in data.splits.items()} == {
        "train": 3,
        "dev": 2,
        "test": 4,
    }


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_trained_model_is_scored_on_the_same_rows(folded: Any, split: str) -> None:
    trained = read(folded(3))
    again = DataModule(folded(3), inputs=trained.inputs, target=trained.target)
    again.read_split(split)
    assert words(again, split) == words(trained, split)
    assert again.splits[split].encoded[0].keys() == trained.splits[split].encoded[0].keys()
    assert again.splits[split].source() == trained.splits[split].source()


def test_another_file_can_be_scored_too(folded: Any, tmp_path: Path) -> None:
    trained = read(folded(3))
    config = folded(3, {"test": "w1\tL1\n\nx\tL0\n"})
    again = DataModule(config, inputs=trained.inputs, target=trained.target)
    again.read_split("test")
    assert words(again, "test") == ["w1", "x"]
    again.read_split("dev")
    assert words(again, "dev") == words(trained, "dev"), "those that chose the best epoch"


def test_the_record_names_the_part(folded: Any) -> None:
    sources = read(folded(2)).sources()
    assert sources["test"]["part"] == "fold 2 of 3"
    assert "part" not in sources["train"]
    assert sources["test"]["rows"] == 4
    assert sources["test"]["sha256"] == sources["train"]["sha256"]


def test_nothing_is_suspected_of_parts_of_one_file(folded: Any) -> None:
    found = survey(read(folded(2)))
    assert found.overlaps == []
    assert not [w for problem in found.warnings for w in problem.messages if " same" in w]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"folds": None}, "data.fold=1: of how many? give data.folds too, such as 5"),
        (
            {"fold": None},
            "data.folds=3: which one is the test split? give data.fold, 1 to 3 (compare folds=3 "
            "trains on each)",
        ),
        ({"fold": 4}, "data.fold=4: it must be a whole number from 1 to data.folds=3"),
        ({"fold": 0}, "data.fold=0: it must be a whole number from 1 to data.folds=3"),
        ({"fold": True}, "data.fold=True: it must be a whole number from 1 to data.folds=3"),
        ({"fold": 1.5}, "data.fold=1.5: it must be a whole number from 1 to data.folds=3"),
        ({"folds": 1}, "data.folds=1: it must be null or a whole number of 2 or more"),
        ({"folds": "many"}, "data.folds=many: it must be null or a whole number of 2 or more"),
        (
            {"streaming": True},
            "data.folds=3: rows that are never stored cannot be cut; leave data.streaming off",
        ),
    ],
)
def test_wrong_keys_are_refused_before_anything_is_read(
    folded: Any, keys: dict[str, Any], message: str
) -> None:
    config = folded(1)
    config["data"] |= {"train": "nowhere.conll", **keys}
    for begin in (check_settings, read):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is compared whole
            begin(config)
        assert str(caught.value) == message


def test_a_test_file_and_a_part_exclude_each_other(folded: Any) -> None:
    message = "data.folds=3 makes a test split of training rows, and data.test names one: leave"
    with pytest.raises(ValueError, match=message):
        read(folded(1, {"test": ELEVEN}))


def test_more_parts_than_rows_are_refused(folded: Any) -> None:
    config = folded(1, folds=12)
    with pytest.raises(ValueError, match=r"has 11 rows: too few for data\.folds=12, each with one"):
        read(config)


def test_the_part_can_be_scored_at_the_end_of_a_training(folded: Any) -> None:
    check_settings({**folded(1), "evaluate_test": True})


def test_check_shows_the_part(folded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    check({**folded(2), "json": True}, [])
    shown = json.loads(capsys.readouterr().out)
    assert shown["splits"]["test"]["counts"]["rows"] == 4
    with pytest.raises(ValueError, match=r"data\.fold=9: it must be a whole number from 1 to"):
        check({**folded(9), "json": True}, [])


def test_the_run_of_an_older_version_has_no_parts(folded: Any) -> None:
    config = folded(1)
    del config["data"]["folds"], config["data"]["fold"]
    check_settings(config)
    assert list(read(config, test=False).splits) == ["train", "dev"]
