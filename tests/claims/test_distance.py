import pytest
import torch

from seqtag.claims.distance import SLACK, Distance
from seqtag.claims.job import make_claim
from seqtag.claims.training import FIRST_SYMBOL
from seqtag.configuration import compose

KEYS, VALUES = 4, 3
ENCODERS = {
    "window": {"overrides": "encoder=window encoder.radius=1", "lr": 0.01},
    "attention": {"overrides": "encoder=attention encoder.num_layers=1", "lr": 0.01},
}


def small(**changes: object) -> Distance:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "encoders": ENCODERS,
        "common": "embedding.dim=8 encoder.dim=8",
        "parameters": None,
        "distances": [1, 2, 8],
        "shortest": 2,
        "keys_and_values": [KEYS, VALUES],
        "fillers": 3,
        "steps": [1, 2],
        "tokens": 32,
        "test_rows": 10,
    }
    return Distance(**(settings | changes))  # type: ignore[arg-type]


def test_the_yaml_makes_the_claim():
    claim = make_claim(compose("claims", ["claim=distance"])["claim"])
    assert claim.size == 6 * 10


def test_the_key_that_counts_stands_at_the_distance_before_and_another_value_behind():
    symbols, gold, distance = small().draw_sequences(torch.Generator().manual_seed(0), 50, 8)
    symbols = symbols - FIRST_SYMBOL
    assert set(distance.unique().tolist()) == {0, 1, 2, 8}
    assert torch.equal(gold >= 0, distance > 0)
    for row, place in (gold >= 0).nonzero().tolist():
        key = int(symbols[row, place]) - KEYS * VALUES
        assert 0 <= key < KEYS
        facts = [i for i, s in enumerate(symbols[row].tolist()) if s // VALUES == key and s < 12]
        before, behind = facts  # no others with this key
        assert before == place - int(distance[row, place])
        assert behind > place
        assert symbols[row, before] % VALUES == gold[row, place]
        assert symbols[row, behind] % VALUES != gold[row, place]


def test_a_bag_leaves_two_values_alike():
    """What counts stands before; without order it is either of two, as often each."""
    symbols, gold, _ = small().draw_sequences(torch.Generator().manual_seed(0), 400, 8)
    symbols = symbols - FIRST_SYMBOL
    smaller = []
    for row, place in (gold >= 0).nonzero().tolist():
        key = int(symbols[row, place]) - KEYS * VALUES
        values = [s % VALUES for s in symbols[row].tolist() if s // VALUES == key and s < 12]
        smaller.append(int(gold[row, place]) == min(values))
    assert sum(smaller) / len(smaller) == pytest.approx(0.5, abs=0.05)


def test_a_batch_has_sequences_of_one_length_and_as_many_as_its_elements_allow():
    claim = small()
    generator = torch.Generator().manual_seed(0)
    shapes = {tuple(claim.draw(generator).inputs["word"].shape) for _ in range(20)}
    assert shapes == {(32 // (2 + SLACK), 2 + SLACK), (32 // (8 + SLACK), 8 + SLACK)}


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 6
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)
    assert all(0 <= row["accuracy"] <= 1 for row in rows)


def hand_made(attention_far: float, window_far: float) -> list[dict[str, object]]:
    far = {"window": window_far, "attention": attention_far}
    return [
        {
            "seed": seed,
            "encoder": name,
            "distance": distance,
            "accuracy": far[name] if distance == 8 else 0.98,
            "parameters": 10,
        }
        for seed in (1, 2)
        for name in ENCODERS
        for distance in (1, 2, 8)
    ]


@pytest.mark.parametrize(
    ("attention", "window", "held"), [(0.97, 0.3, True), (0.7, 0.3, False), (0.97, 0.95, False)]
)
def test_the_verdict_follows_from_the_rows(attention, window, held):
    assert small().verdict(hand_made(attention, window)).held is held


def test_fewer_keys_than_distances_are_refused():
    with pytest.raises(ValueError, match=r"claim\.distances is \[1, 2, 8\] with 2 keys"):
        small(keys_and_values=[2, 3])
