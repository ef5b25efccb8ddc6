import pytest
import torch

from seqtag.claims.data import COLOURS, PAIRS, Data
from seqtag.claims.job import make_claim
from seqtag.claims.training import FIRST_SYMBOL
from seqtag.configuration import compose

ENCODERS = {
    "CNN": {"overrides": "encoder=cnn encoder.num_layers=1", "lr": 0.01},
    "attention": {"overrides": "encoder=attention encoder.num_layers=1", "lr": 0.01},
}


def small(**changes: object) -> Data:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "encoders": ENCODERS,
        "common": "embedding.dim=8 encoder.dim=8",
        "parameters": None,
        "sizes": [[3, 6], [3, 6, 9]],
        "length": 16,
        "steps": [1, 2],
        "rows": 2,
        "test_rows": 5,
    }
    return Data(**(settings | changes))  # type: ignore[arg-type]


def test_the_yaml_makes_the_claim():
    node = compose("claims", ["claim=data"])["claim"]
    assert make_claim(node).size == 3 * 4
    assert make_claim(node | {"full": True}).sizes[-1] == 50_000


def test_the_label_is_the_order_of_the_pair_and_the_agreement_of_the_marks():
    symbols, gold = small().draw(torch.Generator().manual_seed(0), 200)
    for row, label in zip((symbols - FIRST_SYMBOL).tolist(), gold.tolist(), strict=True):
        paired = [place for place, symbol in enumerate(row) if symbol < 2 * PAIRS]
        marks = [s - 2 * PAIRS for s in row if 2 * PAIRS <= s < 2 * (PAIRS + COLOURS)]
        first, second = paired
        assert second == first + 1
        assert row[first] // 2 == row[second] // 2
        beginning, end = marks
        assert beginning < COLOURS <= end
        order, agreement = row[first] > row[second], beginning == end - COLOURS
        assert label == 2 * order + agreement


def test_the_four_labels_are_as_frequent():
    _, gold = small().draw(torch.Generator().manual_seed(0), 4000)
    assert gold.bincount(minlength=4).tolist() == pytest.approx([1000] * 4, abs=120)


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 4
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)


def hand_made(few: float, many: float) -> list[dict[str, object]]:
    attention = {3: few, 6: many}
    return [
        {
            "seed": seed,
            "encoder": name,
            "examples": size,
            "accuracy": (0.5 if name == "CNN" else attention[size]) + seed / 100,
            "local_part": 0.5,
            "distant_part": 0.5,
            "train_accuracy": 1.0,
            "parameters": 10,
        }
        for seed in (1, 2, 3)
        for size in (3, 6)
        for name in ENCODERS
    ]


@pytest.mark.parametrize(
    ("few", "many", "held"), [(0.4, 0.9, True), (0.6, 0.9, False), (0.4, 0.45, False)]
)
def test_the_verdict_follows_from_the_rows(few, many, held):
    assert small().verdict(hand_made(few, many)).held is held


def test_encoders_without_a_cnn_are_refused():
    with pytest.raises(ValueError, match=r"claim\.encoders has attention; .*CNN must be there"):
        small(encoders={"attention": ENCODERS["attention"]})
