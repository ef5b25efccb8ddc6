import pytest
import torch

from seqtag.batch import Layout
from seqtag.claims.gradient import (
    ATTENTION,
    LINEAR,
    LSTM,
    TANH,
    Gradient,
    Recurrence,
    name_of,
    rate,
)

GAINS = [0.9, 1.1]


def small(**changes: object) -> Gradient:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "gains": GAINS,
        "encoders": {
            LSTM: "encoder=lstm encoder.bidirectional=false",
            ATTENTION: "encoder=attention",
        },
        "dim": 8,
        "longest": [4, 8],
        "rows": 2,
    }
    return Gradient(**(settings | changes))  # type: ignore[arg-type]


def made_rows(*, rates: dict[str, float], attention: list[float]) -> list[dict[str, object]]:
    """Geometric rows of the recurrent models; ``attention`` by distance 1, 64, 512."""
    distances = [1, 64, 512]
    relative = {name: [rate ** (n - 1) for n in distances] for name, rate in rates.items()}
    relative[ATTENTION] = attention
    return [
        {"model": name, "distance": n, "gradient": value, "relative": value, "seed": 1}
        for name, values in relative.items()
        for n, value in zip(distances, values, strict=True)
    ]


def rates(**changes: float) -> dict[str, float]:
    found = {name_of(LINEAR, gain): gain for gain in GAINS}
    found |= {name_of(TANH, gain): 0.6 * gain for gain in GAINS}
    return found | {LSTM: 0.8} | changes


def test_distances_are_the_powers_of_two_up_to_the_longest():
    assert small().distances == [1, 2, 4]
    assert small(full=True).distances == [1, 2, 4, 8]


def test_a_recurrence_adds_each_input_to_what_it_makes_of_its_state():
    model = Recurrence(torch.tensor([[2.0]]), lambda x: x)
    x = torch.tensor([[[1.0], [3.0], [5.0]]])
    states = model(x, Layout.of(torch.tensor([3])))
    assert states.flatten().tolist() == [1, 5, 15]


def test_the_gradient_is_that_of_the_last_output_by_distance():
    """Of h_t = 2 h_(t-1) + x_t it is 2^d times that at distance 0."""
    claim = small(dim=1)
    model = Recurrence(torch.tensor([[2.0]], dtype=torch.float64), lambda x: x)
    norms = claim.norms(model, torch.Generator().manual_seed(0))
    assert (norms / norms[0]).tolist() == pytest.approx([1, 2, 4, 8, 16])


def test_the_rate_of_a_geometric_gradient_is_its_factor():
    rows = made_rows(rates=rates(), attention=[1, 1, 1])
    assert rate(rows, LSTM) == pytest.approx(0.8)
    assert rate(rows, name_of(LINEAR, 1.1)) == pytest.approx(1.1)


def test_a_run_gives_as_many_rows_as_it_says_and_linear_rates_are_gains():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 6 * 3
    assert all(set(row) == {*claim.keys, *claim.measures} for row in rows)
    for gain in GAINS:
        assert rate(rows, name_of(LINEAR, gain)) == pytest.approx(gain)
        assert rate(rows, name_of(TANH, gain)) < gain


@pytest.mark.parametrize(
    ("changes", "attention", "held"),
    [
        ({}, [1, 0.5, 0.9], True),
        ({}, [1, 0.5, 0.2], False),  # attention fades by a factor of 5
        ({LSTM: 1.0}, [1, 1, 1], False),
        ({name_of(LINEAR, 1.1): 1.0}, [1, 1, 1], False),
    ],
)
def test_the_verdict_follows_from_the_rows(
    changes: dict[str, float], attention: list[float], held: bool
) -> None:
    verdict = small().verdict(made_rows(rates=rates(**changes), attention=attention))
    assert verdict.held is held
    assert f"by a factor of {max(attention) / min(attention):.1f}" in verdict.line
