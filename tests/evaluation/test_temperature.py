import pytest
import torch

from seqtag.evaluation.temperature import HIGHEST, LOWEST, best_temperature


def drawn(scale: float, rows: int = 4000, labels: int = 5):
    """Logits that are so many times too large, and labels drawn by the true ones."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(rows, labels, generator=generator, dtype=torch.float64)
    gold = torch.multinomial(logits.softmax(dim=1), 1, generator=generator).squeeze(1)
    return scale * logits, gold


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_a_known_scale_is_found(scale):
    assert best_temperature(*drawn(scale)) == pytest.approx(scale, rel=0.06)


def test_no_temperature_nearby_is_better():
    logits, gold = drawn(3.0, rows=50)
    best = best_temperature(logits, gold)

    def loss(temperature):
        return float(torch.nn.functional.cross_entropy(logits / temperature, gold))

    assert loss(best) < min(loss(best * 1.01), loss(best / 1.01), loss(1.0))


def test_what_is_all_right_or_all_wrong_ends_at_a_bound():
    logits = torch.tensor([[4.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    assert best_temperature(logits, torch.tensor([0, 1])) == pytest.approx(LOWEST)
    assert best_temperature(logits, torch.tensor([1, 0])) == pytest.approx(HIGHEST)


def test_one_where_nothing_is_said():
    empty = torch.zeros(0, 3, dtype=torch.float64)
    assert best_temperature(empty, torch.zeros(0, dtype=torch.int64)) == 1
    same = torch.zeros(2, 2, dtype=torch.float64)
    assert best_temperature(same, torch.tensor([0, 1])) == 1
