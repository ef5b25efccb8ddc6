import pytest
import torch

from seqtag.batch import END, WORD
from seqtag.claims.sharing import Sharing
from seqtag.claims.training import FIRST_SYMBOL


def small(**changes: object) -> Sharing:
    settings: dict[str, object] = {
        "seeds": [1],
        "full": False,
        "device": "cpu",
        "num_heads": 4,
        "num_kv_heads": [4, 1],
        "dim": 8,
        "symbols": 3,
        "longest": [6, 6],
        "steps": [1, 2],
        "rows": 2,
        "lr": 0.003,
        "decoder_dim": 16,
        "decoded": [2, 5],
        "repetitions": 1,
    }
    return Sharing(**(settings | changes))  # type: ignore[arg-type]


def made_rows(**changes: float) -> list[dict[str, object]]:
    """Multi-head with 4 heads, and multi-query with ``changes``."""
    many = {
        "parameters": 1000,
        "cache_bytes_per_token": 400.0,
        "steps_per_second": 50.0,
        "accuracy": 0.9,
    }
    one = {
        "parameters": 800,
        "cache_bytes_per_token": 100.0,
        "steps_per_second": 75.0,
        "accuracy": 0.88,
    } | changes
    return [
        {"num_kv_heads": heads, **found, "threads": 1, "device": "cpu", "seed": seed}
        for seed in (1, 2)
        for heads, found in ((4, many), (1, one))
    ]


def test_the_target_is_the_input_from_its_end():
    batch = small().draw(torch.Generator().manual_seed(0), rows=30)
    assert set(batch.layout.lengths.tolist()) == {4, 5, 6}
    for row, length in enumerate(batch.layout.lengths.tolist()):
        symbols = (batch.inputs[WORD][row, :length] - FIRST_SYMBOL).tolist()
        present = batch.target.present[row]
        assert present.tolist() == [True] * (length + 1) + [False] * (6 - length)
        assert batch.target.value[row, present].tolist() == [
            *(1 + symbol for symbol in reversed(symbols)),
            END,
        ]


def test_a_batch_is_as_wide_as_its_longest_row():
    generator = torch.Generator().manual_seed(0)
    batches = [small().draw(generator, rows=1) for _ in range(10)]
    widths = {batch.inputs[WORD].shape[1] for batch in batches}
    assert widths == {4, 5, 6}
    assert all(b.layout.valid.shape == b.inputs[WORD].shape for b in batches)


def test_a_run_gives_as_many_rows_as_it_says_and_counts_the_cache():
    claim = small()
    rows = list(claim.measure(1))
    assert len(rows) == claim.size == 2
    assert all(set(row) >= {*claim.keys, *claim.measures} for row in rows)
    # 2 layers, keys and values, head_dim 4, 4 bytes a number
    assert [row["cache_bytes_per_token"] for row in rows] == [2 * 2 * 4 * 4 * 4, 2 * 2 * 4 * 4]
    # self and cross-attention of 2 layers, keys and values: 3 heads less of width 4, with biases
    assert rows[0]["parameters"] - rows[1]["parameters"] == 2 * 2 * 2 * 3 * 4 * (16 + 1)


@pytest.mark.parametrize(
    ("changes", "held", "fails"),
    [
        ({}, True, ""),
        ({"steps_per_second": 50.0}, False, "It fails in the speed."),
        ({"accuracy": 0.7}, False, "It fails in the quality."),
        ({"cache_bytes_per_token": 200.0}, False, "It fails in the cache."),
        ({"parameters": 1000}, False, "It fails in the parameters."),
    ],
)
def test_the_verdict_follows_from_the_rows(
    changes: dict[str, float], held: bool, fails: str
) -> None:
    verdict = small().verdict(made_rows(**changes))
    assert verdict.held is held
    assert fails in verdict.paragraph
    assert ("It fails" in verdict.paragraph) is not held


def test_multi_head_and_multi_query_must_be_compared():
    with pytest.raises(ValueError, match=r"claim\.num_kv_heads is \[4, 2\]; claim\.num_heads"):
        small(num_kv_heads=[4, 2])
