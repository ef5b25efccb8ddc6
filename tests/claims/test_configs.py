"""Contracts over every claim: a new one is tested by existing."""

import pytest

from seqtag.claims.job import make_claim
from seqtag.configuration import compose, options

NAMES = [name for name in options("claim") if name != "all"]


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_is_built_from_its_yaml_and_says_what_it_claims(name: str) -> None:
    node = compose("claims", [f"claim={name}"])["claim"]
    claim = make_claim(node)
    assert claim.title.endswith(".")
    assert claim.size > 0
    assert len(claim.seeds) >= 3, "an interval over fewer seeds says little"
    assert set(claim.keys).isdisjoint(claim.measures)
    assert "seed" not in {*claim.keys, *claim.measures}
    full = make_claim({**node, "full": True, "seeds": [7]})
    assert full.seeds == (7,)
    assert full.full
    with pytest.raises(ValueError, match=r"claim\.seeds is \[1, 1\]"):
        make_claim({**node, "seeds": [1, 1]})


def test_the_claims_of_the_document_are_there() -> None:
    assert set(NAMES) >= {
        "context",
        "window",
        "distance",
        "gradient",
        "parallel",
        "scale",
        "order",
        "sharing",
        "data",
        "bottleneck",
        "receptive_field",
    }
