"""The fused and the eager path of attention against each other, and the record of weights."""

from functools import partial

import pytest
import torch

from seqtag.nn.attention import record_weights
from seqtag.nn.positions.position import Position

from .attentions import VALID, OneMore, Slope, build, inputs

NEXT_TO = (torch.arange(4).unsqueeze(1) - torch.arange(4)).abs() <= 1
MASKS = {
    "nothing": {},
    "valid": {"valid": VALID},
    "bool": {"mask": NEXT_TO},
    "additive": {"mask": torch.where(NEXT_TO, 0.3, -torch.inf).double()},
    "causal": {"causal": True},
    "causal, valid": {"causal": True, "valid": VALID},
    "positions": {
        "causal": True,
        "query_positions": torch.tensor([[3, 0, 2, 1]]),
        "key_positions": torch.tensor([[1, 3, 0, 2]]),
    },
    "all": {"causal": True, "valid": VALID, "mask": torch.where(NEXT_TO, 0.3, -torch.inf)},
}


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("num_kv_heads", [4, 2])
@pytest.mark.parametrize("position", [Position, Slope])
def test_fused_and_eager_paths_agree(masks, num_kv_heads: int, position) -> None:
    attention = build(num_heads=4, num_kv_heads=num_kv_heads, position=position)
    results = []
    for recording in (False, True):
        tensors = [x.requires_grad_() for x in inputs(4, 4, 4)]
        attention.zero_grad()
        if recording:
            with record_weights(attention):
                output = attention(*tensors, **masks)
        else:
            output = attention(*tensors, **masks)
        output.square().sum().backward()
        gradients = [x.grad for x in [*tensors, *attention.parameters()]]
        results.append([output.detach(), *(g.clone() for g in gradients)])
    for fused, eager in zip(*results, strict=True):
        torch.testing.assert_close(fused, eager)


def test_kernels_get_a_mask_only_where_something_masks(monkeypatch) -> None:
    calls = []
    kernel = torch.nn.functional.scaled_dot_product_attention

    def watched(*args, **options):
        calls.append((options["attn_mask"] is None, options["is_causal"]))
        return kernel(*args, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    attention = build()
    for masks in ({}, {"causal": True}, {"valid": VALID}, {"causal": True, "valid": VALID}):
        attention(*inputs(4, 4, 4), **masks)
    assert calls == [(True, False), (True, True), (False, False), (False, False)]

    with record_weights(attention):
        attention(*inputs(4, 4, 4))
    build(position=OneMore)(*inputs(4, 4, 4))
    assert len(calls) == 4


@torch.no_grad()
def test_value_offset_is_added_to_every_value() -> None:
    plain, offset = build(), build(position=OneMore)
    gained = offset(*inputs()) - plain(*inputs())
    torch.testing.assert_close(gained, plain.output.weight.sum(dim=1).expand(10, 2, 8))


def test_half_precision_follows_single() -> None:
    for make in (partial(build, position=Slope), build):
        attention = make().float()
        tensors = [x.float() for x in inputs(4, 4, 4)]
        expected = attention(*tensors, valid=VALID)
        attention.bfloat16()
        halves = [x.bfloat16() for x in tensors]
        fused = attention(*halves, valid=VALID)
        with record_weights(attention):
            eager = attention(*halves, valid=VALID)
        for output in (fused, eager):
            assert output.dtype == torch.bfloat16
            torch.testing.assert_close(output.float(), expected, atol=0.05, rtol=0.05)


@torch.no_grad()
def test_recorded_weights_give_what_the_fused_path_gives() -> None:
    attention = build(num_kv_heads=2)
    query, key, value = inputs(4, 3, 4)
    with record_weights(attention) as recorded:
        attention(query, key, value, valid=VALID)
    (weights,) = recorded[""]
    # [batch, key, 2 * 16] -> [batch, 8, key, 16]
    values = attention.value(value).unflatten(-1, (2, 16)).transpose(1, 2)
    values = values.repeat_interleave(4, dim=1)
    implied = attention.output((weights @ values).transpose(1, 2).flatten(2))
    fused = attention(query, key, value, valid=VALID)
    torch.testing.assert_close(implied[[0, 1, 3]], fused[[0, 1, 3]])
    assert weights[2].count_nonzero() == 0, "row 2 has no key"


@torch.no_grad()
def test_recording_names_modules_keeps_every_call_and_ends() -> None:
    model = torch.nn.ModuleDict(
        {"first": build(), "other": build(), "linear": torch.nn.Linear(1, 1)}
    )
    with record_weights(model) as weights:
        model["first"](*inputs())
        model["first"](*inputs())
    model["first"](*inputs())
    assert {name: len(calls) for name, calls in weights.items()} == {"first": 2, "other": 0}
    sums = weights["first"][0].sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_recording_ends_with_an_error_too() -> None:
    attention = build()

    def fails() -> None:
        with record_weights(attention):
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert attention.record is None
