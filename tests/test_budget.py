"""Encoders sized to a budget of trained numbers."""

from typing import Any

import pytest
import torch
from omegaconf import OmegaConf
from torch import nn

from seqtag.batch import TargetSpec
from seqtag.budget import read_budget, resolve_budget, size_encoder
from seqtag.configuration import build, compose, config_directory, options
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
    expected = ({"dim": 30}, pointwise(30, 16), pointwise(32, 16))
    assert size_encoder(POINTWISE, 16, budget) == expected


def test_one_number_less_is_a_width_less() -> None:
    assert size_encoder(POINTWISE, 16, pointwise(30, 16) - 1).sizes == {"dim": 28}


def test_the_width_of_the_input_needs_no_projection_and_is_found_where_it_is_the_fullest() -> None:
    # 100 wide with no projection holds 10,500 numbers; so do 62 with one (10,396), but not 64.
    assert pointwise(100, 100) == 10_500
    assert pointwise(62, 100) == 10_416
    assert pointwise(64, 100) > 10_500
    expected = ({"dim": 100}, 10_500, pointwise(102, 100))
    assert size_encoder(POINTWISE, 100, 10_500) == expected
    assert size_encoder(POINTWISE, 100, 10_499) == ({"dim": 62}, 10_416, pointwise(64, 100))


def test_the_next_larger_is_one_that_the_budget_does_not_allow() -> None:
    # 98 wide with a projection is more than 100 wide without one.
    assert pointwise(98, 100) == 19_992
    assert size_encoder(POINTWISE, 100, 20_000) == ({"dim": 98}, 19_992, pointwise(102, 100))


def test_an_encoder_that_cannot_be_so_small_is_refused() -> None:
    assert size_encoder(POINTWISE, 16, pointwise(2, 16)).sizes == {"dim": 2}
    with pytest.raises(ValueError, match=r"is 47, and the smallest .*\(dim 2\) has 48 trained"):
        size_encoder(POINTWISE, 16, 47)


def test_nothing_is_counted_that_is_not_trained() -> None:
    drawn = torch.get_rng_state()
    size_encoder(POINTWISE, 16, 5_000)
    assert torch.get_rng_state().equal(drawn), "no number is drawn either"


PLAIN = composed("encoder=attention")
ATTENTION = encoder_node(PLAIN) | {"num_layers": 1}
LEARNED = {
    "_target_": "seqtag.nn.positions.learned.Learned",
    "_partial_": True,
    "max_positions": 512,
}


def attention(**changes: Any) -> dict[str, Any]:
    return ATTENTION | changes


def test_heads_stay_of_even_width() -> None:
    sizes = size_encoder(attention(num_heads=3, num_kv_heads=3), 16, 50_000).sizes
    assert sizes["dim"] % 6 == 0
    # Where the width of a head is given, that of the elements is free.
    sizes = size_encoder(attention(num_heads=3, num_kv_heads=1, head_dim=8), 16, 50_000).sizes
    assert sizes["dim"] % 6


def test_the_hidden_layer_keeps_its_proportion_and_takes_what_is_left() -> None:
    node = attention(dim=128, feedforward_dim=512, num_heads=4)
    shares = []
    for budget in (50_000, 60_000, 70_000):
        sizes, count, larger = size_encoder(node, 16, budget)
        dim, hidden = sizes["dim"], sizes["feedforward_dim"]
        assert 4 * (dim - 8) <= hidden
        assert count <= budget < larger == count + 2 * dim + 1
        shares.append(hidden / dim)
    assert min(shares) < 4 < max(shares), "sometimes the next dim with less of it is fuller"
    assert size_encoder(attention(feedforward_dim=0), 16, 100_000).sizes.keys() == {"dim"}


