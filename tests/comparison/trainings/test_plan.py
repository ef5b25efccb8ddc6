"""Which trainings a comparison has, in which order, and what it refuses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from seqtag.comparison.trainings.plan import plan
from seqtag.comparison.trainings.request import Variant, own_keys, read_variants
from seqtag.configuration import plain

BASE = {
    "encoder": {"kind": "attention", "dim": 8},
    "data": {"train": "a", "test": None, "folds": None, "fold": None, "dev_seed": 1},
    "evaluate_test": False,
    "seed": 1,
    "runs": "runs",
}
KEYS: dict[str, Any] = {"variants": None, "encoders": None, "seeds": 2, "folds": None}


def compose(words: Sequence[str]) -> DictConfig:
    """What Hydra would make of words, for a conf/ of this one config."""
    config = OmegaConf.create(BASE)
    for word in words:
        key, _, value = word.partition("=")
        if key == "encoder":
            key = "encoder.kind"
        if OmegaConf.select(config, key, default="none") == "none":
            raise ValueError(f"no config key '{key}' here")
        OmegaConf.update(config, key, value if "$" in value else _read(value))
    return config


def _read(value: str) -> Any:
    return OmegaConf.from_dotlist([f"value={value}"]).value


def finish(config: DictConfig) -> dict[str, Any]:
    settings = plain(config)
    if not isinstance(settings["encoder"]["dim"], int):
        raise ValueError("encoder.dim must be a whole number")
    return settings


def make(*words: str, **keys: Any) -> Any:
    return plan({**KEYS, **keys}, words, compose=compose, finish=finish)


def test_seeds_come_one_after_the_other_then_folds_then_variants() -> None:
    _, cells = make("encoder.dim=4", encoders=["lstm", "cnn"], seeds=[3, 1], folds=2)
    assert [str(cell) for cell in cells] == [
        "lstm, seed 3, fold 1 of 2",
        "cnn, seed 3, fold 1 of 2",
        "lstm, seed 3, fold 2 of 2",
        "cnn, seed 3, fold 2 of 2",
        "lstm, seed 1, fold 1 of 2",
        "cnn, seed 1, fold 1 of 2",
        "lstm, seed 1, fold 2 of 2",
        "cnn, seed 1, fold 2 of 2",
    ]
    cell = cells[3]
    assert cell.place == Path("cnn/seed-3-fold-2-of-2")
    assert cell.config["encoder"] == {"kind": "cnn", "dim": 4}
    assert (cell.config["seed"], cell.config["data"]["folds"], cell.config["data"]["fold"]) == (
        3,
        2,
        2,
    )
    assert cell.overrides == [
        "encoder.dim=4",
        "data.folds=2",
        "evaluate_test=true",
        "encoder=cnn",
        "seed=3",
        "data.fold=2",
    ]


def test_without_a_word_five_encoders_are_compared() -> None:
    _, cells = make()
    assert [str(cell) for cell in cells[:6]] == [
        "attention, seed 1",
        "lstm, seed 1",
        "cnn, seed 1",
        "window, seed 1",
        "pointwise, seed 1",
        "attention, seed 2",
    ]
    assert cells[0].place == Path("attention/seed-1")
    assert [cell.config["seed"] for cell in cells] == [1] * 5 + [2] * 5


def test_variants_change_what_they_say_on_top_of_what_is_said_of_all() -> None:
    variants = {"base": [], "wide": ["encoder.dim=64"], "far": ["encoder=cnn", "encoder.dim=2"]}
    base, cells = make("encoder.dim=4", "encoder=gru", variants=variants, seeds=1)
    assert [cell.config["encoder"] for cell in cells] == [
        {"kind": "gru", "dim": 4},
        {"kind": "gru", "dim": 64},
        {"kind": "cnn", "dim": 2},
    ]
    assert base["encoder"] == {"kind": "gru", "dim": 4}


def test_a_variant_may_be_one_word_or_none() -> None:
    assert read_variants({"variants": {"a": "x=1", "b": None, 3: ["y=2"]}, "encoders": None}) == [
        Variant(name="a", overrides=("x=1",)),
        Variant(name="b", overrides=()),
        Variant(name="3", overrides=("y=2",)),
    ]


def test_keys_of_the_command_do_not_reach_the_trainings() -> None:
    words = ["seeds=2", "+variants={}", "score=f1", "dry_run=true", "hydra.verbose=true"]
    _, cells = make(*words, "encoder.dim=4", encoders=["lstm"], seeds=1)
    assert cells[0].overrides == ["encoder.dim=4", "encoder=lstm", "seed=1"]
    assert own_keys() >= {"seeds", "variants", "output", "resamples"}
    assert not own_keys() & {"seed", "defaults", "runs", "encoder"}


@pytest.mark.parametrize(
    ("words", "folds", "scored"),
    [
        ([], None, False),
        (["data.test=b"], None, True),
        ([], 2, True),
        (["data.test=b", "evaluate_test=false"], None, False),
        (["evaluate_test=true"], None, True),
    ],
)
def test_the_test_split_is_scored_where_there_is_one(
    words: list[str], folds: int | None, scored: bool
) -> None:
    _, cells = make(*words, folds=folds)
    assert {cell.config["evaluate_test"] for cell in cells} == {scored}


def test_what_is_said_of_the_seed_holds_for_each() -> None:
    _, cells = make("data.dev_seed=${seed}", encoders=["lstm"], seeds=[4, 7])
    assert [cell.config["data"]["dev_seed"] for cell in cells] == [4, 7]


TWINS = {"a": [], "b": ["encoder.dim=8"], "c": ["encoder.dim=4"]}


@pytest.mark.parametrize(
    ("words", "keys", "message"),
    [
        (
            [],
            {"seeds": 0},
            "seeds is 0; it must be how many, 1 or more, or a list of seeds",
        ),
        ([], {"seeds": []}, "seeds is []; it must be how many, 1 or more, or a list of seeds"),
        ([], {"seeds": True}, "seeds is True; it must be how many, 1 or more, or a list of seeds"),
        (
            [],
            {"seeds": [1, -2]},
            "seeds is [1, -2]; it must be how many, 1 or more, or a list of seeds",
        ),
        ([], {"seeds": [1, 2, 1]}, "seeds is [1, 2, 1], and one of them stands there twice"),
        ([], {"folds": 1}, "folds is 1; it must be null or a whole number of 2 or more"),
        ([], {"folds": "x"}, "folds is 'x'; it must be null or a whole number of 2 or more"),
        (["seed=3"], {}, "seed is that of one training; compare takes seeds=5 or seeds=[3,4]"),
        (["data.fold=1"], {}, "data.fold is that of one training; compare takes folds=5"),
        (["+data.folds=1"], {}, "data.folds is that of one training; compare takes folds=5"),
        (
            [],
            {"encoders": ["a"], "variants": {"a": []}},
            "give variants or encoders, not both; an encoder is a variant too: "
            "variants={lstm: [encoder=lstm]}",
        ),
        ([], {"encoders": []}, "encoders is []; it must be a list such as [attention, lstm]"),
        (
            [],
            {"encoders": "lstm"},
            "encoders is 'lstm'; it must be a list such as [attention, lstm]",
        ),
        (
            [],
            {"variants": ["lstm"]},
            "variants is ['lstm']; it must be a mapping such as "
            "{small: [encoder.dim=64], large: [encoder.dim=256]}",
        ),
        (
            [],
            {"variants": {"a": {"encoder": "lstm"}}},
            "variant a is {'encoder': 'lstm'}; it must be a list such as [encoder.dim=64]",
        ),
        ([], {"variants": {"a": ["lstm"]}}, "variant a: 'lstm' is no key=value"),
        (
            [],
            {"variants": {"a": ["seed=2"]}},
            "variant a: seed is the same for all variants; say it outside",
        ),
        (
            [],
            {"variants": {"a": ["+processes=2"]}},
            "variant a: processes is the same for all variants; say it outside",
        ),
        (
            [],
            {"variants": {"a/b": []}},
            "'a/b' cannot be the name of a variant, for it names a folder: letters, digits and "
            "_.+=@- only, and no ending such as .html",
        ),
        (
            [],
            {"variants": {"report.html": []}},
            "'report.html' cannot be the name of a variant, for it names a folder: letters, digits "
            "and _.+=@- only, and no ending such as .html",
        ),
        (
            [],
            {"variants": {"..": []}},
            "'..' cannot be the name of a variant, for it names a folder: letters, digits and "
            "_.+=@- only, and no ending such as .html",
        ),
        ([], {"variants": {"Wide": [], "wide": []}}, "two variants are called Wide and wide"),
        ([], {"encoders": ["lstm", "lstm"]}, "two variants are called lstm"),
        (
            [],
            {"variants": TWINS},
            "variants a and b are the same training: nothing would be compared",
        ),
        (
            [],
            {"variants": {"a": [], "odd": ["encoder.wings=2"]}},
            "variant odd: no config key 'encoder.wings' here",
        ),
        (
            [],
            {"variants": {"a": [], "odd": ["encoder.dim=x"]}},
            "variant odd: encoder.dim must be a whole number",
        ),
        (["wings=2"], {}, "no config key 'wings' here"),
        (
            ["data.test=b"],
            {"folds": 2},
            "folds=2 makes test splits of the training file, and data.test names one: give "
            "data.test=null too, or leave folds out",
        ),
    ],
)
def test_wrong_keys_are_refused(words: list[str], keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is compared whole
        make(*words, **keys)
    assert str(caught.value) == message
