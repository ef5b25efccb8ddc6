import pytest
import torch
from torch import Tensor

from seqtag.report.attention_maps import AttentionMap, attention_maps

ELEMENTS = ["a", "b", "c"]
SYMBOLS = ["X", "Y", "⟨end⟩"]


def weights(queries: int, keys: int, heads: int = 2) -> Tensor:
    return torch.full((1, heads, queries, keys), 1 / keys)


def one(name: str, *calls: Tensor, symbols: list[str] = SYMBOLS) -> AttentionMap:
    (found,) = attention_maps({name: list(calls)}, elements=ELEMENTS, symbols=symbols)
    return found


@pytest.mark.parametrize(
    ("module", "shape", "part", "queries", "keys"),
    [
        ("encoder.layers.0.attention", (3, 3), "encoder self-attention", ELEMENTS, ELEMENTS),
        (
            "head.decoder.layers.0.self_attention",
            (3, 3),
            "decoder self-attention",
            SYMBOLS,
            ["⟨start⟩", "X", "Y"],
        ),
        (
            "head.decoder.layers.0.cross_attention",
            (3, 4),
            "decoder cross-attention",
            SYMBOLS,
            [*ELEMENTS, "⟨end⟩"],
        ),
        ("head.decoder.attention", (3, 3), "decoder cross-attention", SYMBOLS, ELEMENTS),
        ("head.readout.pooling.attention", (1, 3), "pooling", ["⟨query⟩"], ELEMENTS),
        ("elsewhere", (2, 5), "elsewhere", ["1", "2"], ["1", "2", "3", "4", "5"]),
    ],
)
def test_axes_are_named_by_where_a_module_stands(module, shape, part, queries, keys) -> None:
    found = one(module, weights(*shape))
    assert (found.part, found.queries, found.keys) == (part, queries, keys)
    assert found.pools == (part == "pooling")


def test_layers_come_in_their_order_whether_they_share_a_module_or_not() -> None:
    apart = {f"encoder.layers.{n}.attention": [weights(3, 3) * n] for n in range(11)}
    (found,) = attention_maps(apart, elements=ELEMENTS, symbols=[])
    assert [layer.module for layer in found.layers] == list(apart)
    tied = one("encoder.layers.0.attention", weights(3, 3), weights(3, 3) * 2)
    assert [layer.weights[0, 0, 0] for layer in tied.layers] == pytest.approx([1 / 3, 2 / 3])


def test_a_module_that_was_not_called_has_no_map() -> None:
    assert attention_maps({"encoder.x": []}, elements=ELEMENTS, symbols=[]) == []


def test_half_precision_is_widened_and_no_other() -> None:
    kinds = [torch.bfloat16, torch.float32, torch.float64]
    found = [one("encoder.x", weights(3, 3).to(kind)).layers[0].weights.dtype for kind in kinds]
    assert [str(kind) for kind in found] == ["float32", "float32", "float64"]
