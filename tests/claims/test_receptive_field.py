import pytest
import torch

from seqtag.batch import WORD
from seqtag.claims.claim import Claim
from seqtag.claims.job import make_claim
from seqtag.claims.receptive_field import ReceptiveField, mass, mass_at
from seqtag.claims.training import FIRST_SYMBOL, make_model
from seqtag.configuration import compose

COMMON = (
    "embedding.dim=8 encoder.dim=8 encoder/position=relative encoder.num_layers=1 "
    "encoder.num_heads=1"
)
ENCODERS = {
    "far": {"overrides": "encoder=attention", "lr": 0.01, "reaches": True},
    "near": {"overrides": "encoder=attention encoder.radius={short}", "lr": 0.01, "reaches": False},
}


def small(**changes: object) -> ReceptiveField:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "encoders": ENCODERS,
        "common": COMMON,
        "parameters": None,
        "offsets": [1, 3],
        "length": 6,
        "symbols": 4,
        "steps": [1, 2],
        "rows": 2,
    }
    return ReceptiveField(**(settings | changes))  # type: ignore[arg-type]


def test_the_yaml_makes_the_claim():
    claim = make_claim(compose("claims", ["claim=receptive_field"])["claim"])
    assert isinstance(claim, Claim)
    assert claim.size == 5 * 4


@pytest.mark.parametrize("offset", [1, 3])
def test_the_label_is_the_symbol_offset_places_before(offset):
    batch = small().draw(torch.Generator().manual_seed(0), offset, rows=5)
    symbols, target = batch.inputs[WORD], batch.target
    for row in range(5):
        assert not target.present[row, :offset].any()
        for place in range(offset, 6):
            assert target.present[row, place]
            assert target.value[row, place] + FIRST_SYMBOL == symbols[row, place - offset]


def test_mass_is_the_weight_so_many_places_before_in_the_head_that_has_most_there():
    one = torch.tensor([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.5, 0.3]])
    other = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    grid = torch.stack([one, other]).unsqueeze(0)  # [batch, heads, query, key]
    assert mass_at([grid], 1) == pytest.approx((0.9 + 0.5) / 2)
    assert mass_at([grid], 2) == pytest.approx(0.2)
    assert mass_at([grid, torch.ones(1, 1, 3, 3)], 2) == 1


def test_mass_of_a_model_without_attention_is_none():
    model = make_model(
        ["embedding.dim=8", "encoder=window", "encoder.dim=8"],
        task="tagging",
        symbols=4,
        labels=4,
        seed=1,
    )
    assert mass(model, small().draw(torch.Generator().manual_seed(0), 1), 1) is None


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 4
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)
    # One place short: the deciding one has no weight at all.
    assert [row["mass_after"] for row in rows if row["encoder"] == "near"] == [0, 0]


def hand_made(near: float, mass_after: float) -> list[dict[str, object]]:
    return [
        {
            "seed": seed,
            "offset": offset,
            "encoder": name,
            "accuracy": 0.99 if name == "far" else near,
            "mass_before": 0.1,
            "mass_after": mass_after if name == "far" else 0.0,
            "parameters": 10,
        }
        for seed in (1, 2)
        for offset in (1, 3)
        for name in ENCODERS
    ]


@pytest.mark.parametrize(
    ("near", "mass_after", "held"), [(0.26, 0.9, True), (0.6, 0.9, False), (0.26, 0.3, False)]
)
def test_the_verdict_follows_from_the_rows(near, mass_after, held):
    assert small().verdict(hand_made(near, mass_after)).held is held


def test_an_offset_beyond_the_sequence_is_refused():
    with pytest.raises(ValueError, match=r"claim\.offsets is \[6\].*claim\.length, 6"):
        small(offsets=[6])
