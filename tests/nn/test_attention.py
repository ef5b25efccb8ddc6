"""Attention against a loop that can be read."""

import math

import pytest
import torch
from torch import Tensor

from seqtag.nn.attention import Attention, record_weights

from .attentions import build, inputs


def looped(attention: Attention, query: Tensor, key: Tensor, value: Tensor, permitted, added):
    """Output and weights, one query of one head at a time.

    ``permitted(row, head, i, j)`` and ``added(row, head, i, j)`` are the mask and what it adds.
    """
    batch, queries, keys = len(query), query.shape[1], key.shape[1]
    heads, share = attention.num_heads, attention.num_heads // attention.num_kv_heads
    q, k, v = attention.query(query), attention.key(key), attention.value(value)
    d, value_d = q.shape[-1] // heads, v.shape[-1] // attention.num_kv_heads
    weights = torch.zeros(batch, heads, queries, keys, dtype=torch.float64)
    output = torch.zeros(batch, queries, 8, dtype=torch.float64)
    for b in range(batch):
        for i in range(queries):
            context = []
            for h in range(heads):
                g = h // share  # the key and value head that head h shares
                at = slice(g * d, g * d + d)
                exponentials = [
                    math.exp(
                        float(q[b, i, h * d : h * d + d] @ k[b, j, at]) * attention.scorer.scale
                        + added(b, h, i, j)
                    )
                    if permitted(b, h, i, j)
                    else 0.0
                    for j in range(keys)
                ]
                for j in range(keys):
                    weights[b, h, i, j] = exponentials[j] / sum(exponentials)
                context.append(weights[b, h, i] @ v[b, :, g * value_d : g * value_d + value_d])
            output[b, i] = attention.output(torch.cat(context))
    return output, weights


@pytest.mark.parametrize("added", [0.0, 0.7])
@pytest.mark.parametrize("num_kv_heads", [8, 2, 1], ids=["multi-head", "grouped", "multi-query"])
@torch.no_grad()
def test_equals_a_loop_under_an_additive_mask(num_kv_heads: int, added: float) -> None:
    attention = build(num_kv_heads=num_kv_heads)
    query, key, value = inputs()
    mask = torch.triu(torch.full((2, 4), -torch.inf, dtype=torch.float64), diagonal=1)
    mask[1, 0] = added

    with record_weights(attention) as recorded:
        attention(query, key, value, mask=mask)
    output = attention(query, key, value, mask=mask)

    expected, weights = looped(
        attention,
        query,
        key,
        value,
        permitted=lambda b, h, i, j: j <= i,
        added=lambda b, h, i, j: added if (i, j) == (1, 0) else 0.0,
    )
    assert output.shape == (10, 2, 8)
    assert recorded[""][0].shape == (10, 8, 2, 4)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(recorded[""][0], weights)
    # Query i sees keys 0..i: of the first, all weight lies on one key.
    assert (recorded[""][0] > 0).sum(dim=-1).flatten(0, 1).tolist() == [[1, 2]] * 80


@pytest.mark.parametrize(("queries", "keys"), [(3, 5), (5, 3), (1, 4), (4, 1)])
@torch.no_grad()
def test_equals_a_loop_under_every_mask_at_once(queries: int, keys: int) -> None:
    attention = build(num_heads=4, num_kv_heads=2, key_dim=5, value_dim=3, scaled=False)
    query, key, value = inputs(2, queries, keys, key_dim=5, value_dim=3)
    valid = torch.arange(keys) < torch.tensor([[keys], [2]])
    mask = torch.ones(4, 1, keys, dtype=torch.bool)
    mask[0, 0, 1:2] = False  # head 0 never sees key 1
    output = attention(query, key, value, valid=valid, mask=mask, causal=True)
    expected, _ = looped(
        attention,
        query,
        key,
        value,
        permitted=lambda b, h, i, j: bool(valid[b, j]) and j <= i and not (h == 0 and j == 1),
        added=lambda b, h, i, j: 0.0,
    )
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize(
    ("fewer", "more"),
    [(2, 8), (1, 8), (1, 2)],
    ids=["grouped is multi-head", "multi-query is multi-head", "multi-query is grouped"],
)
@torch.no_grad()
def test_shared_heads_equal_heads_with_repeated_weights(fewer: int, more: int) -> None:
    grouped, full = build(num_kv_heads=fewer), build(num_kv_heads=more)
    times = more // fewer
    full.query.load_state_dict(grouped.query.state_dict())
    full.output.load_state_dict(grouped.output.state_dict())
    for name in ("key", "value"):
        few, many = getattr(grouped, name), getattr(full, name)
        # [fewer * 16, dim] -> [fewer, times, 16, dim] -> [more * 16, dim]
        weight, bias = (x.unflatten(0, (fewer, 1, 16)) for x in (few.weight, few.bias))
        many.weight.copy_(weight.expand(-1, times, -1, -1).flatten(0, 2))
        many.bias.copy_(bias.expand(-1, times, -1).flatten())
    torch.testing.assert_close(grouped(*inputs()), full(*inputs()))


@torch.no_grad()
def test_causal_goes_by_position() -> None:
    attention = build()
    query, key, value = inputs(1, 4, 4)
    whole = attention(query, key, value, causal=True)
    third = attention(
        query[:, 2:3],
        key,
        value,
        causal=True,
        query_positions=torch.tensor([[2]]),
        key_positions=torch.arange(4).unsqueeze(0),
    )
    torch.testing.assert_close(third, whole[:, 2:3])


@torch.no_grad()
def test_dropout_acts_in_training_only() -> None:
    attention = build(dropout=0.5)
    tensors = inputs()
    assert not attention(*tensors).equal(attention(*tensors))
    attention.eval()
    assert attention(*tensors).equal(attention(*tensors))


@pytest.mark.parametrize("num_kv_heads", [3, 16, 0])
def test_heads_that_cannot_be_shared_are_refused(num_kv_heads: int) -> None:
    with pytest.raises(ValueError, match=rf"num_heads \(8\).*num_kv_heads \({num_kv_heads}\)"):
        build(num_kv_heads=num_kv_heads)
