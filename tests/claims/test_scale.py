import math

import pytest
import torch

from seqtag.batch import WORD
from seqtag.claims.scale import NAMES, PAIRS, SCALED, UNSCALED, VALUES, Scale, entropy
from seqtag.claims.training import FIRST_SYMBOL
from seqtag.nn.scorers import DotProductScorer


def small(**changes: object) -> Scale:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "scorers": {SCALED: "scaled_dot", UNSCALED: "dot"},
        "head_dims": [4, 1024],
        "keys": 16,
        "queries": 64,
        "trained": [[4], [4, 1024]],
        "dim": 8,
        "steps": [1, 2],
        "rows": 2,
        "lrs": [0.001, 0.01],
    }
    return Scale(**(settings | changes))  # type: ignore[arg-type]


def made_rows(**changes: float) -> list[dict[str, object]]:
    """The same numbers at every width, unless they are those of unscaled scores at 1024."""
    usual = {"entropy": 0.9, "gradient": 0.2, "median_gradient": 0.2, "accuracy": 0.8}
    found = {"entropy": 0.03, "gradient": 0.05, "median_gradient": 0.001, "accuracy": 0.4} | changes
    return [
        {
            "scorer": name,
            "head_dim": head_dim,
            **(found if name == UNSCALED and head_dim == 1024 else usual),
            "first_entropy": 0.5,
            "lr": 0.01,
            "seed": 1,
        }
        for head_dim in (4, 1024)
        for name in (SCALED, UNSCALED)
    ]


def test_the_entropy_is_a_share_of_that_of_equal_weights():
    assert entropy(torch.full((3, 8), 1 / 8)) == pytest.approx(1)
    assert entropy(torch.eye(8)) == 0
    assert entropy(torch.tensor([[0.5, 0.5, 0, 0]])) == pytest.approx(0.5)


def test_the_gradient_is_that_of_the_softmax():
    """Of one query, two keys with scores 0: weights 1/2 each, gradient (a - b) / 4 and its like."""
    scorer = DotProductScorer(head_dim=1, num_heads=1, scaled=False)
    claim = small(keys=2, queries=1)
    found = claim.saturation(lambda q, k: 0 * scorer(q, k), 1, torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(0)
    torch.randn(1, 1, 1, 1, generator=generator)
    torch.randn(1, 1, 2, 1, generator=generator)
    a, b = torch.randn(1, 2, generator=generator)[0].tolist()
    assert found["gradient"] == pytest.approx(abs(a - b) / 4 * math.sqrt(2))
    assert found["entropy"] == pytest.approx(1)


def test_each_name_that_is_asked_for_was_shown_with_its_value():
    batch = small().draw(torch.Generator().manual_seed(0), rows=20)
    symbols = batch.inputs[WORD] - FIRST_SYMBOL
    assert symbols.shape == (20, 2 * PAIRS)
    assert symbols.max() < NAMES * (VALUES + 1)
    assert not batch.target.present[:, :PAIRS].any()
    for row, gold in zip(symbols.tolist(), batch.target.value.tolist(), strict=True):
        shown = {symbol // VALUES: symbol % VALUES for symbol in row[:PAIRS]}
        assert len(shown) == PAIRS
        assert [shown[symbol - NAMES * VALUES] for symbol in row[PAIRS:]] == gold[PAIRS:]


def test_a_run_gives_as_many_rows_as_it_says():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 4
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)
    found = {(row["scorer"], row["head_dim"]): row for row in rows}
    assert found[UNSCALED, 1024]["entropy"] < 0.2 < found[SCALED, 1024]["entropy"]
    assert found[SCALED, 4]["lr"] in (0.001, 0.01)
    assert found[SCALED, 1024]["accuracy"] is None


@pytest.mark.parametrize(
    ("changes", "held"),
    [
        ({}, True),
        ({"accuracy": 0.79}, False),
        ({"entropy": 0.6}, False),
        ({"gradient": 0.2}, False),
    ],
)
def test_the_verdict_follows_from_the_rows(changes: dict[str, float], held: bool) -> None:
    verdict = small().verdict(made_rows(**changes))
    assert verdict.held is held
    assert f"{changes.get('accuracy', 0.4):.3f} unscaled, 0.800 scaled" in verdict.line


def test_other_scorers_than_the_two_are_refused():
    with pytest.raises(ValueError, match=r"claim\.scorers is of cosine; it must be of scaled and"):
        small(scorers={"cosine": "cosine"})
