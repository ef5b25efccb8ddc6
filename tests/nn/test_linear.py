import pytest
import torch

from seqtag.nn.linear import unit_linear


@pytest.mark.parametrize(("width", "dim"), [(4, 2_000), (300, 200)])
def test_unit_variance_stays_unit_variance(width: int, dim: int) -> None:
    torch.manual_seed(0)
    mapped = unit_linear(width, dim)(torch.randn(2_000, width))
    torch.testing.assert_close(mapped.std(), torch.tensor(1.0), atol=0.05, rtol=0)
    torch.testing.assert_close(mapped.mean(), torch.tensor(0.0), atol=0.05, rtol=0)
