import functools
from pathlib import Path
from typing import Any, ClassVar

import pytest
from omegaconf import OmegaConf
from torch import nn

from seqtag.batch import Layout
from seqtag.configuration import (
    build,
    check,
    compose,
    compose_node,
    config_directory,
    options,
    plain,
    sample_directory,
)
from seqtag.nn.encoders.encoder import Encoder
from seqtag.nn.positions.position import Position

LINEAR = {"_target_": "torch.nn.Linear", "in_features": 3, "out_features": 2}
WINDOW = {
    "_target_": "seqtag.nn.encoders.window.WindowEncoder",
    "_partial_": True,
    "dim": 4,
    "num_layers": 1,
    "radius": 1,
    "dropout": 0.0,
}

MINE = """
calls = []

class Keeper:
    def __init__(self, part=None, *, number: int = 1, share: float | None = 0.5):
        calls.append("Keeper")
        self.part, self.number, self.share = part, number, share

class Loose:
    def __init__(self, *parts, **settings):
        self.parts, self.settings = parts, settings

def spring(*anything):
    calls.append("spring")
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package of the user's own, which the user trusts."""
    import importlib
    import sys

    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setenv("SEQTAG_TRUSTED", "mine")
    yield importlib.import_module("mine")
    sys.modules.pop("mine", None)


def made(node: Any, *arguments: Any, kinds: tuple[type, ...] = (object,), **named: Any) -> Any:
    return build(node, *arguments, kinds=kinds, name="part", **named)


class TestBuild:
    def test_makes_an_object_with_the_arguments_of_the_node(self) -> None:
        linear = made(LINEAR)
        assert isinstance(linear, nn.Linear)
        assert (linear.in_features, linear.out_features) == (3, 2)

    def test_adds_what_no_yaml_can_state(self) -> None:
        assert made({"_target_": "torch.nn.Linear", "bias": False}, 3, out_features=2).bias is None
        assert made(WINDOW, 7).output_dim == 4

    def test_what_the_program_gives_cannot_be_set_in_the_node(self) -> None:
        with pytest.raises(ValueError, match=r"part\.out_features is not yours to set"):
            made(LINEAR, out_features=5)

    def test_a_partial_node_waits_for_its_arguments(self) -> None:
        encoder = made(WINDOW)
        assert isinstance(encoder, functools.partial)
        assert encoder(7).output_dim == 4

    def test_builds_the_parts_of_a_node_first(self, mine: Any) -> None:
        keeper = made(
            {"_target_": "mine.Keeper", "part": {"a": [LINEAR, WINDOW, 1], "b": {"c": None}}}
        )
        linear, window, one = keeper.part["a"]
        assert isinstance(linear, nn.Linear)
        assert isinstance(window, functools.partial)
        assert one == 1
        assert keeper.part["b"] == {"c": None}

    def test_leaves_the_node_as_it_is(self) -> None:
        node = {"_target_": "torch.nn.Linear", "in_features": 3}
        made(node, out_features=2)
        assert node == {"_target_": "torch.nn.Linear", "in_features": 3}


