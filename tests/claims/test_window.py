import pytest
import torch

from seqtag.claims.job import make_claim
from seqtag.claims.training import FIRST_SYMBOL
from seqtag.claims.window import ATTENTION, WHOLE, Window
from seqtag.configuration import compose


def small(**changes: object) -> Window:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "radii": [0, 2],
        "window": "encoder=window encoder.radius={radius}",
        "whole": "encoder=window_full encoder.limit={length}",
        "attention": "encoder=attention encoder.dim=8 encoder.num_layers=1",
        "lr": {"window": 0.01, "whole": 0.01, "attention": 0.01},
        "dim": 4,
        "parameters": None,
        "common": "embedding.dim=8",
        "examples": 4,
        "length": 8,
        "kinds": 2,
        "words": 2,
        "fillers": 3,
        "share": 0.25,
        "steps": [1, 2],
        "rows": 2,
    }
    return Window(**(settings | changes))  # type: ignore[arg-type]


def test_the_yaml_makes_the_claim():
    claim = make_claim(compose("claims", ["claim=window"])["claim"])
    assert claim.size == 6 + 2


def test_the_label_is_the_kind_of_the_last_opener():
    symbols, gold, distance = small().draw(torch.Generator().manual_seed(0), 20)
    assert (gold >= 0).any()
    for row in range(20):
        last = None
        for place in range(8):
            symbol = int(symbols[row, place]) - FIRST_SYMBOL
            if symbol < 4:  # two kinds of two words
                last = place, symbol // 2
                assert gold[row, place] == -1
            elif last is None:
                assert gold[row, place] == -1
            else:
                assert (int(gold[row, place]), int(distance[row, place])) == (
                    last[1],
                    place - last[0],
                )


def test_what_is_reachable_is_seen_or_guessed():
    distance = torch.tensor([[0, 1, 2, 3, 4]])  # the first is not asked for
    claim = small()
    assert claim.reachable(distance, "0") == 1 / 2
    assert claim.reachable(distance, "2") == 2 / 4 + 2 / 4 / 2
    assert claim.reachable(distance, WHOLE) == claim.reachable(distance, ATTENTION) == 1


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 4
    assert [row["radius"] for row in rows] == ["0", "2", WHOLE, ATTENTION]
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)
    # A radius more on each side is two more matrices of the first layer.
    assert rows[1]["parameters"] - rows[0]["parameters"] == 4 * 4 * 4


def hand_made(whole: float, attention: float, spread: float) -> list[dict[str, object]]:
    test = {"0": 0.5, "2": 0.8, WHOLE: whole, ATTENTION: attention}
    return [
        {
            "seed": seed,
            "radius": radius,
            "train_accuracy": 1.0,
            "test_accuracy": right + (spread * seed if radius == ATTENTION else 0),
            "gap": 1 - right,
            "reachable": 1.0,
            "parameters": 1000 if radius == WHOLE else 10,
        }
        for seed in (1, 2)
        for radius, right in test.items()
    ]


@pytest.mark.parametrize(
    ("whole", "attention", "spread", "held"),
    [
        (0.6, 0.9, 0, True),
        (0.85, 0.9, 0, False),
        (0.6, 0.55, 0, False),
        (0.6, 0.5, 0.1, False),  # ahead on average, but not surely
    ],
)
def test_the_verdict_follows_from_the_rows(whole, attention, spread, held):
    assert small().verdict(hand_made(whole, attention, spread)).held is held


@pytest.mark.parametrize("radii", [[], [2, 0], [0, 8]])
def test_radii_out_of_order_or_beyond_the_sequence_are_refused(radii):
    with pytest.raises(ValueError, match=r"claim\.radii is .*claim\.length, 8"):
        small(radii=radii)
