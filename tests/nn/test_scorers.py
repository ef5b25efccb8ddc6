import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from seqtag.nn.scorers import AdditiveScorer, CosineScorer, DotProductScorer, Scorer

from .attentions import SCORERS, shipped_scorer

QUERY = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
KEYS = torch.tensor([[[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]]]])


def dot(scorer: Scorer, q: list[float], k: list[float], head: int) -> float:
    return sum(a * b for a, b in zip(q, k, strict=True))


def scaled_dot(scorer: Scorer, q: list[float], k: list[float], head: int) -> float:
    return dot(scorer, q, k, head) / math.sqrt(len(q))


def cosine(scorer: CosineScorer, q: list[float], k: list[float], head: int) -> float:
    lengths = math.hypot(*q) * math.hypot(*k)
    return math.exp(scorer.log_scale[head]) * dot(scorer, q, k, head) / lengths


def additive(scorer: AdditiveScorer, q: list[float], k: list[float], head: int) -> float:
    total = 0.0
    for e in range(len(q)):
        inside = sum(
            q[d] * float(scorer.query[head, d, e]) + k[d] * float(scorer.key[head, d, e])
            for d in range(len(q))
        )
        total += float(scorer.weight[head, e]) * math.tanh(inside)
    return total


FORMULAS = {"dot": dot, "scaled_dot": scaled_dot, "cosine": cosine, "additive": additive}


def test_every_scorer_has_a_formula_here() -> None:
    """Of a new scorer: write what it does in plain numbers above, and name that in ``FORMULAS``."""
    missing, gone = set(SCORERS) - set(FORMULAS), set(FORMULAS) - set(SCORERS)
    assert not missing, f"write a formula of {missing} in {__file__}, and add it to FORMULAS"
    assert not gone, f"FORMULAS in {__file__} has {gone}, of which there is no yaml"


def tensors(queries: int = 3, keys: int = 5, batch: int = 2) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(batch, 4, queries, 4).double(), torch.randn(batch, 4, keys, 4).double()