class TestRefusals:
    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("os.system", "may not be built"),
            ("torch.hub.load", "may not be built"),
            ("builtins.eval", "may not be built"),
            ("subprocess.Popen", "may not be built"),
            ("torch.nnx.Linear", "may not be built"),
            ("seqtagged.Model", "may not be built"),
            ("Linear", "may not be built"),
            ("", "may not be built"),
            # A walk through what a module of ours has imported.
            ("seqtag.model.nn.Linear", "cannot be imported"),
            ("seqtag.configuration.importlib.import_module", "cannot be imported"),
            ("torch.nn.functional.torch.hub.load", "cannot be imported"),
            ("seqtag.configuration.Path", "may not be built"),
            ("seqtag.configuration.functools", "is not a class"),
            ("seqtag.configuration.compose", "is not a class"),
            ("torch.nn.init.normal_", "is not a class"),
            ("torch.nn.functional.relu", "is not a class"),
            ("torch.nn.NoSuchLayer", "is not a class"),
            ("seqtag.no_such_module.Part", "cannot be imported"),
        ],
    )
    def test_only_classes_of_ours_and_of_torch_are_built(self, target: str, message: str) -> None:
        with pytest.raises(ValueError, match=message) as caught:
            made({"_target_": target})
        assert str(caught.value).startswith(f"part: '{target}'")

    def test_a_class_of_another_kind_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"'torch.nn.Linear' is not a Encoder or Position"):
            made(LINEAR, kinds=(Encoder, Position))

    @pytest.mark.parametrize(
        ("node", "place"),
        [
            ({**WINDOW, "scorer": {"_target_": "os.system"}}, r"part\.scorer"),
            ({"first": [LINEAR, {"deep": {"_target_": "os.system"}}]}, r"part\.first\[1\]\.deep"),
            ({**LINEAR, "bias": {"_target_": "os.system", "_partial_": True}}, r"part\.bias"),
        ],
    )
    def test_a_node_in_a_node_is_looked_at_too(self, node: Any, place: str) -> None:
        with pytest.raises(ValueError, match=f"{place}: 'os.system' may not be built"):
            check(node, kinds=(object,), name="part")

    def test_all_faults_are_told_at_once_and_nothing_is_built(self, mine: Any) -> None:
        node = {
            "_target_": "mine.Keeper",
            "colour": "red",
            "part": {
                "_target_": "mine.Keeper",
                "part": [{"_target_": "mine.spring"}, {**WINDOW, "radios": 2}],
                "number": "three",
            },
        }
        with pytest.raises(ValueError, match="colour") as caught:
            made(node)
        assert str(caught.value).splitlines() == [
            "part.colour: Keeper takes no 'colour'; it takes part, number, share",
            "part.part.number is 'three'; it must be a whole number",
            "part.part.part[0]: 'mine.spring' is not a class",
            "part.part.part[1].radios: WindowEncoder takes no 'radios'; it takes input_dim, dim, "
            "num_layers, radius, dropout",
        ]
        assert mine.calls == []

    @pytest.mark.parametrize("key", ["_args_", "_convert_", "_recursive_", "self", "settings"])
    def test_an_unknown_argument_is_refused_whatever_it_means_elsewhere(
        self, key: str, mine: Any
    ) -> None:
        with pytest.raises(ValueError, match=f"Loose takes no '{key}'"):
            made({"_target_": "mine.Loose", key: [1]})

    def test_an_argument_that_is_missing_is_named(self) -> None:
        with pytest.raises(ValueError, match=r"part: Linear: missing a required .*'out_features'"):
            made({"_target_": "torch.nn.Linear", "in_features": 3})
        incomplete = {key: value for key, value in WINDOW.items() if key != "radius"}
        with pytest.raises(ValueError, match=r"part: WindowEncoder: missing a required .*'radius'"):
            made(incomplete, 7)

    @pytest.mark.parametrize(
        ("given", "fits"),
        [
            ({"number": 2}, True),
            ({"number": 2.0}, False),
            ({"number": True}, False),
            ({"number": None}, False),
            ({"share": 2}, True),
            ({"share": None}, True),
            ({"share": "half"}, False),
            ({"part": "anything"}, True),
        ],
    )
    def test_plain_values_must_be_of_the_type_that_the_class_asks_for(
        self, given: dict[str, Any], fits: bool, mine: Any
    ) -> None:
        node = {"_target_": "mine.Keeper", **given}
        if fits:
            assert vars(made(node)).items() >= given.items()
        else:
            (key,) = given
            with pytest.raises(ValueError, match=rf"part\.{key} is .*; it must be"):
                made(node)


