from contextlib import nullcontext

import pytest
import torch

from nn.attentions import DIM, shipped_position
from seqtag.nn.positions.reach import reach


def test_reaches_the_largest_position_wherever_it_stands() -> None:
    assert reach(torch.tensor([[0, 1, 2], [0, 7, 1]])) == 8
    assert reach(torch.tensor([[4]])) == 5
    assert reach(torch.zeros(2, 0, dtype=torch.long)) == 0
    assert reach(torch.zeros(0, 3, dtype=torch.long)) == 3


# Tensors of the device "meta" hold no numbers: whoever looks at one fails. On a GPU he would wait.
def test_away_from_the_host_only_a_single_position_is_looked_at() -> None:
    whole = torch.empty(2, 5, dtype=torch.long, device="meta")
    assert reach(whole) == 5
    with pytest.raises((RuntimeError, NotImplementedError)):
        reach(whole[:, :1])


@pytest.mark.parametrize("option", ["learned", "recurrent"])
def test_a_whole_sequence_is_embedded_without_a_look_at_its_positions(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # knows no "meta"
    position = shipped_position(option).to("meta")
    x = torch.empty(2, 5, DIM, device="meta")
    whole = torch.empty(2, 5, dtype=torch.long, device="meta")
    assert position.embed(x, whole).shape == (2, 5, DIM)