@pytest.mark.parametrize("option", FORMULAS)
@torch.no_grad()
def test_equals_a_loop(option: str) -> None:
    scorer = shipped_scorer(option).double()
    query, key = tensors()
    scores = scorer(query, key)
    assert scores.shape == (2, 4, 3, 5)
    for b in range(2):
        for h in range(4):
            for i in range(3):
                for j in range(5):
                    expected = FORMULAS[option](
                        scorer, query[b, h, i].tolist(), key[b, h, j].tolist(), h
                    )
                    assert float(scores[b, h, i, j]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("option", SCORERS)
@torch.no_grad()
def test_as_dot_product_gives_the_same_scores(option: str) -> None:
    scorer = shipped_scorer(option).double()
    query, key = tensors()
    product = scorer.as_dot_product(query, key)
    if product is not None:
        q, k, scale = product
        torch.testing.assert_close(scale * q @ k.transpose(-2, -1), scorer(query, key))


@pytest.mark.parametrize("option", SCORERS)
@torch.no_grad()
def test_no_query_or_no_key_gives_no_scores(option: str) -> None:
    for queries, keys, batch in ((0, 5, 2), (3, 0, 2), (0, 0, 2), (3, 5, 0)):
        scores = shipped_scorer(option).double()(*tensors(queries, keys, batch))
        assert scores.shape == (batch, 4, queries, keys)


@pytest.mark.parametrize("option", ["scaled_dot", "cosine"])
def test_scores_start_at_unit_variance_at_any_width(option: str) -> None:
    torch.manual_seed(0)
    for head_dim in (4, 256):
        sizes = {"head_dim": head_dim, "num_heads": 2}
        scorer = (
            CosineScorer(**sizes) if option == "cosine" else DotProductScorer(**sizes, scaled=True)
        )
        scores = scorer(torch.randn(4, 2, 50, head_dim), torch.randn(4, 2, 50, head_dim))
        torch.testing.assert_close(scores.var(), torch.tensor(1.0), atol=0.1, rtol=0)


def test_plain_dot_product_by_hand() -> None:
    scorer = DotProductScorer(head_dim=4, num_heads=1, scaled=False)
    assert scorer(QUERY, KEYS).tolist() == [[[[10.0, 8.0]]]]


def test_scaled_dot_product_divides_by_the_root_of_the_width() -> None:
    scorer = DotProductScorer(head_dim=4, num_heads=1, scaled=True)
    assert scorer(QUERY, KEYS).tolist() == [[[[5.0, 4.0]]]]


def test_cosine_by_hand_knows_no_length_and_no_temperature_but_a_positive_one() -> None:
    scorer = CosineScorer(head_dim=4, num_heads=1)
    root = math.sqrt(30)
    expected = torch.tensor([[[[2 * 10 / (root * 2), 2 * 8 / (root * 2)]]]])  # sqrt(4) at first
    torch.testing.assert_close(scorer(QUERY, KEYS), expected)
    torch.testing.assert_close(scorer(7 * QUERY, 0.1 * KEYS), expected)
    torch.nn.init.constant_(scorer.log_scale, -9.0)
    assert (scorer(QUERY, KEYS) > 0).all()


def test_cosine_of_a_zero_vector_is_zero_with_a_bounded_gradient() -> None:
    scorer = CosineScorer(head_dim=4, num_heads=1)
    key = torch.zeros_like(KEYS).requires_grad_()
    scores = scorer(QUERY, key)
    scores.sum().backward()
    assert scores.tolist() == [[[[0.0, 0.0]]]]
    assert key.grad is not None
    assert key.grad.abs().max() < 2e3


def test_additive_by_hand() -> None:
    scorer = AdditiveScorer(head_dim=1, num_heads=2, most_elements=100)
    with torch.no_grad():
        scorer.query.copy_(torch.tensor([[[2.0]], [[0.0]]]))
        scorer.key.copy_(torch.tensor([[[-1.0]], [[1.0]]]))
        scorer.weight.copy_(torch.tensor([[3.0], [1.0]]))
    query, key = torch.full((1, 2, 1, 1), 0.5), torch.full((1, 2, 1, 1), 0.2)
    expected = torch.tensor([3 * math.tanh(0.8), math.tanh(0.2)])
    torch.testing.assert_close(scorer(query, key).flatten(), expected)


def additive_scorer(most_elements: int) -> AdditiveScorer:
    torch.manual_seed(0)
    return AdditiveScorer(head_dim=4, num_heads=4, most_elements=most_elements).double()


class Largest(TorchDispatchMode):
    """Remembers the most numbers that a tensor had, of those that operations made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, (tuple, list)) else (made,):
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return made


# 2 rows * 4 heads * 6 queries * 5 keys * 4 numbers = 960 at once; all queries of one head take 120,
# and a query of all heads of all rows 160.
@pytest.mark.parametrize("most", [960, 959, 320, 160, 159, 60, 20])
def test_additive_in_chunks_is_the_same_and_takes_no_more_than_it_may(most: int) -> None:
    results = []
    for limit in (10**6, most):
        scorer, kept = additive_scorer(limit), {}
        query, key = (x.requires_grad_() for x in tensors(6, 5))

        def keep(x: Tensor, kept: dict[int, int] = kept) -> Tensor:
            storage = x.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes() // 8
            return x

        with Largest() as largest:
            with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
                scores = scorer(query, key)
            scores.square().sum().backward()
        gradients = [x.grad for x in (query, key, *scorer.parameters())]
        results.append([scores.detach(), *gradients])
    for whole, chunked in zip(*results, strict=True):
        torch.testing.assert_close(chunked, whole)
    # The scores themselves are 240 numbers, the queries 192.
    assert largest.numbers <= max(most, 240)
    if most < 960:
        # Queries and keys, both projected, two maps, and a vector of weights for each row and head.
        assert sorted(kept.values()) == [32, 128, 128, 160, 160, 192, 192]


def test_additive_keeps_one_chunk_where_one_query_is_more_than_allowed() -> None:
    query, key = tensors(6, 5)
    with Largest() as largest, torch.no_grad():
        scores = additive_scorer(1)(query, key)
    torch.testing.assert_close(scores, additive_scorer(960)(query, key))
    assert largest.numbers == 240


def test_additive_needs_room_for_a_number() -> None:
    with pytest.raises(ValueError, match="most_elements is 0; it must be at least 1"):
        AdditiveScorer(head_dim=4, num_heads=2, most_elements=0)