class TestTrust:
    NODE: ClassVar = {"_target_": "mine.Keeper"}

    def test_a_package_is_trusted_by_the_users_word_only(
        self, mine: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert made(self.NODE).number == 1
        for words in ("", "min", "mine.other", "yours,ours"):
            monkeypatch.setenv("SEQTAG_TRUSTED", words)
            with pytest.raises(ValueError, match=r"may not be built.*SEQTAG_TRUSTED=PACKAGE"):
                made(self.NODE)
        for words in ("yours, mine", "mine.", " mine"):
            monkeypatch.setenv("SEQTAG_TRUSTED", words)
            assert made(self.NODE).number == 1

    def test_trust_is_in_classes_of_the_right_kind(self, mine: Any) -> None:
        with pytest.raises(ValueError, match="is not a class"):
            made({"_target_": "mine.spring"})
        with pytest.raises(ValueError, match="is not a Module"):
            made(self.NODE, kinds=(nn.Module,))

    @pytest.mark.parametrize(
        "value",
        [
            ({"_target_": "mine.spring"},),
            "${oc.create:{_target_:mine.spring}}",
            "${oc.env:HOME}",
            "${sample:pos}",
        ],
        ids=["tuple", "created node", "environment", "resolver"],
    )
    def test_what_is_no_node_is_taken_as_it_stands(self, value: Any, mine: Any) -> None:
        assert made({**self.NODE, "part": value}).part == value
        assert mine.calls == ["Keeper"]


def plain_types(value: Any) -> set[type]:
    if isinstance(value, dict):
        return {dict, *(kind for v in value.values() for kind in plain_types(v))}
    if isinstance(value, list):
        return {list, *(kind for v in value for kind in plain_types(v))}
    return {type(value)}


class TestCompose:
    def test_gives_plain_containers_with_nothing_left_to_resolve(self) -> None:
        config = compose("train", ["seed=7", "encoder=lstm"])
        assert config["seed"] == 7
        assert config["encoder"]["_target_"].endswith("LSTMEncoder")
        assert plain_types(config) <= {dict, list, str, int, float, bool, type(None)}
        assert "${" not in str(config)

    def test_embedded_samples_are_where_the_config_says(self) -> None:
        config = compose("train", ["experiment=pos"])
        assert Path(config["data"]["train"]) == sample_directory() / "pos" / "train.conllu"
        assert Path(config["data"]["train"]).is_file()

    def test_a_value_that_must_be_given_is_asked_for(self) -> None:
        with pytest.raises(ValueError, match=r"please give a\.b, c"):
            plain(OmegaConf.create({"c": "???", "a": {"b": "???", "d": 1}}))

    def test_can_be_called_while_hydra_is_in_use(self) -> None:
        from hydra import initialize_config_dir
        from hydra.core.global_hydra import GlobalHydra

        with initialize_config_dir(str(config_directory()), version_base="1.3"):
            in_use = GlobalHydra.instance().hydra
            assert compose("train")["seed"] == 1
            assert GlobalHydra.instance().hydra is in_use
        assert not GlobalHydra.instance().is_initialized()


class TestGroups:
    def test_options_are_the_files_but_not_shared_parts(self) -> None:
        assert (config_directory() / "data" / "_files.yaml").is_file()
        assert {"conll", "conllu", "csv", "jsonl", "tsv"} <= set(options("data"))
        assert not any(name.startswith("_") for name in options("data"))
        assert options("encoder/position") == sorted(options("encoder/position"))
        assert options("no_such_group") == []

    def test_an_option_is_as_it_would_stand_in_training(self) -> None:
        assert compose_node("data", "csv")["format"] == "csv"
        assert compose_node("data/input_tokenizer", "smiles") == {
            "_target_": "seqtag.data.tokenizers.Smiles"
        }

    def test_an_unknown_option_is_answered_with_those_there_are(self) -> None:
        with pytest.raises(ValueError, match=r"no option 'linear' in encoder; there are: .*lstm"):
            compose_node("encoder", "linear")
        with pytest.raises(ValueError, match="in planets; there are: none"):
            compose_node("planets", "mars")


def test_a_layout_is_no_part_of_a_model() -> None:
    target = f"{Layout.__module__}.{Layout.__qualname__}"
    with pytest.raises(ValueError, match="is not a Module"):
        made({"_target_": target}, kinds=(nn.Module,))
