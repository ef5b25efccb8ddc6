import torch

from seqtag.nn.padding import zero_padding


def test_zeroes_padding_whatever_it_holds_and_in_the_gradient_too() -> None:
    states = torch.tensor([[[1.0], [torch.nan], [torch.inf]]], requires_grad=True)
    zeroed = zero_padding(states, torch.tensor([[True, False, False]]))
    assert zeroed.tolist() == [[[1.0], [0.0], [0.0]]]
    zeroed.square().sum().backward()
    assert states.grad is not None
    assert states.grad.tolist() == [[[2.0], [0.0], [0.0]]]


def test_keeps_the_type_of_numbers() -> None:
    states = torch.ones(1, 1, 2, dtype=torch.bfloat16)
    assert zero_padding(states, torch.tensor([[False]])).dtype == torch.bfloat16