def test_sizes_that_the_encoder_itself_refuses_are_refused_in_its_words() -> None:
    for changes, message in (
        ({"num_heads": 0}, "num_heads is 0"),
        ({"num_heads": "x"}, "num_heads is 'x'"),
        ({"feedforward_dim": -1}, "feedforward_dim is -1"),
        ({"num_layers": "x"}, "num_layers is 'x'"),
        ({"num_layers": -1}, r"encoder\.num_layers is -1; it must be at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            size_encoder(attention(**changes), 16, 100_000)
    with pytest.raises(ValueError, match=r"sizes encoder\.dim, which is 0"):
        size_encoder(POINTWISE | {"dim": 0}, 16, 100_000)


def test_the_hidden_layer_fills_a_budget_however_wide_it_gets() -> None:
    node = attention(dim=128, feedforward_dim=256, num_heads=4) | {"position": LEARNED}
    sizes, count, _ = size_encoder(node, 16, 20_000)
    # With more of either there would be 512 more vectors, so the width stays.
    assert sizes["dim"] == 24
    assert sizes["feedforward_dim"] > 2 * 32
    assert 20_000 - 49 < count <= 20_000


def test_a_hidden_layer_in_no_layer_is_not_grown() -> None:
    sizes, count, larger = size_encoder(attention(num_layers=0), 16, 1_000)
    assert sizes["feedforward_dim"] == 2 * sizes["dim"]
    assert count <= 1_000 < larger


def test_the_first_width_that_builds_is_where_the_search_begins() -> None:
    node = encoder_node(composed("encoder=cnn")) | {"kernel_sizes": [3, 5, 7], "num_layers": 1}
    # 2 channels for the first kernel and 1 for each other, all from 4, and two norms.
    smallest = 16 * 4 + 4 + 4 * (2 * 3 + 5 + 7) + 4 + 4 * 4
    assert size_encoder(node, 16, smallest)[:2] == ({"dim": 4}, smallest)
    with pytest.raises(ValueError, match=rf"encoder \(dim 4\) has {smallest} trained"):
        size_encoder(node, 16, smallest - 1)
    assert 0.97 * 200_000 < size_encoder(node, 16, 200_000).parameters <= 200_000
    with pytest.raises(ValueError, match=r"encoder\.dim is 2; it is shared out among the 999 ker"):
        size_encoder(node | {"kernel_sizes": [1] * 999}, 16, 200_000)
    # An encoder with the same width as the input, the only one that fits, is found from there on.
    alone = smallest - 16 * 4 - 4
    assert size_encoder(node, 4, alone)[:2] == ({"dim": 4}, alone)


def chosen(option: str) -> dict[str, Any]:
    """A config with an option of the encoder or of its position."""
    group, _, name = option.partition("=")
    if group == "encoder":
        return composed(option)
    # The file alone, since to compose takes long.
    position = OmegaConf.load(config_directory() / group / f"{name}.yaml")
    node = ATTENTION | {"num_layers": 2, "position": OmegaConf.to_container(position, resolve=True)}
    return {**PLAIN, "encoder": {**node, BUDGET: None}}


@pytest.mark.parametrize(
    "option",
    [f"{group}={name}" for group in ("encoder", "encoder/position") for name in options(group)],
)
def test_a_budget_is_kept_to_within_five_per_cent_or_the_line_says_by_how_much(option: str) -> None:
    config = chosen(option)
    for budget in (20_000, 200_000):
        config["encoder"][BUDGET] = budget
        resolved, line = resolve_budget(config, VOCABULARIES)
        assert resolved["encoder"][BUDGET] is None
        with torch.device("meta"):
            encoder = build(encoder_node(resolved), 128, kinds=(nn.Module,), name="encoder")
        count = sum(parameter.numel() for parameter in encoder.parameters())
        assert count <= budget
        assert line is not None
        said, _, missed = line.partition(" parameters")
        assert said.endswith(f", {count:,}")
        assert bool(missed) == (count < 0.95 * budget)
        if "feedforward_dim" in resolved["encoder"]:
            assert count > 0.99 * budget
        elif "limit" not in resolved["encoder"]:
            assert count > 0.94 * budget


def test_a_budget_that_is_missed_is_said_to_be() -> None:
    _, line = resolve_budget(
        composed("encoder=window_full", "encoder.parameters=200k"), VOCABULARIES
    )
    # A map of each of 511 distances, one that sees no other, and what goes with it.
    have, larger = ((511 + 1) * n * n + 2 * n + 6 * n + 128 * n + n for n in (18, 20))
    assert have == 168_354
    assert line == (
        f"encoder.parameters=200k: dim 18, 168,354 parameters, 16% below the budget: the next "
        f"larger has {larger:,}"
    )


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
