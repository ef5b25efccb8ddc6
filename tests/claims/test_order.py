import pytest
import torch

from seqtag.claims.job import make_claim
from seqtag.claims.order import NONE, Order, bag_ceiling, left_of
from seqtag.configuration import compose, options


def order(*overrides: str) -> Order:
    node = compose("claims", ["claim=order", *overrides])["claim"]
    claim = make_claim({**node, "device": "cpu"})
    assert isinstance(claim, Order)
    return claim


def rows_of(claim: Order, accuracy: dict[str, float]) -> list[dict]:
    """Rows of two seeds that hardly differ, at every length; kinds not named are never wrong."""
    return [
        {
            "seed": seed,
            "position": kind,
            "length": length,
            "accuracy": (
                None
                if kind == "learned" and length > 16
                else accuracy.get(kind, 0.99) + seed / 10_000
            ),
            "ceiling": 0.27,
            "parameters": 1000,
        }
        for seed in (1, 2)
        for kind in claim.kinds
        for length in claim.lengths
    ]


def test_the_label_is_the_symbol_to_the_left_and_the_first_has_none():
    batch = left_of(torch.tensor([[3, 0, 5, 5]]))
    assert batch.inputs["word"].tolist() == [[5, 2, 7, 7]]
    assert batch.target.present.tolist() == [[False, True, True, True]]
    assert batch.target.value[0, 1:].tolist() == [3, 0, 5]


def test_the_ceiling_is_the_share_of_the_most_frequent_among_the_others():
    # Others of the second (1): 0 0 2, of which 0 is two of three; of the third (0): 0 1 2, one of
    # three each; of the fourth (2): 0 1 0, two of three.
    ceiling = bag_ceiling(torch.tensor([[0, 1, 0, 2]]), 3)
    assert ceiling == pytest.approx((2 / 3 + 1 / 3 + 2 / 3) / 3)


def test_one_who_knows_the_bag_only_reaches_the_ceiling_and_no_more():
    symbols = torch.randint(4, (20_000, 6), generator=torch.Generator().manual_seed(0))
    own = torch.nn.functional.one_hot(symbols, 4)
    guess = (own.sum(dim=1, keepdim=True) - own).argmax(dim=-1)
    right = (guess[:, 1:] == symbols[:, :-1]).double().mean()
    assert float(right) == pytest.approx(bag_ceiling(symbols, 4), abs=0.01)


def test_every_option_of_the_group_is_measured():
    claim = order("claim.times=[1,2]")
    assert claim.kinds == options("encoder/position")
    assert claim.size == 2 * len(claim.kinds)


def test_a_run_measures_each_kind_at_every_length_and_learned_refuses_longer_rows():
    claim = order(
        "claim.steps=[1,1]", "claim.rows=2", "claim.length=4", "claim.times=[1,2]", "claim.labels=9"
    )
    claim.kinds = ["direction_aware", "learned", NONE]
    rows = list(claim.measure(1))
    assert [(row["position"], row["length"]) for row in rows] == [
        (kind, length) for kind in claim.kinds for length in (4, 8)
    ]
    assert len(rows) == claim.size
    refused = {(r["position"], r["length"]) for r in rows if r["accuracy"] is None}
    assert refused == {("learned", 8)}


def test_the_claim_holds_where_only_positions_lift_above_the_ceiling():
    claim = order()
    verdict = claim.verdict(rows_of(claim, {NONE: 0.265, "alibi": 0.55}))
    assert verdict.held
    assert "alibi with 0.550" in verdict.line
    assert "Not clearly above it: alibi." in verdict.paragraph
    assert "learned refused them" in verdict.paragraph


@pytest.mark.parametrize(
    "accuracy",
    [
        {NONE: 0.4},  # above what can be
        {NONE: 0.13},  # not learnt at all
        {NONE: 0.265, "alibi": 0.27},  # a kind that sees no order
    ],
)
def test_the_claim_does_not_hold_otherwise(accuracy):
    claim = order()
    assert not claim.verdict(rows_of(claim, accuracy)).held


def test_the_first_test_is_at_the_training_length():
    with pytest.raises(ValueError, match=r"claim.times is \[2, 4\]"):
        order("claim.times=[2,4]")
