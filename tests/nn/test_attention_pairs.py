"""Every scorer with every position: what attention promises whatever it is made of."""

import pytest
import torch
from torch import Tensor

from seqtag.nn.attention import Attention, record_weights

from .attentions import DIM, PAIRS, VALID, shipped_position, shipped_scorer, small_pair

every_pair = pytest.mark.parametrize(("scorer", "position"), PAIRS)
FUSED = [
    (scorer, position)
    for scorer, position in PAIRS
    if shipped_scorer(scorer).as_dot_product(torch.ones(1, 4, 1, 4), torch.ones(1, 4, 1, 4))
    and not shipped_position(position).layer(0).offsets_values
]
every_fused_pair = pytest.mark.parametrize(("scorer", "position"), FUSED)


def elements() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(4, 4, DIM)


def results(attention: Attention, x: Tensor, **masks: Tensor) -> list[Tensor]:
    """The output, and the gradients of elements and parameters."""
    x = x.detach().requires_grad_()
    attention.zero_grad()
    embedded = attention.position.embed(x, torch.arange(4).unsqueeze(0))
    output = attention(embedded, embedded, embedded, **masks)
    output.square().sum().backward()
    gradients = [x.grad, *(parameter.grad for parameter in attention.parameters())]
    assert all(gradient is not None for gradient in gradients)
    return [output.detach(), *(gradient.clone() for gradient in gradients)]


def test_there_are_fused_and_other_pairs() -> None:
    assert 0 < len(FUSED) < len(PAIRS)


# In double precision both do the same; in single the gradients, sums of numbers that cancel, differ
# more than the output.
@every_fused_pair
@pytest.mark.parametrize(
    ("dtype", "of_output", "of_gradients"),
    [(torch.float64, 1e-10, 1e-10), (torch.float32, 1e-6, 1e-4)],
    ids=["double", "single"],
)
def test_fused_and_eager_agree_with_their_gradients(
    scorer: str, position: str, dtype: torch.dtype, of_output: float, of_gradients: float
) -> None:
    attention, x = small_pair(scorer, position).to(dtype), elements().to(dtype)
    fused = results(attention, x, valid=VALID)
    with record_weights(attention) as recorded:
        eager = results(attention, x, valid=VALID)
    assert len(recorded[""]) == 1
    # Of outputs of order 1; where they are larger, of the largest.
    size = max(1.0, float(eager[0].abs().max()))
    torch.testing.assert_close(fused[0], eager[0], atol=of_output * size, rtol=0)
    for one, other in zip(fused[1:], eager[1:], strict=True):
        torch.testing.assert_close(one, other, atol=of_gradients, rtol=1e-5)


@every_fused_pair
def test_fused_and_eager_agree_in_half_precision(scorer: str, position: str) -> None:
    attention, x = small_pair(scorer, position), elements()
    expected = results(attention, x, valid=VALID)
    attention.bfloat16()
    fused = results(attention, x.bfloat16(), valid=VALID)
    with record_weights(attention):
        eager = results(attention, x.bfloat16(), valid=VALID)
    for halves in (fused, eager):
        assert all(half.dtype == torch.bfloat16 for half in halves)
        # Eight bits: each number is off by up to 1/256 of those that it was summed from. All
        # gradients as one, since that of the keys' bias is a sum of numbers that cancel.
        for part in (slice(0, 1), slice(1, None)):
            half = torch.cat([x.float().flatten() for x in halves[part]])
            single = torch.cat([x.flatten() for x in expected[part]])
            assert (half - single).norm() < 0.04 * single.norm()


@every_pair
def test_a_row_with_nothing_to_attend_to_gives_zeros_and_finite_gradients(
    scorer: str, position: str
) -> None:
    attention = small_pair(scorer, position)
    output, *gradients = results(attention, elements(), valid=VALID)
    assert output[2].count_nonzero() == 0
    assert output[[0, 1, 3]].count_nonzero() == 3 * 4 * DIM
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[0][2].count_nonzero() == 0

    # Likewise for a query alone: the first, to which a mask leaves nothing.
    mask = torch.ones(4, 4, dtype=torch.bool).tril(diagonal=-1)
    output, *gradients = results(attention, elements(), mask=mask)
    assert output[:, 0].count_nonzero() == 0
    assert output[:, 1:].count_nonzero() == 4 * 3 * DIM
    assert all(gradient.isfinite().all() for gradient in gradients)


@every_pair
@pytest.mark.parametrize("poison", [float("nan"), 1e30])
@torch.no_grad()
def test_padded_keys_and_values_are_never_looked_at(
    scorer: str, position: str, poison: float
) -> None:
    attention, x = small_pair(scorer, position), elements()
    poisoned = torch.where(VALID.unsqueeze(-1), x, poison)
    clean = attention(x, x, x, valid=VALID)
    assert attention(x, poisoned, poisoned, valid=VALID).equal(clean)
    alone = attention(x[1:2], x[1:2, :2], x[1:2, :2])
    torch.testing.assert_close(alone, clean[1:2])


@every_pair
@torch.no_grad()
def test_one_key_is_all_there_is_and_no_key_is_nothing(scorer: str, position: str) -> None:
    attention, x = small_pair(scorer, position), elements()
    one = x[:, :1]
    assert attention(one, one, one).shape == (4, 1, DIM)
    with record_weights(attention) as recorded:
        attention(x, one, one)
    torch.testing.assert_close(recorded[""][0], torch.ones(4, 4, 4, 1))
    none = x[:, :0]
    assert attention(x, none, none).equal(torch.zeros(4, 4, DIM))
    assert attention(none, none, none).shape == (4, 0, DIM)


@every_pair
@torch.no_grad()
def test_one_query_at_a_time_gives_what_all_give(scorer: str, position: str) -> None:
    attention, x = small_pair(scorer, position), elements()
    whole = attention(x, x, x, causal=True)
    for place in range(4):
        memory = attention.remember(x[:, : place + 1], x[:, : place + 1])
        at = torch.full((1, 1), place)
        single = attention.attend(x[:, place : place + 1], memory, query_positions=at)
        torch.testing.assert_close(single, whole[:, place : place + 1])
