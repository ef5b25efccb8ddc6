"""Encoders sized to a budget of trained numbers."""

from typing import Any

import pytest
import torch
from torch import nn

from seqtag.batch import TargetSpec
from seqtag.budget import read_budget, resolve_budget, size_encoder
from seqtag.configuration import build, compose, options
from seqtag.model import BUDGET, Model, encoder_node

POINTWISE = {
    "_target_": "seqtag.nn.encoders.window.WindowEncoder",
    "_partial_": True,
    "dim": 8,
    "num_layers": 1,
    "radius": 0,
    "dropout": 0.0,
}
VOCABULARIES = {"word": range(20)}
BUDGETS = (50_000, 200_000, 1_000_000)


def composed(*overrides: str) -> dict[str, Any]:
    return compose("train", ["embedding/spelling=none", *overrides])


def model(config: dict[str, Any]) -> Model:
    return Model.from_config(config, VOCABULARIES, TargetSpec(labels=("A", "B"), counts=(1, 1)))


@pytest.mark.parametrize(
    ("written", "budget"),
    [("200k", 200_000), ("1.5M", 1_500_000), ("2 m", 2_000_000), (70, 70), ("0.05K", 50)],
)
def test_thousands_and_millions_are_read(written: Any, budget: int) -> None:
    assert read_budget(written) == budget


@pytest.mark.parametrize("written", ["many", "200kk", "", "-5", 0, True, "k", [1], "1e5"])
def test_what_is_no_number_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"encoder\.parameters is .*such as 200k"):
        read_budget(written)


def pointwise(dim: int, input_dim: int) -> int:
    """A layer with its norm, the last norm, and a projection where one is needed."""
    projection = 0 if dim == input_dim else input_dim * dim + dim
    return projection + (dim * dim + dim) + 2 * dim + 2 * dim


@pytest.mark.parametrize("spare", [0, 1, 100])
def test_the_largest_even_width_that_fits_is_found(spare: int) -> None:
    budget = pointwise(30, 16) + spare
    assert pointwise(32, 16) > budget
    assert size_encoder(POINTWISE, 16, budget) == ({"dim": 30}, pointwise(30, 16))


def test_one_number_less_is_a_width_less() -> None:
    assert size_encoder(POINTWISE, 16, pointwise(30, 16) - 1)[0] == {"dim": 28}


def test_the_width_of_the_input_needs_no_projection_and_is_found_where_it_is_the_fullest() -> None:
    # 100 wide with no projection holds 10,500 numbers; so do 62 with one (10,396), but not 64.
    assert pointwise(100, 100) == 10_500
    assert pointwise(62, 100) == 10_416
    assert pointwise(64, 100) > 10_500
    assert size_encoder(POINTWISE, 100, 10_500) == ({"dim": 100}, 10_500)
    assert size_encoder(POINTWISE, 100, 10_499) == ({"dim": 62}, 10_416)


def test_an_encoder_that_cannot_be_so_small_is_refused() -> None:
    assert size_encoder(POINTWISE, 16, pointwise(2, 16))[0] == {"dim": 2}
    with pytest.raises(ValueError, match=r"is 47, and the smallest .*\(dim 2\) has 48 trained"):
        size_encoder(POINTWISE, 16, 47)


def test_nothing_is_counted_that_is_not_trained() -> None:
    drawn = torch.get_rng_state()
    size_encoder(POINTWISE, 16, 5_000)
    assert torch.get_rng_state().equal(drawn), "no number is drawn either"


ATTENTION = encoder_node(composed("encoder=attention")) | {"num_layers": 1}


def attention(**changes: Any) -> dict[str, Any]:
    return ATTENTION | changes


def test_heads_stay_of_even_width() -> None:
    sizes, _ = size_encoder(attention(num_heads=3, num_kv_heads=3), 16, 50_000)
    assert sizes["dim"] % 6 == 0
    # Where the width of a head is given, that of the elements is free.
    sizes, _ = size_encoder(attention(num_heads=3, num_kv_heads=1, head_dim=8), 16, 50_000)
    assert sizes["dim"] % 6


def test_the_hidden_layer_keeps_its_proportion_and_takes_what_is_left() -> None:
    node = attention(dim=128, feedforward_dim=512, num_heads=4)
    shares = []
    for budget in (50_000, 60_000, 70_000):
        sizes, count = size_encoder(node, 16, budget)
        dim, hidden = sizes["dim"], sizes["feedforward_dim"]
        assert 4 * (dim - 8) <= hidden <= 4 * (dim + 8)
        assert 0.98 < count / budget <= 1
        shares.append(hidden / dim)
    assert min(shares) < 4 < max(shares), "sometimes the next dim with less of it is fuller"
    assert size_encoder(attention(feedforward_dim=0), 16, 100_000)[0].keys() == {"dim"}


def test_sizes_that_the_encoder_itself_refuses_are_refused_in_its_words() -> None:
    for changes, message in (
        ({"num_heads": 0}, "num_heads is 0"),
        ({"num_heads": "x"}, "num_heads is 'x'"),
        ({"feedforward_dim": -1}, "feedforward_dim is -1"),
        ({"num_layers": "x"}, "num_layers is 'x'"),
    ):
        with pytest.raises(ValueError, match=message):
            size_encoder(attention(**changes), 16, 100_000)
    with pytest.raises(ValueError, match=r"sizes encoder\.dim, which is 0"):
        size_encoder(POINTWISE | {"dim": 0}, 16, 100_000)


@pytest.mark.parametrize("name", options("encoder"))
def test_every_encoder_comes_within_ten_per_cent_of_its_budget(name: str) -> None:
    config = composed(f"encoder={name}")
    assert config["encoder"][BUDGET] is None
    if "limit" in config["encoder"]:
        config["encoder"]["limit"] = 16
    for budget in BUDGETS:
        config["encoder"][BUDGET] = budget
        resolved, line = resolve_budget(config, VOCABULARIES)
        assert resolved["encoder"][BUDGET] is None
        with torch.device("meta"):
            encoder = build(encoder_node(resolved), 128, kinds=(nn.Module,), name="encoder")
        count = sum(parameter.numel() for parameter in encoder.parameters())
        assert 0.9 * budget < count <= budget
        assert line is not None
        assert line.endswith(f", {count:,} parameters")


def test_the_resolved_config_makes_the_model_that_its_sizes_make() -> None:
    resolved, line = resolve_budget(composed("encoder=gru", "encoder.parameters=20k"), VOCABULARIES)
    dim = resolved["encoder"]["dim"]
    assert line is not None
    assert line.startswith(f"encoder.parameters=20k: dim {dim}, ")
    torch.manual_seed(0)
    made = model(resolved)
    torch.manual_seed(0)
    plain = model(composed("encoder=gru", f"encoder.dim={dim}"))
    for one, other in zip(made.parameters(), plain.parameters(), strict=True):
        assert one.equal(other)
    assert made.parameters_by_part()["encoder"] <= 20_000


def test_without_a_budget_nothing_changes() -> None:
    config = composed("encoder=gru")
    assert resolve_budget(config, VOCABULARIES) == (config, None)
    del config["encoder"][BUDGET]  # as runs had it before there were budgets
    assert resolve_budget(config, VOCABULARIES) == (config, None)
    assert model(config).parameters_by_part()["encoder"] > 0


def test_a_model_is_not_built_with_a_budget_that_nobody_worked_out() -> None:
    with pytest.raises(ValueError, match=r"encoder\.parameters is '20k'.*only a training"):
        model(composed("encoder=gru", "encoder.parameters=20k"))
