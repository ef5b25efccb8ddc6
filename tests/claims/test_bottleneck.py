import pytest
import torch

from seqtag.batch import END, Prediction
from seqtag.claims.bottleneck import Bottleneck, answers
from seqtag.claims.job import make_claim
from seqtag.claims.training import make_batch
from seqtag.configuration import compose


def bottleneck(*overrides: str) -> Bottleneck:
    node = compose("claims", ["claim=bottleneck", *overrides])["claim"]
    claim = make_claim({**node, "device": "cpu"})
    assert isinstance(claim, Bottleneck)
    return claim


def rows_of(claim: Bottleneck, found: dict[str, tuple[float, float]]) -> list[dict]:
    """Rows of two seeds that hardly differ: the share at the shortest input, and at all others."""
    return [
        {
            "seed": seed,
            "decoder": name,
            "length": length,
            "symbols_found": shares[length > claim.lengths[0]] + seed / 10_000,
            "exact_match": 0.5,
            "parameters": 1000,
        }
        for seed in (1, 2)
        for name, shares in found.items()
        for length in claim.lengths
    ]


class Knows(torch.nn.Module):
    """Gives the outputs that it was told."""

    def __init__(self, outputs: list[list[int]]) -> None:
        super().__init__()
        self.outputs = torch.tensor(outputs)

    def predict(self, batch):
        complete = torch.ones(len(self.outputs), dtype=torch.bool)
        return Prediction(self.outputs, torch.ones(len(self.outputs)), complete)


@pytest.mark.parametrize(("reverse", "wanted"), [("false", [0, 1, 2]), ("true", [2, 1, 0])])
def test_the_target_is_the_input_with_an_end_behind_it(reverse, wanted):
    claim = bottleneck(f"claim.reverse={reverse}")
    batch = claim.draw_rows(torch.Generator().manual_seed(0), rows=5, length=3)
    symbols = batch.inputs["word"] - 2
    assert torch.equal(batch.target.value[:, :3] - 1, symbols[:, wanted])
    assert batch.target.value[:, 3].tolist() == [END] * 5
    assert batch.target.present.all()


def test_training_has_all_lengths_up_to_the_longest():
    claim = bottleneck("claim.lengths=[2,3]")
    generator = torch.Generator().manual_seed(0)
    lengths = {claim.draw(generator).inputs["word"].shape[1] for _ in range(50)}
    assert lengths == {1, 2, 3}


def test_symbols_count_in_their_places_and_outputs_as_a_whole():
    test = make_batch(torch.full((3, 2), 2), torch.tensor([[1, 2, END]] * 3))
    # Right; one symbol short; one symbol wrong and no end where it should be.
    model = Knows([[1, 2, END, END], [1, END, END, END], [3, 2, 4, END]])
    assert answers(model, test, "cpu") == (pytest.approx(4 / 6), pytest.approx(1 / 3))


def test_a_run_gives_a_row_per_model_and_length_and_models_are_alike_in_size():
    claim = bottleneck("claim.steps=[1,1]", "claim.rows=2", "claim.tests=2", "claim.lengths=[1,2]")
    rows = list(claim.measure(1))
    assert [(row["decoder"], row["length"]) for row in rows] == [
        (name, length) for name in claim.models for length in (1, 2)
    ]
    assert len(rows) == claim.size
    sizes = {row["parameters"] for row in rows}
    assert max(sizes) <= 1.1 * min(sizes)


@pytest.mark.parametrize(
    ("without", "with_attention", "held"),
    [
        ((0.99, 0.3), (0.99, 0.97), True),
        ((0.99, 0.95), (0.99, 0.99), False),  # no bottleneck
        ((0.99, 0.3), (0.99, 0.6), False),  # attention loses much as well
        ((0.99, 0.3), (0.3, 0.3), False),  # attention has learnt nothing, so loses nothing
    ],
)
def test_the_verdict_follows_the_rows(without, with_attention, held):
    claim = bottleneck()
    found = dict.fromkeys(claim.attention, with_attention) | {claim.without: without}
    verdict = claim.verdict(rows_of(claim, found))
    assert verdict.held == held
    assert f"{claim.without} {without[0]:.3f}" in verdict.line


def test_every_model_needs_a_learning_rate():
    with pytest.raises(ValueError, match="no rate for LSTM"):
        bottleneck("~claim.lr.LSTM")
