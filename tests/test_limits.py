"""Sequences longer than a model can read are refused before it meets them."""

from pathlib import Path

import pytest

from seqtag.datamodule import DataModule
from seqtag.limits import check_split, too_long
from seqtag.model import Model
from seqtag.predictor import load
from seqtag.training.fit import fit, make_loop


@pytest.fixture
def full(small_config):
    """A run's config whose encoder reads two elements; training rows have three and more."""

    def make(**given):
        config = small_config("tagging", **given)
        config["encoder"] = {
            "_target_": "seqtag.nn.encoders.window_full.FullWindowEncoder",
            "_partial_": True,
            "dim": 8,
            "num_layers": 1,
            "limit": 2,
            "dropout": 0.0,
            "parameters": None,
        }
        return config

    return make


SHORT = {
    "train": "a\tD\nb\tN\n\nb\tN\n\n",
    "dev": "b\tN\na\tD\n\n",
    "test": "b\tN\n\na\tD\nb\tN\na\tD\n\na\tD\na\tD\na\tD\na\tD\n\n",
}


def test_a_training_ends_before_a_folder_is_made(full) -> None:
    config = full()
    with pytest.raises(
        ValueError,
        match=r"train\.conll:1: a sequence of 3 elements is longer than the 2 that the encoder can "
        r"read \(encoder\.limit=2\); .*\(1 more are too long\)",
    ):
        fit(config)
    assert not Path(config["runs"]).exists()


def test_only_the_splits_that_are_read_must_be_short(full) -> None:
    config = full(files=SHORT)
    for test in (False, True):
        data = DataModule(config)
        data.read_all(test=test)
        if test:
            with pytest.raises(ValueError, match=r"test\.conll:3: a sequence of 3 .*\(1 more"):
                make_loop(config, data)
        else:
            make_loop(config, data)


def test_prediction_names_the_row(full, save_run) -> None:
    predictor = load(save_run(full(files=SHORT)))
    outputs = predictor.predict([["a", "b"], [], ["a"]])
    assert [len(output.value) for output in outputs] == [2, 0, 1]
    with pytest.raises(ValueError, match=r"item:2: a sequence of 3 elements .*encoder\.limit=2"):
        list(predictor.predict([["a"], ["a", "b", "a"]]))


def built(config):
    """A model and the training rows."""
    data = DataModule(config)
    data.read_all(test=False)
    model = Model.from_config(config, data.inputs.fields, data.target)
    return model, data.splits["train"]


LEARNED = (
    "encoder=attention",
    "encoder/position=learned",
    "encoder.num_heads=2",
    "encoder.feedforward_dim=2",
    "encoder.radius=2",
)


def test_no_limit_refuses_nothing(small_config) -> None:
    model, _ = built(small_config("tagging"))
    assert too_long(model, 10**6) is None


def test_the_key_that_sets_the_limit_is_named_and_no_other_of_its_value(full, small_config) -> None:
    learned = small_config("tagging", *LEARNED, "encoder.position.max_positions=2")
    for given, key in ((full(), "limit"), (learned, "position.max_positions")):
        model, _ = built(given)
        assert too_long(model, 2) is None
        assert f" (encoder.{key}=2); train" in str(too_long(model, 3))


def test_a_limit_of_unknown_origin_is_that_of_the_encoder(small_config) -> None:
    model, _ = built(small_config("tagging", *LEARNED))
    model.encoder.longest = 2  # as the radius, and less than the position's own
    assert " (encoder); train" in str(too_long(model, 3))


def test_targets_are_no_longer_than_a_decoder_makes_with_their_end(small_config) -> None:
    learned = ("seq2seq", "encoder/position@decoder.position=learned")
    check_split(*built(small_config(*learned, "decoder.position.max_positions=4")))
    with pytest.raises(
        ValueError,
        match=r"train\.tsv:5: a target of 4 symbols with its end is longer than the 3 that the "
        r"decoder can make \(decoder\.position\.max_positions=3\)",
    ):
        check_split(*built(small_config(*learned, "decoder.position.max_positions=3")))
