import torch

from seqtag.nn.scorers import DotProductScorer

QUERY = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
KEYS = torch.tensor([[[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]]]])


def test_plain_dot_product_by_hand() -> None:
    scorer = DotProductScorer(head_dim=4, num_heads=1, scaled=False)
    assert scorer(QUERY, KEYS).tolist() == [[[[10.0, 8.0]]]]


def test_scaled_dot_product_divides_by_the_root_of_the_width() -> None:
    scorer = DotProductScorer(head_dim=4, num_heads=1, scaled=True)
    assert scorer(QUERY, KEYS).tolist() == [[[[5.0, 4.0]]]]


def test_scaling_keeps_unit_variance_at_any_width() -> None:
    torch.manual_seed(0)
    for head_dim in (4, 256):
        scorer = DotProductScorer(head_dim=head_dim, num_heads=2, scaled=True)
        scores = scorer(torch.randn(4, 2, 50, head_dim), torch.randn(4, 2, 50, head_dim))
        torch.testing.assert_close(scores.var(), torch.tensor(1.0), atol=0.1, rtol=0)


def test_as_dot_product_gives_the_same_scores() -> None:
    for scaled in (False, True):
        scorer = DotProductScorer(head_dim=4, num_heads=1, scaled=scaled)
        query, key, scale = scorer.as_dot_product(QUERY, KEYS)
        assert (scale * query @ key.transpose(-2, -1)).equal(scorer(QUERY, KEYS))
